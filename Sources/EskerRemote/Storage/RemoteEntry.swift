public import Esker

/// A value and what is known about it and about how current it is.
public struct RemoteEntry<Value> {
  /// Where it was found.
  public enum Tier: Hashable, Sendable {
    /// In memory.
    case memory
    /// In the log.
    case log
    /// At its owner.
    case remote
    /// At a replica, while the owner could not be asked; see ``RemoteOptions/asksReplicas``.
    case replica
    /// In the queue of writes: this process wrote it, and it is not at its owner yet.
    case queue
  }

  /// The value.
  public var value: Value
  /// Where it was found. A value in memory or in the log that was found unchanged by a check is from there.
  public var tier: Tier
  /// How long ago it was last known to be current; zero while changes of it are being reported.
  public var age: Duration
  /// Whether it may have been replaced: served by ``RemoteOptions/serveStale`` or a bounded freshness, from memory, the log or a replica.
  public var isStale: Bool
  /// When it expires.
  public var expiry: Expiry
  /// The write that stored it; nil for a foreign value.
  public var version: RemoteVersion?
  /// It is valid only while these have their versions.
  var tags: [RemoteTag] = []
}

extension RemoteEntry: Sendable where Value: Sendable {}

extension RemoteEntry {
  /// What storages of all kinds know. The version's number tells one version from another except with a probability of 2⁻⁶⁴.
  var entry: Entry<Value> {
    let origin: StorageRequest.Origin =
      switch tier {
      case .memory: .memory
      case .log, .queue: .log
      case .remote, .replica: .back
      }
    return Entry(value, origin: origin, expiry: expiry, version: version.map { SequenceNumber(rawValue: $0.digest) })
  }
}
