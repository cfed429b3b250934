/// The first page of a checkpoint: describes an image of the index, and where in the log to resume from it.
public struct CheckpointHeader: Hashable, Sendable {
  /// The length in bytes of a page, and of the header.
  public static let pageSize = 4096

  /// The length in bytes of a bucket or an overflow line.
  public static let lineSize = 64

  /// The store that the checkpoint belongs to.
  public var storeID: StoreID
  /// The checkpoint's identifier.
  public var checkpointID: UInt64
  /// The last sequence number in the image: replay starts after it.
  public var sequence: UInt64
  /// The segment in which replay starts.
  public var replaySegmentID: UInt64
  /// The offset in that segment at which replay starts.
  public var replayOffset: UInt64
  /// The number of buckets in the index.
  public var bucketCount: UInt64
  /// The number of overflow lines, including the reserved line 0.
  public var overflowCount: UInt64
  /// The number of entries in the index.
  public var entryCount: UInt64
  /// The level of linear hashing.
  public var level: UInt32
  /// The next bucket to split.
  public var splitPointer: UInt64
  /// The length in bytes of the meta section.
  public var metaLength: UInt64
  /// The checksum of the meta section.
  public var metaChecksum: UInt32
  /// The checksum of the page table.
  public var pageTableChecksum: UInt32
  /// Store time of the checkpoint, in milliseconds.
  public var storeTime: Int64
  /// Whether the meta section says where the keys of keyspaces are in order.
  public var hasOrders: Bool
  /// Whether the meta section says how many bytes the entries of keyspaces take. One without is of an earlier version, and of no use.
  public private(set) var hasByteCounts = true
  /// The positions of the sections.
  public var layout: CheckpointLayout

  /// Creates a header whose sections follow each other as ``CheckpointLayout`` arranges them.
  ///
  /// - Parameter orderLength: The bytes of all keys in order, in whole pages.
  public init(
    storeID: StoreID,
    checkpointID: UInt64,
    sequence: UInt64,
    replaySegmentID: UInt64,
    replayOffset: UInt64,
    bucketCount: UInt64,
    overflowCount: UInt64,
    entryCount: UInt64,
    level: UInt32,
    splitPointer: UInt64,
    metaLength: UInt64,
    metaChecksum: UInt32,
    pageTableChecksum: UInt32,
    storeTime: Int64,
    orderLength: UInt64 = 0
  ) {
    self.storeID = storeID
    self.checkpointID = checkpointID
    self.sequence = sequence
    self.replaySegmentID = replaySegmentID
    self.replayOffset = replayOffset
    self.bucketCount = bucketCount
    self.overflowCount = overflowCount
    self.entryCount = entryCount
    self.level = level
    self.splitPointer = splitPointer
    self.metaLength = metaLength
    self.metaChecksum = metaChecksum
    self.pageTableChecksum = pageTableChecksum
    self.storeTime = storeTime
    hasOrders = orderLength > 0
    layout = CheckpointLayout(bucketCount: bucketCount, overflowCount: overflowCount, orderLength: orderLength)
  }

  /// The flag of checkpoints with keys in order.
  private static let orders: UInt32 = 1
  /// The flag of checkpoints that say how many bytes keyspaces take.
  private static let byteCounts: UInt32 = 2

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRCKP1"),
    length: pageSize,
    checksumOffset: 4092,
    featuresOffset: 12,
    knownFeatures: orders | byteCounts
  )

  /// The encoded page.
  public func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.pageSize)
    bytes.store(storeID.low, at: 16)
    bytes.store(storeID.high, at: 24)
    bytes.store(checkpointID, at: 32)
    bytes.store(sequence, at: 40)
    bytes.store(replaySegmentID, at: 48)
    bytes.store(replayOffset, at: 56)
    bytes.store(bucketCount, at: 64)
    bytes.store(overflowCount, at: 72)
    bytes.store(entryCount, at: 80)
    bytes.store(level, at: 88)
    bytes.store(splitPointer, at: 96)
    bytes.store(metaLength, at: 104)
    bytes.store(metaChecksum, at: 112)
    bytes.store(pageTableChecksum, at: 116)
    bytes.store(layout.mainOffset, at: 120)
    bytes.store(layout.overflowOffset, at: 128)
    bytes.store(layout.pageTableOffset, at: 136)
    bytes.store(layout.metaOffset, at: 144)
    bytes.store(storeTime, at: 152)
    bytes.store((hasOrders ? Self.orders : 0) | (hasByteCounts ? Self.byteCounts : 0), at: 12)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Decodes the first page of a checkpoint file.
  ///
  /// On success, every section is within the file, and the image's counts agree with each other.
  ///
  /// - Parameter fileLength: The length in bytes of the whole file.
  public init(decoding bytes: RawSpan, fileLength: UInt64) throws(FormatError) {
    try Self.envelope.check(bytes)
    try bytes.requireZeros(in: 92..<96)
    try bytes.requireZeros(in: 160..<4092)
    let buckets = bytes.u64(at: 64)
    let overflow = bytes.u64(at: 72)
    // A line takes 64 bytes of the file and has a 32-bit number: with this limit, none of the sums below can overflow.
    let lineLimit = min(fileLength / 64, 1 << 32)
    guard buckets <= lineLimit, overflow <= lineLimit else {
      throw .damaged(reason: "it has fewer lines than it declares", offset: 64)
    }
    let level = bytes.u32(at: 88)
    let split = bytes.u64(at: 96)
    guard level < 48, split <= 1 << UInt64(level), buckets == 1 << UInt64(level) + split, overflow >= 1 else {
      throw .damaged(reason: "its counts of lines contradict each other", offset: 64)
    }
    self.init(
      storeID: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24)),
      checkpointID: try bytes.u64(at: 32, notAbove: FormatLimit.count, "its identifier"),
      sequence: try bytes.u64(at: 40, notAbove: RecordLayout.sequenceLimit, "its sequence number"),
      replaySegmentID: bytes.u64(at: 48),
      replayOffset: try bytes.u64(at: 56, notAbove: FormatLimit.segmentBytes, "the offset at which replay starts"),
      bucketCount: buckets,
      overflowCount: overflow,
      entryCount: bytes.u64(at: 80),
      level: level,
      splitPointer: split,
      metaLength: try bytes.u64(at: 104, notAbove: 1 << 30, "the length of its meta section"),
      metaChecksum: bytes.u32(at: 112),
      pageTableChecksum: bytes.u32(at: 116),
      storeTime: bytes.i64(at: 152)
    )
    guard replayOffset % 8 == 0 else {
      throw .damaged(reason: "the offset at which replay starts is impossible: \(replayOffset)", offset: 56)
    }
    guard entryCount <= (buckets + overflow) * 7 else {
      throw .damaged(reason: "its counts of records contradict each other", offset: 80)
    }
    layout.mainOffset = bytes.u64(at: 120)
    layout.overflowOffset = bytes.u64(at: 128)
    layout.pageTableOffset = bytes.u64(at: 136)
    layout.metaOffset = bytes.u64(at: 144)
    hasOrders = bytes.u32(at: 12) & Self.orders != 0
    hasByteCounts = bytes.u32(at: 12) & Self.byteCounts != 0
    guard layout.isWithin(fileLength, metaLength: metaLength) else {
      throw .damaged(reason: "its sections do not fit the file", offset: 120)
    }
  }
}
