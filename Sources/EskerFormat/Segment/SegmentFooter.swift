/// The summary at the end of a sealed segment, after an entry for each of its records.
///
/// A footer saves reading the segment. It is auxiliary: if it disagrees with the records, the records are right.
public struct SegmentFooter: Sendable {
  /// The length in bytes of the trailer, which ends the footer.
  public static let trailerLength = 96

  /// The segment's identifier.
  public var segmentID: UInt64
  /// The segment's salt.
  public var salt: UInt32
  /// The number of entries.
  public var entryCount: UInt64 = 0
  /// The length in bytes of the entries, without padding.
  public var streamLength: UInt64 = 0
  /// Where the last record ends and the seal starts.
  public var recordsEnd = UInt64(SegmentHeader.length)
  /// The lowest sequence number, 0 without records.
  public var firstSequence: UInt64 = 0
  /// The highest sequence number, 0 without records.
  public var lastSequence: UInt64 = 0
  /// The earliest expiry, `Int64.max` if no record expires.
  public var minExpiry = Int64.max
  /// The latest expiry, `Int64.min` if no record expires.
  public var maxExpiry = Int64.min
  /// The number of records that never expire.
  public var neverExpiring: UInt64 = 0
  private var streamChecksum: UInt32 = 0

  init(segmentID: UInt64, salt: UInt32) {
    self.segmentID = segmentID
    self.salt = salt
  }

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRFTR1"),
    length: trailerLength,
    checksumOffset: 92,
    featuresOffset: nil
  )

  /// The lowest to the highest sequence number; nil without records.
  public var numbers: ClosedRange<UInt64>? { firstSequence == 0 ? nil : firstSequence...lastSequence }

  /// The length in bytes of the whole footer: entries, padding and trailer.
  public var length: Int { Int(streamLength + 7) & ~7 + Self.trailerLength }

  func encodedTrailer(streamChecksum: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.trailerLength)
    bytes.store(salt, at: 12)
    bytes.store(segmentID, at: 16)
    bytes.store(entryCount, at: 24)
    bytes.store(streamLength, at: 32)
    bytes.store(recordsEnd, at: 40)
    bytes.store(firstSequence, at: 48)
    bytes.store(lastSequence, at: 56)
    bytes.store(minExpiry, at: 64)
    bytes.store(maxExpiry, at: 72)
    bytes.store(neverExpiring, at: 80)
    bytes.store(streamChecksum, at: 88)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Decodes only a trailer, for finding a footer from the end of a file; bytes after it are ignored.
  public init(decodingTrailer bytes: RawSpan) throws(FormatError) {
    try Self.envelope.check(bytes)
    segmentID = bytes.u64(at: 16)
    salt = bytes.u32(at: 12)
    entryCount = bytes.u64(at: 24)
    streamLength = bytes.u64(at: 32)
    recordsEnd = bytes.u64(at: 40)
    firstSequence = bytes.u64(at: 48)
    lastSequence = bytes.u64(at: 56)
    minExpiry = bytes.i64(at: 64)
    maxExpiry = bytes.i64(at: 72)
    neverExpiring = bytes.u64(at: 80)
    streamChecksum = bytes.u32(at: 88)
    guard streamLength <= 1 << 56, entryCount <= streamLength / FooterCursor.minimumEntryLength,
      neverExpiring <= entryCount
    else { throw .damaged(reason: "its counts contradict each other", offset: 24) }
    guard recordsEnd >= UInt64(SegmentHeader.length), recordsEnd <= FormatLimit.segmentBytes, recordsEnd % 8 == 0 else {
      throw .damaged(reason: "the end of the records is impossible: \(recordsEnd)", offset: 40)
    }
    guard firstSequence <= lastSequence, lastSequence <= RecordLayout.sequenceLimit,
      (firstSequence == 0) == (entryCount == 0), firstSequence != 0 || lastSequence == 0
    else {
      throw .damaged(reason: "its sequence numbers are impossible: \(firstSequence) to \(lastSequence)", offset: 48)
    }
    guard neverExpiring == entryCount ? minExpiry == .max && maxExpiry == .min : minExpiry <= maxExpiry else {
      throw .damaged(reason: "its expiries are impossible", offset: 64)
    }
  }

  /// Decodes a whole footer and verifies its checksums; the entries are checked as they are read with ``entries(_:)``.
  ///
  /// - Parameter bytes: The whole footer and nothing else. Offsets in errors count from its start.
  /// - Complexity: O(n), at the speed of the checksum.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    guard bytes.byteCount >= Self.trailerLength else { throw .notThisKind }
    let trailerOffset = bytes.byteCount - Self.trailerLength
    do {
      try self.init(decodingTrailer: bytes.extracting(trailerOffset..<bytes.byteCount))
    } catch {
      if case .damaged(let reason, let offset) = error {
        throw .damaged(reason: reason, offset: offset + trailerOffset)
      }
      throw error
    }
    guard length == bytes.byteCount else {
      throw .damaged(reason: "the length of its entries does not match", offset: trailerOffset + 32)
    }
    try bytes.requireZeros(in: Int(streamLength)..<trailerOffset)
    guard bytes.checksum(of: 0..<Int(streamLength)) == streamChecksum else {
      throw .damaged(reason: "the checksum of its entries does not match", offset: 0)
    }
  }

  /// A cursor at the first entry.
  public func entries(_ layout: SegmentLayout = .plain) -> FooterCursor { FooterCursor(self, layout) }
}
