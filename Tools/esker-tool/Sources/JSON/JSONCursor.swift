/// A position in a JSON document and the steps that move it: each checks one piece of the grammar and stops after it.
struct JSONCursor {
  /// The range of a string's text, without quotes.
  struct StringRange {
    let bytes: Range<Int>
    let hasEscapes: Bool
  }

  var position = 0

  mutating func skipSpace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  /// Moves past `byte` if it is next.
  mutating func skip(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  /// Moves past `byte`, which must be next.
  mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>, wanted: String? = nil) throws(JSONFault) {
    guard skip(byte, bytes) else {
      throw unexpected(bytes, wanted: wanted ?? "'\(Character(Unicode.Scalar(byte)))'")
    }
  }

  func unexpected(_ bytes: Span<UInt8>, wanted: String) -> JSONFault {
    guard position < bytes.count else { return JSONFault(.unexpectedEnd, at: position) }
    return JSONFault(.unexpected(bytes[position], wanted: wanted), at: position)
  }

  // MARK: Values

  /// Moves past one value of any kind, inside `depth` open objects and arrays.
  ///
  /// Open brackets are kept as bits, not as stack frames, so a document cannot overflow the stack.
  mutating func skipValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONFault) {
    var open = BracketStack(limit: JSONScanner.maximumDepth - depth)
    while true {
      guard position < bytes.count else { throw JSONFault(.unexpectedEnd, at: position) }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        _ = try string(bytes, wanted: "a string")
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        try skipNumber(bytes)
      case UInt8(ascii: "t"): try skipWord("true", bytes)
      case UInt8(ascii: "f"): try skipWord("false", bytes)
      case UInt8(ascii: "n"): try skipWord("null", bytes)
      case UInt8(ascii: "{"):
        guard open.push(isObject: true) else { throw JSONFault(.nestedTooDeeply, at: position) }
        position += 1
        skipSpace(bytes)
        guard skip(UInt8(ascii: "}"), bytes) else {
          try name(bytes)
          continue
        }
        open.pop()
      case UInt8(ascii: "["):
        guard open.push(isObject: false) else { throw JSONFault(.nestedTooDeeply, at: position) }
        position += 1
        skipSpace(bytes)
        guard skip(UInt8(ascii: "]"), bytes) else { continue }
        open.pop()
      default:
        throw unexpected(bytes, wanted: "a value")
      }
      if try !skipToNextValue(bytes, &open) { return }
    }
  }

  /// After a value: closes the containers that end here, and moves to the next value; false if the outermost one is
  /// complete.
  private mutating func skipToNextValue(_ bytes: Span<UInt8>, _ open: inout BracketStack) throws(JSONFault) -> Bool {
    while !open.isEmpty {
      skipSpace(bytes)
      if skip(UInt8(ascii: ","), bytes) {
        skipSpace(bytes)
        if open.isObject { try name(bytes) }
        return true
      }
      if open.isObject {
        try expect(UInt8(ascii: "}"), bytes, wanted: "',' or '}'")
      } else {
        try expect(UInt8(ascii: "]"), bytes, wanted: "',' or ']'")
      }
      open.pop()
    }
    return false
  }

  /// Moves past a field's name and colon, to its value, and returns the range of the name.
  @discardableResult
  mutating func name(_ bytes: Span<UInt8>) throws(JSONFault) -> StringRange {
    let name = try string(bytes, wanted: "a field's name")
    skipSpace(bytes)
    try expect(UInt8(ascii: ":"), bytes)
    skipSpace(bytes)
    return name
  }

  /// Moves past a list or an object. `body` moves past each element or, with the name of the field, past its value.
  mutating func forEachMember(
    _ bytes: Span<UInt8>,
    _ body: (inout JSONCursor, StringRange?) throws -> Void
  ) throws {
    let isObject = skip(UInt8(ascii: "{"), bytes)
    if !isObject { try expect(UInt8(ascii: "["), bytes) }
    let end = UInt8(ascii: isObject ? "}" : "]")
    skipSpace(bytes)
    guard !skip(end, bytes) else { return }
    repeat {
      skipSpace(bytes)
      try body(&self, isObject ? name(bytes) : nil)
      skipSpace(bytes)
    } while skip(UInt8(ascii: ","), bytes)
    try expect(end, bytes)
  }

  private mutating func skipWord(_ word: String, _ bytes: Span<UInt8>) throws(JSONFault) {
    for byte in word.utf8 {
      guard position < bytes.count, bytes[position] == byte else { throw unexpected(bytes, wanted: word) }
      position += 1
    }
  }

  /// Moves past a number: an optional minus, digits without a leading zero, an optional fraction and an optional exponent.
  mutating func skipNumber(_ bytes: Span<UInt8>) throws(JSONFault) {
    _ = skip(UInt8(ascii: "-"), bytes)
    if !skip(UInt8(ascii: "0"), bytes) { try skipDigits(bytes) }
    if skip(UInt8(ascii: "."), bytes) { try skipDigits(bytes) }
    if skip(UInt8(ascii: "e"), bytes) || skip(UInt8(ascii: "E"), bytes) {
      if !skip(UInt8(ascii: "+"), bytes) { _ = skip(UInt8(ascii: "-"), bytes) }
      try skipDigits(bytes)
    }
  }

  private mutating func skipDigits(_ bytes: Span<UInt8>) throws(JSONFault) {
    let start = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    guard position > start else { throw unexpected(bytes, wanted: "a digit") }
  }
}

/// A bit for each bracket around a position: whether it is a brace.
private struct BracketStack {
  private var bits = SIMD8<UInt64>(repeating: 0)
  private var count = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = min(limit, 512)
  }

  var isEmpty: Bool { count == 0 }

  /// Whether the innermost bracket is an object's.
  var isObject: Bool { bits[(count - 1) >> 6] >> UInt64((count - 1) & 63) & 1 == 1 }

  /// False if there is no room for another level.
  mutating func push(isObject: Bool) -> Bool {
    guard count < limit else { return false }
    let bit: UInt64 = 1 << UInt64(count & 63)
    if isObject { bits[count >> 6] |= bit } else { bits[count >> 6] &= ~bit }
    count += 1
    return true
  }

  mutating func pop() {
    count -= 1
  }
}
