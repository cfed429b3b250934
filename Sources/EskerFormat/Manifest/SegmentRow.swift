/// Whether a segment may still grow.
///
/// On disk: never renumber.
@frozen
public enum SegmentState: UInt8, Sendable, CaseIterable {
  /// It may hold the tail of the log.
  case active = 0
  /// It is complete.
  case sealed = 1
}

/// A segment's entry in the manifest.
public struct SegmentRow: Hashable, Sendable {
  /// The length in bytes of a row.
  static let length = 104

  /// The bytes of address space in a granule.
  public static let granuleSize: UInt64 = 16 << 20

  /// The number of granules in a store's whole address space.
  public static let granuleLimit = UInt32(FormatLimit.segmentBytes / granuleSize)

  /// The segment's identifier.
  public var id: UInt64
  /// The segment's salt.
  public var salt: UInt32
  /// Which records it holds.
  public var kind: SegmentKind
  /// Whether it may still grow.
  public var state: SegmentState
  /// The length in bytes of its dictionary: a multiple of sixteen, up to 64 KiB; 0 unless the segment is packed.
  public var dictionaryLength: Int = 0
  /// Its place among the segments that make room next in a store with a capacity; 0 if it is not one of them. Their files are removed
  /// in this order, and no manifest says so: see ``Manifest/withoutEvicted(isThere:)``.
  public var evictionPlace = 0
  /// The greatest place.
  public static let mostEvictionPlaces = 127
  /// The first granule of its address range.
  public var granule: UInt32
  /// The number of granules in its address range.
  public var granules: UInt32
  /// Its lowest sequence number, 0 if unknown.
  public var firstSequence: UInt64
  /// Its highest sequence number, 0 if unknown.
  public var lastSequence: UInt64
  /// Where its last record ends, 0 if unknown.
  public var recordsEnd: UInt64
  /// Where its footer starts, 0 if it has none.
  public var footerOffset: UInt64
  /// The length in bytes of its footer, including padding and trailer.
  public var footerLength: UInt64
  /// Its earliest expiry, `Int64.max` if no record expires.
  public var minExpiry: Int64
  /// Its latest expiry, `Int64.min` if no record expires.
  public var maxExpiry: Int64
  /// The number of its records that never expire.
  public var neverExpiring: UInt64
  /// The length in bytes of the file.
  public var fileLength: UInt64
  /// What a merge wrote: the last write that had returned when it began, 0 if unknown. Whatever a write up to there superseded is not
  /// in the segment.
  public var mergedThrough: UInt64 = 0

  /// Creates a row with the given fields; defaults mean unknown or absent.
  public init(
    id: UInt64,
    salt: UInt32,
    kind: SegmentKind,
    state: SegmentState,
    granule: UInt32,
    granules: UInt32,
    firstSequence: UInt64 = 0,
    lastSequence: UInt64 = 0,
    recordsEnd: UInt64 = 0,
    footerOffset: UInt64 = 0,
    footerLength: UInt64 = 0,
    minExpiry: Int64 = .max,
    maxExpiry: Int64 = .min,
    neverExpiring: UInt64 = 0,
    fileLength: UInt64 = 0
  ) {
    self.id = id
    self.salt = salt
    self.kind = kind
    self.state = state
    self.granule = granule
    self.granules = granules
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.recordsEnd = recordsEnd
    self.footerOffset = footerOffset
    self.footerLength = footerLength
    self.minExpiry = minExpiry
    self.maxExpiry = maxExpiry
    self.neverExpiring = neverExpiring
    self.fileLength = fileLength
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(id)
    bytes.append(salt)
    bytes.append(kind.rawValue)
    bytes.append(state.rawValue | UInt8(evictionPlace) << 1)
    bytes.append(UInt16(dictionaryLength / 16))
    bytes.append(granule)
    bytes.append(granules)
    bytes.append(firstSequence)
    bytes.append(lastSequence)
    bytes.append(recordsEnd)
    bytes.append(footerOffset)
    bytes.append(footerLength)
    bytes.append(minExpiry)
    bytes.append(maxExpiry)
    bytes.append(neverExpiring)
    bytes.append(fileLength)
    bytes.append(mergedThrough)
  }

