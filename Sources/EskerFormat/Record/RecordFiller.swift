/// What stands in place of a record while another one of the same size replaces it.
///
/// Its first word holds its length, so that a reader of the log can skip it after a crash in the middle of that. The other
/// words are parts of either record.
public enum RecordFiller {
  /// The upper half of the first word, where the checksum of a body would be.
  static let tag: UInt64 = 0x454c_4f48
  /// The largest record that can be replaced.
  @inlinable public static var largest: Int { 64 << 10 }

  /// The first word of a filler of that many bytes, a multiple of eight.
  public static func word(size: Int) -> UInt64 { tag << 32 | UInt64(size >> 3) }

  /// The length of the hole with that first word; nil if it is none.
  @usableFromInline
  static func size(_ word: UInt64) -> Int? {
    guard word >> 32 == tag else { return nil }
    let size = Int(word & 0xffff_ffff) << 3
    return size >= RecordLayout.headerLength && size <= largest ? size : nil
  }

  /// What a reader of the log sees of a hole.
  @usableFromInline
  static func header(size: Int) -> RecordHeader {
    RecordHeader(
      sequence: 0,
      kind: .filler,
      keyHash: 0,
      keyLength: 0,
      valueLength: size - RecordLayout.headerLength
    )
  }
}
