/// Statistics of a store at one moment.
public struct Statistics: Sendable, Hashable {
  /// What the store remembers of its options.
  public var settings = Options.Settings()
  /// The number of entries in all keyspaces, including expired ones that have not been removed yet.
  public var keys = 0
  /// Bytes of the newest records of all keys, including headers and padding.
  public var liveBytes = 0
  /// Bytes of records that were replaced or removed, and of tombstones.
  public var deadBytes = 0
  /// Bytes allocated for the store's files.
  public var bytesOnDisk = 0
  /// The segments, oldest first.
  public var segments: [Statistics.SegmentFigures] = []
  /// Figures by keyspace; the default keyspace has the empty name.
  public var keyspaces: [String: Statistics.KeyspaceFigures] = [:]
  /// The size of the index, in bytes: memory of its own, and pages of the checkpoint that it still maps, which the system may drop
  /// when memory is short.
  public var indexBytes = 0
  /// The size of all keys that are kept in order, in bytes: memory of their own, and pages of the checkpoint that they map.
  public var orderBytes: Int { keyspaces.values.reduce(0) { $0 + ($1.orderBytes ?? 0) } }
  /// The share of the index's main slots in use.
  public var indexLoad = 0.0
  /// The number of the last write.
  public var lastSequence = SequenceNumber(rawValue: 0)
  /// The number up to which every write survives a power failure.
  public var durableSequence = SequenceNumber(rawValue: 0)
  /// Records logged since the store was opened.
  public var recordsWritten = 0
  /// Bytes of records logged since the store was opened.
  public var bytesLogged = 0
  /// Bytes written to disk for all purposes since the store was opened: records, footers, checkpoints, manifests.
  public var bytesWritten = 0
  /// How long syncs took since the store was opened.
  public var syncs = Statistics.Histogram()
  /// How long puts took since the store was opened, including the wait for durability; one call in 128, chosen at random, is
  /// measured. Those on a condition count if they have stored a value. Batches, updates, counters and new expiries are not timed.
  public var puts = Statistics.Histogram()
  /// How long gets of one key took since the store was opened; one call in 128, chosen at random, is measured.
  public var gets = Statistics.Histogram()
  /// The number of merges since the store was opened.
  public var merges = 0
  /// What these merges did in total.
  public var merged = Report.Merge()
  /// Bytes of files that were merged away but are kept for snapshots, entries or values still in use. Not part of
  /// ``bytesOnDisk``.
  public var pinnedBytes = 0
  /// The number of open snapshots.
  public var openSnapshots = 0

  /// Bytes on disk for each byte of live records; 1 is ideal.
  public var spaceAmplification: Double { liveBytes == 0 ? 0 : Double(bytesOnDisk) / Double(liveBytes) }

  /// Bytes written to disk for each byte of records logged; 1 is ideal.
  public var writeAmplification: Double { bytesLogged == 0 ? 0 : Double(bytesWritten) / Double(bytesLogged) }
}

extension Statistics {
  /// Statistics of one keyspace. They are counted as they change.
  public struct KeyspaceFigures: Sendable, Hashable {
    /// The number of entries, including expired ones that have not been removed yet, which ``ByteStore/count()`` leaves out.
    public var keys = 0
    /// Bytes of their records, including headers and padding, as long as they are not packed.
    public var liveBytes = 0
    /// The size of its keys in order, in bytes; nil if they are not kept so.
    public var orderBytes: Int?
    /// The most bytes that it may take, see ``Keyspace/capacity``; nil for no limit.
    public var capacityBytes: Int?
    /// The most entries that it may have; nil for no limit.
    public var capacityEntries: Int?
    /// Entries that were evicted to stay within its capacity since the store was opened.
    public var evicted = 0
    /// Bytes of the records of those entries.
    public var evictedBytes = 0

    /// Figures of an empty keyspace.
    public init() {}
  }
}

extension Statistics {
  /// Statistics of one segment.
  public struct SegmentFigures: Sendable, Hashable {
    /// The segment's id.
    public var id: UInt64
    /// The file's path.
    public var path: String
    /// True if a merge wrote it.
    public var isMerged: Bool
    /// True once the segment takes no more records.
    public var isSealed: Bool
    /// Bytes of records, including dead ones.
    public var recordBytes: Int
    /// Bytes of records that are the newest of their keys.
    public var liveBytes: Int
    /// Bytes allocated for the file.
    public var fileBytes: Int
    /// The first and last sequence numbers; nil while the segment is empty.
    public var sequences: ClosedRange<UInt64>?
    /// True if the segment is packed.
    public var isPacked = false
    /// Bytes that the records would take unpacked; ``recordBytes`` unless the segment is packed.
    public var unpackedBytes = 0

    /// ``unpackedBytes`` per byte of records, including the dictionary; 1 unless the segment is packed.
    public var compressionRatio: Double {
      isPacked && recordBytes > 0 ? Double(unpackedBytes) / Double(recordBytes) : 1
    }
  }
}

extension Report {
  /// What a verification found.
  public struct Verification: Sendable, Hashable {
    /// A damaged range.
    public struct Damage: Sendable, Hashable {
      /// Where the range begins.
      public var location: StoreError.Location
      /// The length of the range in bytes, as far as known.
      public var length: Int
      /// What is wrong, and with which records, as far as known.
      public var reason: String
      /// How many records are damaged or missing there, or at most are; 0 if none is, or that is not known.
      public var records = 0
      /// How many of them the index leads to: what it should give for their keys cannot be read.
      public var current = 0
      /// Of how many it is not known whether they are current, since the opening had to make the index without them. All others
      /// were replaced or removed: nobody needs them any more.
      public var unknown = 0

      package init(location: StoreError.Location, length: Int, reason: String, records: Int = 0) {
        self.location = location
        self.length = length
        self.reason = reason
        self.records = records
      }
    }

    /// The number of files read.
    public var files = 0
    /// The number of bytes read.
    public var bytes = 0
    /// The number of records checked.
    public var records = 0
    /// All damaged ranges.
    public var damage: [Damage] = []

    /// True if nothing is damaged.
    public var isClean: Bool { damage.isEmpty }
  }
}
