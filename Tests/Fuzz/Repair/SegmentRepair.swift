import CEskerShims
import EskerFormat

/// Puts right checksums on segment files, and on the parts of them.
enum SegmentRepair {
  /// All of a file: its header, dictionary, records and footer.
  static func file(_ bytes: inout [UInt8]) {
    guard bytes.count >= SegmentHeader.length else { return }
    footer(&bytes)
    if bytes.number(UInt32.self, at: 60) == UInt32(SegmentKind.packed.rawValue) {
      PackedRepair.records(&bytes)
      dictionary(&bytes)
    } else {
      records(&bytes)
    }
    header(&bytes)
  }

  /// That of a log's header is over zeros in place of the words that change.
  static func header(_ bytes: inout [UInt8]) {
    guard bytes.count >= SegmentHeader.length else { return }
    var constant = Array(bytes[..<124])
    if constant.number(UInt32.self, at: 60) == 0 {
      for offset in ReuseWords.offset..<ReuseWords.offset + ReuseWords.length { constant[offset] = 0 }
    }
    bytes.store(constant.checksum(of: 0..<124), at: 124)
  }

  private static func dictionary(_ bytes: inout [UInt8]) {
    let end = SegmentHeader.length + PackedRepair.dictionaryLength(bytes)
    if end <= bytes.count { bytes.store(bytes.checksum(of: SegmentHeader.length..<end), at: 84) }
  }

  /// The records of a log, one behind the other, up to the first whose length cannot be.
  private static func records(_ bytes: inout [UInt8]) {
    let salt = bytes.number(UInt32.self, at: 56)
    var offset = SegmentHeader.length
    while offset + 32 <= bytes.count {
      let first = bytes.number(UInt64.self, at: offset)
      // Zeros end the log. A hole has a word of its own.
      guard first != 0 else { return }
      let hole = Int(first & 0xffff_ffff) << 3
      if first >> 32 == 0x454c_4f48, hole >= 32, hole <= RecordFiller.largest {
        offset += hole
        continue
      }
      let flags = bytes[offset + 15] >> 4
      let words = Int(flags & 1) + Int(flags >> 1 & 1)
      let valueLength = Int(bytes.number(UInt32.self, at: offset + 24))
      let keyLength = Int(bytes.number(UInt16.self, at: offset + 28))
      let size = RecordLayout.size(keyLength: keyLength, valueLength: valueLength, extensionWords: words)
      guard size <= bytes.count - offset else { return }
      let body = bytes.checksum(of: offset + 32 + 8 * words..<offset + size)
      let word = bytes.withUnsafeBytes { buffer in
        let place = buffer.baseAddress.unsafelyUnwrapped + offset
        return esker_record_first_word(salt, UInt32(offset >> 3), body, place, UInt32(words))
      }
      bytes.store(word.littleEndian, at: offset)
      offset += size
    }
  }

  /// Where the footer begins, and its length; nil if there is none at the end.
  private static func footerPlace(_ bytes: [UInt8]) -> (start: Int, length: Int)? {
    let trailer = bytes.count - SegmentFooter.trailerLength
    guard trailer >= 0, Array(bytes[trailer..<trailer + 8]) == Array("ESKRFTR1".utf8) else { return nil }
    let length = bytes.number(UInt64.self, at: trailer + 32)
    guard length <= UInt64(trailer) else { return (trailer, 0) }
    let start = trailer - (Int(length) + 7) & ~7
    return start >= 0 ? (start, Int(length)) : (trailer, 0)
  }

  /// Where records end at the latest: what looks like one in a footer is none.
  static func recordsLimit(_ bytes: [UInt8]) -> Int { footerPlace(bytes)?.start ?? bytes.count }

  /// A footer at the end, if there is one.
  static func footer(_ bytes: inout [UInt8]) {
    guard let (start, length) = footerPlace(bytes) else { return }
    let trailer = bytes.count - SegmentFooter.trailerLength
    if length > 0 { bytes.store(bytes.checksum(of: start..<start + length), at: trailer + 88) }
    bytes.store(bytes.checksum(of: trailer..<trailer + 92), at: trailer + 92)
  }
}
