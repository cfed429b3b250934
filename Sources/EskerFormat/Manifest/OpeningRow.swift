/// An entry of a store's history: what an opening for writing has found, or how the store was made.
public struct OpeningRow: Hashable, Sendable {
  /// How the store was found, or made.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// There was none.
    case created = 0
    /// The last writer had closed it.
    case clean = 1
    /// The last writer had ended without closing it.
    case afterCrash = 2
    /// It was copied from another directory.
    case copied = 3
    /// It was made from what was intact in another one.
    case repaired = 4
  }

  /// Where the index came from.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Index: UInt8, Sendable, CaseIterable {
    /// There was nothing to index.
    case empty = 0
    /// The checkpoint.
    case checkpoint = 1
    /// The checkpoint, and what was logged behind it.
    case checkpointAndReplay = 2
    /// All segments.
    case segments = 3
  }

  /// What is known of the last writer's syncs.
  ///
  /// On disk: never renumber.
  @frozen
  public enum Sync: UInt8, Sendable, CaseIterable {
    /// None was in progress, and none had failed.
    case complete = 0
    /// One was in progress.
    case interrupted = 1
    /// One had failed.
    case failed = 2
  }

  /// Where the log was cut.
  public struct Cut: Hashable, Sendable {
    /// The segment in which history ends.
    public var segment: UInt64
    /// The offset there.
    public var offset: UInt64
    /// The first sequence number that is gone.
    public var sequence: UInt64
    /// How many numbers are gone.
    public var records: UInt64
    /// The bytes of what could be read there.
    public var bytes: UInt64
    /// How many segments were removed.
    public var segments: UInt32

    /// A cut with the given fields.
    public init(segment: UInt64, offset: UInt64, sequence: UInt64, records: UInt64, bytes: UInt64, segments: UInt32) {
      self.segment = segment
      self.offset = offset
      self.sequence = sequence
      self.records = records
      self.bytes = bytes
      self.segments = segments
    }
  }

  /// Damage that was met.
  public struct Damage: Hashable, Sendable {
    /// The most bytes of a file's name, and of a reason.
    public static let (longestName, longestReason) = (64, 160)

    /// The segment, 0 for another file.
    public var segment: UInt64
    /// Where it begins; nil if that is not known.
    public var offset: UInt64?
    /// Its length in bytes, 0 if that is not known.
    public var length: UInt64
    /// How many records were lost with it, or at most were.
    public var records: UInt64
    /// The file's name.
    public let file: String
    /// What is wrong.
    public let reason: String

    /// Damage with the given fields; texts are cut to what a row can have.
    public init(segment: UInt64, offset: UInt64?, length: UInt64, records: UInt64, file: String, reason: String) {
      self.segment = segment
      self.offset = offset
      self.length = length
      self.records = records
      self.file = file.cut(to: Self.longestName)
      self.reason = reason.cut(to: Self.longestReason)
    }
  }

  /// The most damage that is described.
  public static let mostDamage = 4

  /// How the store was found, or made.
  public var kind: Kind
  /// When, in milliseconds of the wall clock.
  public var time: Int64
  /// Whether the opening came to its end; if not, the figures are those of the moment before it changed anything.
  public var isComplete = true
  /// Where the index came from.
  public var index = Index.empty
  /// What is known of the last writer's syncs.
  public var sync = Sync.complete
  /// How long it took, in nanoseconds.
  public var duration: UInt64 = 0
  /// The last write that was there.
  public var lastSequence: UInt64 = 0
  /// The number of records that were replayed.
  public var replayedRecords: UInt64 = 0
  /// The number of records that were rewritten.
  public var rewrittenRecords: UInt64 = 0
  /// The number of keys.
  public var keys: UInt64 = 0
  /// Where the log was cut; nil if it was not.
  public var cut: Cut?
  /// How much damage was met.
  public var damageCount: UInt32 = 0
  /// The first of it, at most ``mostDamage``.
  public var damage: [Damage] = []

  /// A row that says nothing more.
  public init(kind: Kind, time: Int64) {
    self.kind = kind
    self.time = time
  }

  /// Whether nothing went wrong.
  public var isUneventful: Bool { kind == .clean && sync == .complete && cut == nil && damageCount == 0 && isComplete }
}

extension String {
  /// The beginning, in at most so many bytes of UTF-8, with an ellipsis if there was more.
  fileprivate func cut(to limit: Int) -> String {
    if utf8.count <= limit { return self }
    var end = startIndex
    var count = "…".utf8.count
    while end < endIndex {
      count += unicodeScalars[end].utf8.count
      if count > limit { break }
      unicodeScalars.formIndex(after: &end)
    }
    return String(self[..<end]) + "…"
  }
}

// MARK: Bytes

extension OpeningRow {
  /// The length in bytes of a row without a cut or damage.
  static let minimumLength = 64
  private static let cutLength = 48
  fileprivate static let damageLength = 40
  fileprivate static let noOffset = UInt64.max
  private static let (completeFlag, cutFlag): (UInt8, UInt8) = (1, 2)

