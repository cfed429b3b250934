/// Well-formed UTF-8 according to table 3-7 of the Unicode standard: no overlong forms, surrogates or scalars past U+10FFFF.
enum UTF8Check {
  /// The length of the sequence at `position`, which must be a valid index; 0 if it is not well-formed.
  static func length(of bytes: Span<UInt8>, at position: Int) -> Int {
    let first = bytes[position]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0..<0x80: return 1
    case 0xC2...0xDF: length = 2
    case 0xE0:
      length = 3
      second = 0xA0...0xBF
    case 0xED:
      length = 3
      second = 0x80...0x9F
    case 0xE1...0xEF: length = 3
    case 0xF0:
      length = 4
      second = 0x90...0xBF
    case 0xF1...0xF3: length = 4
    case 0xF4:
      length = 4
      second = 0x80...0x8F
    default: return 0
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { return 0 }
    var index = position + 2
    while index < position + length {
      guard bytes[index] & 0xC0 == 0x80 else { return 0 }
      index += 1
    }
    return length
  }

  /// Whether all of `bytes` is well-formed.
  static func isValid(_ bytes: Span<UInt8>) -> Bool {
    var position = 0
    while position < bytes.count {
      if bytes.count &- position >= 8, bytes.word(at: position) & 0x8080_8080_8080_8080 == 0 {
        position &+= 8
        continue
      }
      let length = length(of: bytes, at: position)
      guard length > 0 else { return false }
      position += length
    }
    return true
  }
}
