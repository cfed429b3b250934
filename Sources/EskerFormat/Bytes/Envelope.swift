/// How every structure starts and ends: magic, version, feature flags and a checksum.
///
/// Magic, version and the position of the checksum will be the same in all future versions. This distinguishes a damaged
/// version number from a newer version, whose checksum matches.
struct Envelope {
  /// The version that this code writes, the only one so far.
  static let version: UInt32 = 1

  let magic: UInt64
  /// The length in bytes of the structure, or of its header.
  let length: Int
  /// The offset of the checksum, which covers all bytes before it.
  let checksumOffset: Int
  /// The offset of the feature flags, if any.
  let featuresOffset: Int?
  /// The flags of features that this code knows.
  var knownFeatures: UInt32 = 0

  /// Makes a magic number from its eight characters.
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
    if let featuresOffset, case let unknown = bytes.u32(at: featuresOffset) & ~knownFeatures, unknown != 0 {
      throw .unknownFeatures(unknown)
    }
  }

  /// Stores magic, version and the checksum of everything before it.
  func seal(_ bytes: inout [UInt8]) {
    bytes.store(magic, at: 0)
    bytes.store(Self.version, at: 8)
    bytes.store(bytes.checksum(of: 0..<checksumOffset), at: checksumOffset)
  }
}

/// Limits that no store reaches, however long it is used. A larger number is invalid, and sums of a few numbers within the
/// limits cannot overflow.
enum FormatLimit {
  /// For counters of edits and numbers in file names.
  static let count: UInt64 = 1 << 56
  /// For offsets and lengths within a segment: a store's whole address space, of 40-bit addresses in units of eight bytes.
  static let segmentBytes: UInt64 = 8 << 40
  /// For how often a keyspace has been emptied; the number above says that it was removed.
  static let incarnation: UInt32 = (1 << 31) - 1
}

extension RawSpan {
  /// The number at an offset; throws if it exceeds the limit, naming the field.
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
