/// Builds the compact JSON that the tool prints, with fields in the order given.
struct JSONWriter {
  /// The bytes written so far.
  private(set) var bytes: [UInt8] = []

  private var needsComma = false

  /// Clears the contents but keeps the storage.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  mutating func beginObject() { open(UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray() { open(UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Starts a field; its value must follow.
  mutating func name(_ name: String) {
    separate()
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func value(_ text: String) {
    separate()
    quote(text)
    needsComma = true
  }

  /// A string from well-formed UTF-8.
  mutating func value(utf8 text: Span<UInt8>) {
    separate()
    quote(text)
    needsComma = true
  }

  mutating func value(_ flag: Bool) { literal(flag ? "true" : "false") }
  mutating func value(_ number: Int) { literal(String(number)) }
  mutating func value(_ number: UInt64) { literal(String(number)) }

  /// A number in its shortest form; null if it is not finite, which JSON cannot express.
  mutating func value(_ number: Double) { literal(number.isFinite ? "\(number)" : "null") }

  mutating func null() { literal("null") }

  mutating func newline() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  /// A value that is JSON already.
  mutating func literal(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  /// What needs no escape, as most names, is not copied before.
  private mutating func quote(_ text: String) {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
      return quote(ContiguousArray(text.utf8).span)
    }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func quote(_ text: Span<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var plain = 0
    for index in 0..<text.count {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      bytes.append(contentsOf: text.extracting(plain..<index))
      plain = index + 1
      escape(byte)
    }
    bytes.append(contentsOf: text.extracting(plain..<text.count))
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0..<0x20:
      bytes += Array("u00".utf8) + [hexDigit(byte >> 4), hexDigit(byte & 15)]
    default: bytes.append(byte)
    }
  }
}
