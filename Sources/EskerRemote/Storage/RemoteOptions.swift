/// How a remote storage answers: how fresh, for how long it waits, and what it does meanwhile.
public struct RemoteOptions: Sendable {
  /// How current a value must be that is served without asking.
  public enum Freshness: Hashable, Sendable {
    /// Changes of it are being told. What is served was current a lease ago or later; see <doc:Guarantees>.
    case coherent
    /// It was current this long ago or later, and no write of this process may have replaced it. Served without a lease, also while
    /// nothing can be reached.
    case bounded(Duration)
  }

  /// How current what is served must be.
  public var freshness = Freshness.coherent
  /// Fail-safe: what was current this long ago or later is served, marked as stale, when the remote store cannot be reached, fails, or
  /// takes longer than ``softTimeout``; nil: never. What a write of this process has replaced is not. Expired values are kept this long
  /// for it.
  public var serveStale: Duration?
  /// After which a stale value is served, if there is one and ``serveStale`` allows it; the read goes on and is kept. Nil: only when the
  /// read has failed.
  public var softTimeout: Duration?
  /// After which a call fails.
  public var hardTimeout = Duration.seconds(5)
  /// By which part of its life, at random between 0 and this, a value's expiry is shortened when it is written, so that what was written
  /// together does not expire together.
  public var jitter = 0.0
  /// How long a value lives that is written without an expiry; nil: forever.
  public var defaultExpiry: Duration?
  /// For how long it is kept that a key is absent, as trusted as anything else; at most 5 seconds, zero for not at all.
  public var absence = Duration.seconds(5)
  /// What everything that is written by the storage has as tags, besides those of each write; see ``RemoteStorage/tagged(_:)``.
  public var tags: [String] = []
  /// Whether everything that is written by the storage can be made invalid at once, by ``RemoteStorage/clear()``. It is a tag more.
  public var isClearable = false

  /// Sets and removals are acknowledged once they are in a queue in the log, also while the remote store is away, and replayed from
  /// there; see <doc:QueuedWrites>. Nil: they are made at the owner before they return. The storages of one name share the queue of the
  /// first that has one.
  public var queue: RemoteQueueOptions?

  /// Of all processes that miss one key or are to renew its value, one produces it and the others wait for that: what
  /// `value(forKey:orProduce:)` of ``Esker/AsyncStorage`` does among the tasks of a process; see <doc:SingleFlight>. Nil: each
  /// process produces its own.
  public var singleFlight: RemoteSingleFlight?

  /// Coherent, waiting at most 5 seconds.
  public init() {}
}