  /// Decodes the row at `offset`; the caller has checked that it is within the bytes.
  init(decoding bytes: RawSpan, at offset: Int) throws(FormatError) {
    guard let kind = SegmentKind(rawValue: bytes.u8(at: offset + 12)) else {
      throw .damaged(reason: "a segment's kind is unknown", offset: offset + 12)
    }
    let state: SegmentState = bytes.u8(at: offset + 13) & 1 == 0 ? .active : .sealed
    let dictionaryLength = Int(bytes.u16(at: offset + 14)) * 16
    guard dictionaryLength <= (kind == .packed ? PackedLayout.maximumDictionaryLength : 0) else {
      throw .damaged(reason: "the length of a segment's dictionary is impossible", offset: offset + 14)
    }
    self.init(
      id: bytes.u64(at: offset),
      salt: bytes.u32(at: offset + 8),
      kind: kind,
      state: state,
      granule: bytes.u32(at: offset + 16),
      granules: bytes.u32(at: offset + 20),
      firstSequence: bytes.u64(at: offset + 24),
      lastSequence: bytes.u64(at: offset + 32),
      recordsEnd: bytes.u64(at: offset + 40),
      footerOffset: bytes.u64(at: offset + 48),
      footerLength: bytes.u64(at: offset + 56),
      minExpiry: bytes.i64(at: offset + 64),
      maxExpiry: bytes.i64(at: offset + 72),
      neverExpiring: bytes.u64(at: offset + 80),
      fileLength: bytes.u64(at: offset + 88)
    )
    self.dictionaryLength = dictionaryLength
    mergedThrough = bytes.u64(at: offset + 96)
    evictionPlace = Int(bytes.u8(at: offset + 13) >> 1)
    guard granule < Self.granuleLimit, granules <= Self.granuleLimit - granule else {
      throw .damaged(reason: "a segment's address range is impossible", offset: offset + 16)
    }
    try checkPlaces(at: offset)
  }

  /// Throws unless the records lie in the segment's address range, with the footer after them.
  private func checkPlaces(at offset: Int) throws(FormatError) {
    func require(_ condition: Bool, _ field: StaticString, _ value: UInt64, at place: Int) throws(FormatError) {
      if !condition {
        throw .damaged(reason: "\(field) of segment \(id) is impossible: \(value)", offset: offset + place)
      }
    }
    try require(id <= FormatLimit.count, "the identifier", id, at: 0)
    try require(firstSequence <= RecordLayout.sequenceLimit, "the lowest sequence number", firstSequence, at: 24)
    try require(lastSequence <= RecordLayout.sequenceLimit, "the highest sequence number", lastSequence, at: 32)
    let range = UInt64(layout.recordsStart)...max(UInt64(layout.recordsStart), UInt64(granules) * Self.granuleSize)
    let isEnd = recordsEnd % 8 == 0 && range.contains(recordsEnd)
    try require(isEnd || recordsEnd == 0 && state == .active, "the end of the records", recordsEnd, at: 40)
    let isFooter = footerOffset % 8 == 0 && footerOffset >= recordsEnd && footerOffset <= 2 * FormatLimit.segmentBytes
    try require(footerOffset == 0 || isFooter, "the offset of the footer", footerOffset, at: 48)
    try require(footerLength <= FormatLimit.segmentBytes, "the length of the footer", footerLength, at: 56)
    try require(neverExpiring <= FormatLimit.count, "the number of records that never expire", neverExpiring, at: 80)
    try require(mergedThrough <= RecordLayout.sequenceLimit, "the sequence number of its merge", mergedThrough, at: 96)
    try require(fileLength <= 4 * FormatLimit.segmentBytes, "the length of the file", fileLength, at: 88)
  }

  /// Its lowest to its highest sequence number; nil if they are unknown.
  public var numbers: ClosedRange<UInt64>? {
    firstSequence == 0 || firstSequence > lastSequence ? nil : firstSequence...lastSequence
  }

  /// How records are laid out in the segment.
  public var layout: SegmentLayout {
    SegmentLayout(isPacked: kind == .packed, dictionaryLength: dictionaryLength)
  }
}

extension SegmentRow {
  /// Where its records end, according to the row; nil if it does not say.
  public var claimedEnd: Int? { recordsEnd == 0 ? nil : Int(clamping: recordsEnd) }

  /// Where its records end, as far as the row can tell; nil if only reading the segment can.
  ///
  /// The row of a segment that takes records has their end only if the store was closed. What a killed process had listed is a claim.
  public func trustedEnd(in manifest: Manifest) -> Int? {
    state == .sealed || manifest.state == .clean ? claimedEnd : nil
  }
}
