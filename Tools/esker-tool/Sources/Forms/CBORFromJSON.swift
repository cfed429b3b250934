import EskerCBOR
import Foundation

/// JSON as CBOR: one item, with the fields of an object in the order given, in the form in which typed storages write it.
///
/// What JSON has no type for is an object with one field, a ``CBORText/Mark``.
struct CBORFromJSON {
  private var cursor = JSONCursor()
  private var bytes: [UInt8] = []
  private var text: [UInt8] = []
  private var depth = 0

  private static let encoder = CBOREncoder()
  /// As deep as the decoder goes.
  private static let maximumDepth = 256

  private struct Unsuitable: Error {}

  /// The bytes of an item; nil if the text is not JSON, is nested too deeply, or names a field of an object twice.
  static func bytes(of json: Span<UInt8>) -> [UInt8]? {
    var reader = CBORFromJSON()
    reader.cursor.skipSpace(json)
    guard (try? reader.value(json)) != nil else { return nil }
    reader.cursor.skipSpace(json)
    return reader.cursor.position == json.count ? reader.bytes : nil
  }

  private mutating func value(_ json: Span<UInt8>) throws {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth, cursor.position < json.count else { throw Unsuitable() }
    switch json[cursor.position] {
    case UInt8(ascii: "{"): if try !mark(json) { try object(json) }
    case UInt8(ascii: "["): try array(json)
    case UInt8(ascii: "\""):
      try string(json)
      addText()
    default: try scalar(json)
    }
  }

  /// A number, true, false or null.
  private mutating func scalar(_ json: Span<UInt8>) throws {
    let start = cursor.position
    try cursor.skipValue(json, depth: depth)
    let text = json.extracting(start..<cursor.position).text
    switch text {
    case "true": try add(true)
    case "false": try add(false)
    case "null": bytes.append(0xF6)
    default:
      if let number = Int64(text) {
        try add(number)
      } else if let number = UInt64(text) {
        try add(number)
      } else if let number = Double(text), number.isFinite {
        try add(number)
      } else {
        throw Unsuitable()
      }
    }
  }

  private mutating func array(_ json: Span<UInt8>) throws {
    let start = bytes.count
    var count = 0
    cursor.position += 1
    cursor.skipSpace(json)
    if !cursor.skip(UInt8(ascii: "]"), json) {
      repeat {
        cursor.skipSpace(json)
        try value(json)
        cursor.skipSpace(json)
        count += 1
      } while cursor.skip(UInt8(ascii: ","), json)
      try cursor.expect(UInt8(ascii: "]"), json)
    }
    addHead(4, count, at: start)
  }

  private mutating func object(_ json: Span<UInt8>) throws {
    let start = bytes.count
    var names: Set<[UInt8]> = []
    cursor.position += 1
    cursor.skipSpace(json)
    if !cursor.skip(UInt8(ascii: "}"), json) {
      repeat {
        cursor.skipSpace(json)
        try string(json)
        guard names.insert(text).inserted else { throw Unsuitable() }
        addText()
        try colon(json)
        try value(json)
        cursor.skipSpace(json)
      } while cursor.skip(UInt8(ascii: ","), json)
      try cursor.expect(UInt8(ascii: "}"), json)
    }
    addHead(5, names.count, at: start)
  }

  /// What a mark stands for; false, with nothing read, if the object is not one.
  private mutating func mark(_ json: Span<UInt8>) throws -> Bool {
    let start = cursor
    guard let (mark, text) = try? marked(json) else {
      cursor = start
      return false
    }
    switch mark {
    case .bytes: try add(Data(base64Encoded: text))
    case .date: try add(parseInstant(text))
    case .uuid: try add(UUID(uuidString: text))
    case .url: try add(URL(string: text))
    case .decimal: try add(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    case .float: try add(Double(text))
    }
    return true
  }

  private mutating func marked(_ json: Span<UInt8>) throws -> (CBORText.Mark, String) {
    cursor.position += 1
    cursor.skipSpace(json)
    try string(json)
    guard let mark = CBORText.Mark(rawValue: String(decoding: text, as: UTF8.self)) else { throw Unsuitable() }
    try colon(json)
    try string(json)
    cursor.skipSpace(json)
    try cursor.expect(UInt8(ascii: "}"), json)
    return (mark, String(decoding: text, as: UTF8.self))
  }

  private mutating func colon(_ json: Span<UInt8>) throws(JSONFault) {
    cursor.skipSpace(json)
    try cursor.expect(UInt8(ascii: ":"), json)
    cursor.skipSpace(json)
  }

  /// Reads a string into `text`.
  private mutating func string(_ json: Span<UInt8>) throws {
    let string = try cursor.string(json, wanted: "a string")
    text.removeAll(keepingCapacity: true)
    guard JSONCursor.unescape(json.extracting(string.bytes), into: &text) else { throw Unsuitable() }
  }

  private mutating func add<Value: Encodable>(_ value: Value?) throws {
    guard let value else { throw Unsuitable() }
    try Self.encoder.encode(value, into: &bytes)
  }

  private mutating func addText() {
    addHead(3, text.count, at: bytes.count)
    bytes += text
  }

  /// The first byte of an item and its number, in the shortest form.
  private mutating func addHead(_ major: UInt8, _ count: Int, at position: Int) {
    let number = UInt64(count)
    var head: [UInt8] = []
    let (low, length): (UInt8, Int) =
      switch number {
      case 0..<24: (UInt8(number), 0)
      case 0...0xFF: (24, 1)
      case 0...0xFFFF: (25, 2)
      case 0...0xFFFF_FFFF: (26, 4)
      default: (27, 8)
      }
    head.append(major << 5 | low)
    for place in (0..<length).reversed() { head.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
    bytes.insert(contentsOf: head, at: position)
  }
}
