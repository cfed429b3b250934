/// What the bytes of a store's records are for.
public struct StoreUsage: Sendable, Hashable {
  /// Bytes of records by what becomes of them, and how many records there are.
  public struct Figures: Sendable, Hashable {
    /// Values that stay until they are replaced or removed.
    public var lasting = Amount()
    /// Values that will expire.
    public var expiring = Amount()
    /// Values that have expired and were not cleared away yet.
    public var expired = Amount()
    /// Tombstones and resets. A merge keeps those that still hide an older value.
    public var tombstones = Amount()
    /// Records that were replaced or removed.
    public var dead = Amount()

    /// Bytes that a merge gives up, at most.
    public var reclaimableBytes: Int { expired.bytes + tombstones.bytes + dead.bytes }
    /// Bytes of what can be read.
    public var liveBytes: Int { lasting.bytes + expiring.bytes }
    /// Keys that can be read.
    public var liveRecords: Int { lasting.records + expiring.records }

    mutating func add(_ size: Int, _ purpose: Purpose) {
      switch purpose {
      case .lasting: lasting.add(size)
      case .expiring: expiring.add(size)
      case .expired: expired.add(size)
      case .tombstone: tombstones.add(size)
      case .dead: dead.add(size)
      }
    }
  }

  /// Some records.
  public struct Amount: Sendable, Hashable {
    /// How many.
    public var records = 0
    /// Bytes that they take, headers and padding included.
    public var bytes = 0

    fileprivate mutating func add(_ size: Int) {
      records += 1
      bytes += size
    }
  }

  enum Purpose { case lasting, expiring, expired, tombstone, dead }

  /// By segment id.
  public var segments: [UInt64: Figures] = [:]
  /// By keyspace name; the default keyspace is the empty name.
  public var keyspaces: [String: Figures] = [:]
}
