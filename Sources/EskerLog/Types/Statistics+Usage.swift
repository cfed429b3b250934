extension Statistics {
  /// How the bytes of a store's records are used.
  public struct Usage: Sendable, Hashable {
    /// Numbers and bytes of records, by how long they will be kept.
    public struct Figures: Sendable, Hashable {
      /// Values that stay until they are replaced or removed.
      public var lasting = Amount()
      /// Values that will expire.
      public var expiring = Amount()
      /// Values that have expired but have not been removed yet.
      public var expired = Amount()
      /// Tombstones and resets. A merge keeps those that still hide an older value.
      public var tombstones = Amount()
      /// Records that were replaced or removed.
      public var dead = Amount()

      /// The most bytes that a merge can reclaim.
      public var reclaimableBytes: Int { expired.bytes + tombstones.bytes + dead.bytes }
      /// Bytes of records that can be read.
      public var liveBytes: Int { lasting.bytes + expiring.bytes }
      /// The number of keys that can be read.
      public var liveRecords: Int { lasting.records + expiring.records }

      mutating func add(_ size: Int, _ category: Category) {
        switch category {
        case .lasting: lasting.add(size)
        case .expiring: expiring.add(size)
        case .expired: expired.add(size)
        case .tombstone: tombstones.add(size)
        case .dead: dead.add(size)
        }
      }
    }

    /// A number of records and their size.
    public struct Amount: Sendable, Hashable {
      /// The number of records.
      public var records = 0
      /// Bytes that the records take, including headers and padding.
      public var bytes = 0

      fileprivate mutating func add(_ size: Int) {
        records += 1
        bytes += size
      }
    }

    enum Category { case lasting, expiring, expired, tombstone, dead }

    /// By segment id.
    public var segments: [UInt64: Figures] = [:]
    /// By keyspace name; the default keyspace has the empty name.
    public var keyspaces: [String: Figures] = [:]
  }
}
