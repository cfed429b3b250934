/// Figures about a store at one moment.
public struct Statistics: Sendable, Hashable {
  /// Entries of all keyspaces, expired ones that were not reaped yet included.
  public var keys = 0
  /// Bytes of the newest records of all keys, headers and padding included.
  public var liveBytes = 0
  /// Bytes of records that were replaced or removed, and of tombstones.
  public var deadBytes = 0
  /// Bytes allocated for the store's files.
  public var bytesOnDisk = 0
  /// One row a segment, oldest first.
  public var segments: [SegmentStatistics] = []
  /// Entries by keyspace; the default keyspace is the empty name.
  public var keyspaces: [String: Int] = [:]
  /// Memory of the index, in bytes.
  public var indexBytes = 0
  /// Share of the index's main slots in use.
  public var indexLoad = 0.0
  /// The last write's number.
  public var lastSequence = SequenceNumber(rawValue: 0)
  /// The number up to which every write survives a power cut.
  public var durableSequence = SequenceNumber(rawValue: 0)
  /// Records logged since the store was opened.
  public var recordsWritten = 0
  /// Bytes of records logged since the store was opened.
  public var bytesLogged = 0
  /// Bytes written to disk for all purposes since the store was opened: records, footers, checkpoints, manifests.
  public var bytesWritten = 0
  /// Syncs since the store was opened, and how long they took.
  public var syncs = LatencyHistogram()
  /// How long puts took, their wait for durability included: one call in 128, since the store was opened.
  public var puts = LatencyHistogram()
  /// How long gets that copied the value took: one call in 128, since the store was opened.
  public var gets = LatencyHistogram()
  /// Merges since the store was opened.
  public var merges = 0
  /// What they did together.
  public var merged = MergeReport()
  /// Bytes of files that were merged away and are kept for snapshots, entries or values that are still in use. Not part of
  /// ``bytesOnDisk``.
  public var pinnedBytes = 0
  /// Snapshots that exist.
  public var openSnapshots = 0

  /// Bytes on disk for each byte of live records; 1 is ideal.
  public var spaceAmplification: Double { liveBytes == 0 ? 0 : Double(bytesOnDisk) / Double(liveBytes) }

  /// Bytes written to disk for each byte of records logged; 1 is ideal.
  public var writeAmplification: Double { bytesLogged == 0 ? 0 : Double(bytesWritten) / Double(bytesLogged) }
}

/// One segment's figures.
public struct SegmentStatistics: Sendable, Hashable {
  /// The segment's id.
  public var id: UInt64
  /// The file's path.
  public var path: String
  /// True if a merge wrote it.
  public var isMerged: Bool
  /// True once the segment takes no more records.
  public var isSealed: Bool
  /// Bytes of records, dead ones included.
  public var recordBytes: Int
  /// Bytes of records that are the newest of their key.
  public var liveBytes: Int
  /// Bytes the file occupies.
  public var fileBytes: Int
  /// The first and last sequence number; nil while the segment is empty.
  public var sequences: ClosedRange<UInt64>?
  /// True when the segment is packed.
  public var isPacked = false
  /// Bytes that a packed segment's records would take unpacked; those of the records in another.
  public var unpackedBytes = 0

  /// Bytes that the records would take unpacked for each byte that they take, dictionary included; 1 unless the segment is
  /// packed.
  public var compressionRatio: Double {
    isPacked && recordBytes > 0 ? Double(unpackedBytes) / Double(recordBytes) : 1
  }
}

/// What a verification found.
public struct VerificationReport: Sendable, Hashable {
  /// One damaged range.
  public struct Damage: Sendable, Hashable {
    /// Where the range begins.
    public var location: DamageLocation
    /// How many bytes it spans, as far as known.
    public var length: Int
    /// What is wrong.
    public var reason: String
  }

  /// Files that were read.
  public var files = 0
  /// Bytes that were read.
  public var bytes = 0
  /// Records that were checked.
  public var records = 0
  /// Every damaged range.
  public var damage: [Damage] = []

  /// True when nothing is damaged.
  public var isClean: Bool { damage.isEmpty }
}