  func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(0 as UInt32)
    bytes.append(kind.rawValue)
    bytes.append(index.rawValue)
    bytes.append(sync.rawValue)
    bytes.append((isComplete ? Self.completeFlag : 0) | (cut == nil ? 0 : Self.cutFlag))
    bytes.append(time)
    for number in [duration, lastSequence, replayedRecords, rewrittenRecords, keys] { bytes.append(number) }
    bytes.append(damageCount)
    bytes.append(UInt32(min(damage.count, Self.mostDamage)))
    if let cut {
      for number in [cut.segment, cut.offset, cut.sequence, cut.records, cut.bytes] { bytes.append(number) }
      bytes.append(cut.segments)
      bytes.append(0 as UInt32)
    }
    for damage in damage.prefix(Self.mostDamage) {
      bytes.append(damage.segment)
      bytes.append(damage.offset ?? Self.noOffset)
      bytes.append(damage.length)
      bytes.append(damage.records)
      bytes.append(UInt8(damage.file.utf8.count))
      bytes.append(UInt8(damage.reason.utf8.count))
      bytes.append(contentsOf: repeatElement(0, count: 6))
      bytes.append(contentsOf: damage.file.utf8)
      bytes.append(contentsOf: damage.reason.utf8)
      bytes.append(contentsOf: repeatElement(0, count: -(bytes.count - start) & 7))
    }
    bytes.store(UInt32(bytes.count - start), at: start)
  }

  /// Decodes the row at `offset` and moves `offset` past it; rows end at `end`.
  init(decoding bytes: RawSpan, at offset: inout Int, end: Int) throws(FormatError) {
    let start = offset
    guard end - start >= Self.minimumLength, case let length = Int(bytes.u32(at: start)), length >= Self.minimumLength,
      length <= end - start, length.isMultiple(of: 8)
    else { throw .damaged(reason: "the length of a row of the history is impossible", offset: start) }
    func known<Choice>(_ choice: Choice?, _ field: StaticString, at place: Int) throws(FormatError) -> Choice {
      if let choice { return choice }
      throw .damaged(reason: "\(field) is unknown: \(bytes.u8(at: start + place))", offset: start + place)
    }
    func count(_ place: Int, _ field: StaticString) throws(FormatError) -> UInt64 {
      try bytes.u64(at: start + place, notAbove: FormatLimit.count, field)
    }
    kind = try known(Kind(rawValue: bytes.u8(at: start + 4)), "the kind of an opening", at: 4)
    index = try known(Index(rawValue: bytes.u8(at: start + 5)), "the index's source", at: 5)
    sync = try known(Sync(rawValue: bytes.u8(at: start + 6)), "what is said of a sync", at: 6)
    let flags = bytes.u8(at: start + 7)
    guard flags & ~(Self.completeFlag | Self.cutFlag) == 0 else {
      throw .damaged(reason: "a flag of an opening is unknown: \(flags)", offset: start + 7)
    }
    isComplete = flags & Self.completeFlag != 0
    time = bytes.i64(at: start + 8)
    duration = bytes.u64(at: start + 16)
    lastSequence = try bytes.u64(at: start + 24, notAbove: RecordLayout.sequenceLimit, "the last sequence number found")
    replayedRecords = try count(32, "the number of records replayed")
    rewrittenRecords = try count(40, "the number of records rewritten")
    keys = try count(48, "the number of keys")
    damageCount = bytes.u32(at: start + 56)
    let described = bytes.u32(at: start + 60)
    guard described <= min(UInt32(Self.mostDamage), damageCount) else {
      throw .damaged(reason: "the number of damaged places is impossible: \(described)", offset: start + 60)
    }
    var place = start + Self.minimumLength
    if flags & Self.cutFlag != 0 {
      guard length - Self.minimumLength >= Self.cutLength else {
        throw .damaged(reason: "what the history says of a cut is truncated", offset: place)
      }
      cut = Cut(
        segment: try count(64, "the segment of a cut"),
        offset: try count(72, "the offset of a cut"),
        sequence: try count(80, "the sequence number of a cut"),
        records: try count(88, "the number of records cut off"),
        bytes: try count(96, "the number of bytes cut off"),
        segments: bytes.u32(at: start + 104)
      )
      try bytes.requireZeros(in: start + 108..<start + 112)
      place += Self.cutLength
    }
    for _ in 0..<described { damage.append(try Damage(decoding: bytes, at: &place, end: start + length)) }
    guard place == start + length else {
      throw .damaged(reason: "a row of the history is longer than it declares", offset: place)
    }
    offset = place
  }
}

extension OpeningRow.Damage {
  fileprivate init(decoding bytes: RawSpan, at offset: inout Int, end: Int) throws(FormatError) {
    let start = offset
    func count(_ place: Int, _ field: StaticString) throws(FormatError) -> UInt64 {
      try bytes.u64(at: start + place, notAbove: FormatLimit.count, field)
    }
    guard end - start >= OpeningRow.damageLength else {
      throw .damaged(reason: "what the history says of damage is truncated", offset: start)
    }
    let nameStart = start + OpeningRow.damageLength
    let reasonStart = nameStart + Int(bytes.u8(at: start + 32))
    let textEnd = reasonStart + Int(bytes.u8(at: start + 33))
    let rowEnd = (textEnd + 7) & ~7
    guard rowEnd <= end, reasonStart - nameStart <= Self.longestName, textEnd - reasonStart <= Self.longestReason else {
      throw .damaged(reason: "what the history says of damage is truncated", offset: start + 32)
    }
    try bytes.requireZeros(in: start + 34..<nameStart)
    let place = bytes.u64(at: start + 8)
    self.init(
      segment: try count(0, "the segment of damage"),
      offset: place == OpeningRow.noOffset ? nil : try count(8, "the offset of damage"),
      length: try count(16, "the length of damage"),
      records: try count(24, "the number of records lost"),
      file: try bytes.text(in: nameStart..<reasonStart, "the name of a damaged file"),
      reason: try bytes.text(in: reasonStart..<textEnd, "the reason of damage")
    )
    try bytes.requireZeros(in: textEnd..<rowEnd)
    offset = rowEnd
  }
}
