/// What every structure starts and ends with: magic, version, feature flags and a checksum.
///
/// Magic, version and the place of the checksum are the same in all versions to come. So a damaged version number is
/// told from a newer one: the newer one's checksum is right.
struct Envelope {
  /// The version that this code writes, the only one so far.
  static let version: UInt32 = 1

  let magic: UInt64
  /// Bytes of the structure, or of its header.
  let length: Int
  /// Where the checksum of all bytes before it stands.
  let checksumOffset: Int
  /// Where the feature flags stand, if there are any.
  let featuresOffset: Int?

  /// A magic number from its eight characters.
  static func magic(_ text: StaticString) -> UInt64 {
    var value: UInt64 = 0
    "\(text)".utf8.enumerated().forEach { value |= UInt64($1) << (8 * UInt64($0)) }
    return value
  }

  /// Throws unless the bytes start with an intact structure of this version.
  func check(_ bytes: RawSpan) throws(FormatError) {
    guard bytes.byteCount >= 8, bytes.u64(at: 0) == magic else { throw .notThisKind }
    guard bytes.byteCount >= length else { throw .damaged(reason: "it is truncated", offset: bytes.byteCount) }
    guard bytes.u32(at: checksumOffset) == bytes.checksum(of: 0..<checksumOffset) else {
      throw .damaged(reason: "its checksum does not match", offset: checksumOffset)
    }
    let version = bytes.u32(at: 8)
    if version == 0 { throw .damaged(reason: "its version is 0", offset: 8) }
    if version != Self.version { throw .newerVersion(version) }
    if let featuresOffset, bytes.u32(at: featuresOffset) != 0 {
      throw .unknownFeatures(bytes.u32(at: featuresOffset))
    }
  }

  /// Stores magic and version, and the checksum over what is there by then.
  func seal(_ bytes: inout [UInt8]) {
    bytes.store(magic, at: 0)
    bytes.store(Self.version, at: 8)
    bytes.store(bytes.checksum(of: 0..<checksumOffset), at: checksumOffset)
  }
}

/// Limits that no store comes to, however long it is used: what is beyond them was made up, and sums of a few such numbers
/// cannot overflow.
enum Limit {
  /// Of what counts edits, or gives a file its name.
  static let count: UInt64 = 1 << 56
  /// Of the bytes of a segment: all addresses that a store has.
  static let segmentBytes: UInt64 = UInt64(SegmentRow.granuleLimit) * SegmentRow.granuleSize
  /// Of how often a keyspace is emptied.
  static let incarnation: UInt32 = 1 << 31
}

extension RawSpan {
  /// The number at an offset; throws when it is greater than a limit, naming the field.
  func u64(at offset: Int, notAbove limit: UInt64, _ field: StaticString) throws(FormatError) -> UInt64 {
    let value = u64(at: offset)
    guard value <= limit else { throw .damaged(reason: "\(field) is impossible: \(value)", offset: offset) }
    return value
  }

  /// Throws unless the reserved bytes in `range` are zero.
  func requireZeros(in range: Range<Int>) throws(FormatError) {
    if let offset = firstNonzero(in: range) { throw .damaged(reason: "a reserved byte is not zero", offset: offset) }
  }
}
