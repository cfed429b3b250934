/// How a remote storage answers: how fresh, for how long it waits, and what it does meanwhile.
public struct RemoteOptions: Sendable {
  /// How current a value must be that is served without asking.
  public enum Freshness: Hashable, Sendable {
    /// Changes of it are being reported. What is served was current a lease ago or later; see <doc:Guarantees>.
    case coherent
    /// It was current this long ago or later, and no write of this process may have replaced it. Served without a lease, also while
    /// nothing can be reached.
    case bounded(Duration)
  }

  /// What becomes of foreign values, which programs other than Esker have stored and which have no envelope.
  public enum ForeignValues: Hashable, Sendable {
    /// Reads of them throw; writes replace them.
    case refused
    /// They are decoded by the storage's transformer, from all their bytes, and are as coherent as others: what changes them is told,
    /// also in place. They expire when the server says so.
    ///
    /// They have no version. So none is kept in a log, a copy that is not trusted is read again and not checked, and a failover that
    /// loses one is not noticed. They cannot be changed on the condition that they are still there: `update`, and `entry` with the
    /// version that it is asked for, throw ``/Esker/StorageError/unsupported(operation:view:)``, as does a new expiry; a
    /// compare-and-set is refused. Reads, plain writes, removals and `setIfAbsent` do what they say. A queued write that finds one where
    /// it arrives is lost, as it always is. Bytes that begin as an envelope does, but are none that this version knows, are never
    /// decoded.
    case decoded
  }

  /// How current what is served must be.
  public var freshness = Freshness.coherent
  /// Fail-safe: what was current this long ago or later is served, marked as stale, when the remote store cannot be reached, fails, or
  /// takes longer than ``softTimeout``; nil: never. What a write of this process has replaced is not. Expired values are kept this long
  /// for it.
  public var serveStale: Duration?
  /// Whether replicas are asked for what the owner cannot be asked for, since its domain has no lease. For availability alone: as long as
  /// there is a lease no replica is asked, however slow the owner is.
  ///
  /// A replica is behind by a time that nothing bounds. So what it says is served only if the client can show how old it is at most:
  /// that the replica has come as far as the owner had when that had its last lease. Its age counts from there, and has to be within a
  /// bounded ``freshness`` or ``serveStale``, whichever allows more; without either nothing is served. It is marked as stale, its tier is
  /// ``RemoteEntry/Tier/replica``, and it is never kept. A replica that says that there is nothing, or has not come far enough, is no
  /// answer, and the read fails or is served otherwise as without this option.
  ///
  /// Nothing older than a write of this process is served: what was written between the last heartbeat and the failure cannot be read
  /// from replicas, nor for as long as the owner is away what is in its slot.
  public var asksReplicas = false
  /// After which a stale value is served, if there is one and ``serveStale`` allows it, or a replica asked; the read goes on and is kept.
  /// Nil: a stale value is served only when the read has failed, and a replica asked after half of ``hardTimeout``.
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
  /// What everything that is written by the storage has as tags, besides those of each write; see ``RemoteStorage/tagged(_:)-(String...)``.
  public var tags: [String] = []
  /// Whether everything that is written by the storage can be made invalid at once, by ``RemoteStorage/clear()``. It is a tag more.
  public var isClearable = false

  /// What reads make of values that other programs have stored.
  public var foreignValues = ForeignValues.refused

  /// Sets and removals are acknowledged once they are in a queue in the log, also while the remote store is away, and replayed from
  /// there; see <doc:QueuedWrites>. Nil: they are made at the owner before they return. The storages of one name share the queue of the
  /// first that has one.
  public var queue: RemoteQueueOptions?

  /// Of all processes that miss one key or are to renew its value, one produces it and the others wait for that: what
  /// `value(forKey:orProduce:)` of ``/Esker/AsyncStorage`` does among the tasks of a process; see <doc:SingleFlight>. Nil: each
  /// process produces its own.
  public var singleFlight: RemoteSingleFlight?

  /// Coherent, waiting at most 5 seconds.
  public init() {}
}
