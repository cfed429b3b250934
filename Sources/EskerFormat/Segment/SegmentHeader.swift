/// How a segment came to be.
///
/// On disk: never renumber.
@frozen
public enum SegmentKind: UInt8, Sendable, CaseIterable {
  /// A gapless part of history.
  case log = 0
  /// The output of a merge.
  case merged = 1
  /// The output of a merge, compressed.
  case packed = 2
}

/// How records are laid out in a segment.
public struct SegmentLayout: Hashable, Sendable {
  /// Whether they are packed.
  public var isPacked: Bool
  /// Bytes of the dictionary between the segment's header and the first record.
  public var dictionaryLength: Int

  /// Uncompressed records, one after another, right after the header.
  public static let plain = SegmentLayout(isPacked: false, dictionaryLength: 0)

  /// The layout of a packed segment.
  public static func packed(dictionaryLength: Int) -> SegmentLayout {
    SegmentLayout(isPacked: true, dictionaryLength: dictionaryLength)
  }

  /// Where the first record starts.
  public var recordsStart: Int { SegmentHeader.length + dictionaryLength }

  /// The most records that a range in which none can be recognised can have held: at least one.
  public func mostRecords(in range: Range<Int>) -> Int {
    max(1, isPacked ? PackedLayout.mostRecords(in: range) : range.count / RecordLayout.headerLength)
  }
}

/// The first 128 bytes of a segment file.
///
/// In a segment of the log, they contain the ``ReuseWords``, which change: the checksum takes these for zeros.
public struct SegmentHeader: Hashable, Sendable {
  /// The length in bytes of a header; the first record follows, or the dictionary.
  public static let length = 128

  /// The store that the segment belongs to.
  public var storeID: StoreID
  /// The seed of the key hashes in it.
  public var seed: HashSeed
  /// The segment's identifier.
  public var segmentID: UInt64
  /// Included in the header checksum of each record.
  public var salt: UInt32
  /// How the segment came to be.
  public var kind: SegmentKind
  /// Store time of creation, in milliseconds.
  public var creationTime: Int64
  /// The intended size of the segment, in bytes.
  public var plannedCapacity: UInt64
  /// The length in bytes of the dictionary after the header: a multiple of sixteen, up to 64 KiB; 0 unless the segment is
  /// packed.
  public var dictionaryLength: UInt32 = 0
  /// The checksum of the dictionary.
  public var dictionaryChecksum: UInt32 = 0
  /// The total length in bytes that a packed segment's records would have unpacked.
  public var plainBytes: UInt64 = 0
  /// Whether the cells of a packed segment have their values in groups.
  public var hasGroups = false

  /// A header with the given fields.
  public init(
    storeID: StoreID,
    seed: HashSeed,
    segmentID: UInt64,
    salt: UInt32,
    kind: SegmentKind,
    creationTime: Int64,
    plannedCapacity: UInt64
  ) {
    self.storeID = storeID
    self.seed = seed
    self.segmentID = segmentID
    self.salt = salt
    self.kind = kind
    self.creationTime = creationTime
    self.plannedCapacity = plannedCapacity
  }

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRSEG1"),
    length: length,
    checksumOffset: 124,
    featuresOffset: 12,
    knownFeatures: groups
  )

  /// The feature flag for cells with groups.
  private static let groups: UInt32 = 1

  /// The header's bytes.
  public func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.store(hasGroups ? Self.groups : 0, at: 12)
    bytes.store(storeID.low, at: 16)
    bytes.store(storeID.high, at: 24)
    bytes.store(seed.low, at: 32)
    bytes.store(seed.high, at: 40)
    bytes.store(segmentID, at: 48)
    bytes.store(salt, at: 56)
    bytes.store(UInt32(kind.rawValue), at: 60)
    bytes.store(creationTime, at: 64)
    bytes.store(plannedCapacity, at: 72)
    bytes.store(dictionaryLength, at: 80)
    bytes.store(dictionaryChecksum, at: 84)
    bytes.store(plainBytes, at: 88)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Decodes the header at the start of a segment file; bytes after it are ignored.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    let isLog = bytes.byteCount >= Self.length && bytes.u32(at: 60) == UInt32(SegmentKind.log.rawValue)
    guard isLog else {
      try self.init(checking: bytes)
      return
    }
    let words = ReuseWords.offset..<ReuseWords.offset + ReuseWords.length
    let constant = ContiguousArray((0..<Self.length).map { words.contains($0) ? 0 : bytes.u8(at: $0) })
    // Safety: the array is kept during the call, and a span knows its length.
    try unsafe self.init(checking: constant.span.bytes)
  }

  private init(checking bytes: RawSpan) throws(FormatError) {
    try Self.envelope.check(bytes)
    guard let kind = SegmentKind(exactly: bytes.u32(at: 60)) else {
      throw .damaged(reason: "the segment's kind is unknown", offset: 60)
    }
    hasGroups = bytes.u32(at: 12) & Self.groups != 0
    guard kind == .packed || !hasGroups else {
      throw .damaged(reason: "only packed segments have groups", offset: 12)
    }
    try bytes.requireZeros(in: (kind == .packed ? 96 : 80)..<124)
    storeID = StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24))
    seed = HashSeed(low: bytes.u64(at: 32), high: bytes.u64(at: 40))
    segmentID = bytes.u64(at: 48)
    salt = bytes.u32(at: 56)
    self.kind = kind
    creationTime = bytes.i64(at: 64)
    plannedCapacity = try bytes.u64(at: 72, notAbove: FormatLimit.segmentBytes, "its planned capacity")
    dictionaryLength = bytes.u32(at: 80)
    dictionaryChecksum = bytes.u32(at: 84)
    plainBytes = try bytes.u64(at: 88, notAbove: FormatLimit.segmentBytes, "the unpacked length of its records")
    guard dictionaryLength <= PackedLayout.maximumDictionaryLength, dictionaryLength % 16 == 0 else {
      throw .damaged(reason: "the length of its dictionary is impossible", offset: 80)
    }
  }

  /// How records are laid out in the segment.
  public var layout: SegmentLayout {
    SegmentLayout(isPacked: kind == .packed, dictionaryLength: Int(dictionaryLength))
  }
}

extension SegmentKind {
  /// The kind with the given number, of any integer type.
  init?(exactly number: some BinaryInteger) {
    guard let byte = UInt8(exactly: number) else { return nil }
    self.init(rawValue: byte)
  }
}
