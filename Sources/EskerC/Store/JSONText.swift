/// JSON, written field by field.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  init() {}

  mutating func object(_ name: String?, _ body: (inout JSONText) -> Void) {
    if let name { self.name(name) } else if needsComma { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// A list of objects.
  mutating func list<Elements: Sequence>(
    _ name: String,
    _ elements: Elements,
    _ body: (inout JSONText, Elements.Element) -> Void
  ) {
    self.name(name)
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for element in elements { object(nil) { body(&$0, element) } }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  mutating func field(_ name: String, _ text: String?) {
    self.name(name)
    if let text { quote(text) } else { bytes.append(contentsOf: "null".utf8) }
  }

  /// A number, or null for none and for what is not finite.
  mutating func field(_ name: String, _ number: Double?) {
    self.name(name)
    bytes.append(contentsOf: (number.flatMap { $0.isFinite ? "\($0)" : nil } ?? "null").utf8)
  }

  mutating func field<Number: BinaryInteger>(_ name: String, _ number: Number?) {
    self.name(name)
    bytes.append(contentsOf: (number.map { "\($0)" } ?? "null").utf8)
  }

  private mutating func name(_ name: String) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    quote(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = true
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension JSONText {
  /// Passes the text to the caller, with a zero byte behind it.
  ///
  /// Safety: the memory is made for all that is copied into it. The caller keeps what it passes until its call returns.
  func handOut(
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ length: UnsafeMutablePointer<Int>?
  ) throws {
    let memory = try unsafe allocate(bytes.count + 1)
    unsafe memory.copyBytes(of: bytes)
    unsafe memory.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    unsafe result.pointee = unsafe memory.assumingMemoryBound(to: CChar.self)
    unsafe length?.pointee = bytes.count
  }
}
