extension JSONCursor {
  /// Moves past a string and returns the range of its text.
  mutating func string(_ bytes: Span<UInt8>, wanted: String) throws(JSONFault) -> StringRange {
    guard skip(UInt8(ascii: "\""), bytes) else { throw unexpected(bytes, wanted: wanted) }
    let start = position
    var hasEscapes = false
    while true {
      skipPlainText(bytes)
      guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return StringRange(bytes: start..<(position - 1), hasEscapes: hasEscapes)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try skipEscape(bytes)
      case 0..<0x20:
        throw JSONFault(.controlCharacterInString(bytes[position]), at: position)
      default:
        let length = UTF8Check.length(of: bytes, at: position)
        guard length > 0 else { throw JSONFault(.invalidUTF8, at: position) }
        position += length
      }
    }
  }

  /// Moves to the next byte that needs attention: a quote, a backslash, a control character or a non-ASCII byte.
  ///
  /// Eight bytes at a time. In each expression a borrow can only propagate upwards from a byte that is a hit itself, so the
  /// lowest marked byte is exact.
  private mutating func skipPlainText(_ bytes: Span<UInt8>) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    while position + 8 <= bytes.count {
      let word = bytes.word(at: position)
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let hits =
        ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word | word)
        & (ones &* 0x80)
      guard hits == 0 else {
        position += hits.trailingZeroBitCount >> 3
        return
      }
      position += 8
    }
    while position < bytes.count {
      let byte = bytes[position]
      if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
      position += 1
    }
  }

  private mutating func skipEscape(_ bytes: Span<UInt8>) throws(JSONFault) {
    let start = position
    guard position + 1 < bytes.count else { throw JSONFault(.unexpectedEnd, at: bytes.count) }
    switch bytes[position + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      guard position + 6 <= bytes.count else { throw JSONFault(.unexpectedEnd, at: bytes.count) }
      guard Self.codeUnit(bytes, at: position + 2) != nil else { throw JSONFault(.badEscape, at: start) }
      position += 6
    default:
      throw JSONFault(.badEscape, at: start)
    }
  }

  /// Appends the text of a string that was validated before; false if it contains half of a surrogate pair.
  static func unescape(_ text: Span<UInt8>, into output: inout [UInt8]) -> Bool {
    var position = 0
    while position < text.count {
      let byte = text[position]
      guard byte == UInt8(ascii: "\\"), position + 1 < text.count else {
        output.append(byte)
        position += 1
        continue
      }
      position += 2
      switch text[position - 1] {
      case UInt8(ascii: "b"): output.append(0x08)
      case UInt8(ascii: "f"): output.append(0x0C)
      case UInt8(ascii: "n"): output.append(0x0A)
      case UInt8(ascii: "r"): output.append(0x0D)
      case UInt8(ascii: "t"): output.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = scalar(text, &position) else { return false }
        output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      case let itself: output.append(itself)
      }
    }
    return true
  }

  /// The scalar of the escape whose digits begin at `position`, combining a surrogate pair of escapes.
  private static func scalar(_ text: Span<UInt8>, _ position: inout Int) -> Unicode.Scalar? {
    guard let first = codeUnit(text, at: position) else { return nil }
    position += 4
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
      text[position + 1] == UInt8(ascii: "u"), let second = codeUnit(text, at: position + 2),
      0xDC00...0xDFFF ~= second
    else { return nil }
    position += 6
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  /// The value of the four hexadecimal digits at `position`.
  private static func codeUnit(_ text: Span<UInt8>, at position: Int) -> UInt32? {
    guard position + 4 <= text.count else { return nil }
    var unit: UInt32 = 0
    for index in position..<(position + 4) {
      guard let digit = hexValue(text[index]) else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}
