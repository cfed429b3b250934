import EskerCBOR
import Foundation

/// JSON as CBOR: one item, with the fields of an object in the order given, in the form in which typed storages write it.
///
/// What JSON has no type for is an object with one field, a ``CBORText/Mark``.
struct CBORFromJSON {
  private var bytes: [UInt8] = []
  private var text: [UInt8] = []
  private var depth = 0

  private static let encoder = CBOREncoder()

  private struct Unsuitable: Error {}

  /// The bytes of an item; nil if the text is not JSON, is nested too deeply, or names a field of an object twice.
  static func bytes(of json: Span<UInt8>) -> [UInt8]? {
    var reader = CBORFromJSON()
    var cursor = JSONCursor()
    cursor.skipSpace(json)
    guard (try? reader.value(json, &cursor)) != nil else { return nil }
    cursor.skipSpace(json)
    return cursor.position == json.count ? reader.bytes : nil
  }

  private mutating func value(_ json: Span<UInt8>, _ cursor: inout JSONCursor) throws {
    depth += 1
    defer { depth -= 1 }
    guard depth <= maximumDepth, cursor.position < json.count else { throw Unsuitable() }
    switch json[cursor.position] {
    case UInt8(ascii: "{"): if try !mark(json, &cursor) { try container(json, &cursor, major: 5) }
    case UInt8(ascii: "["): try container(json, &cursor, major: 4)
    case UInt8(ascii: "\""): try addText(json, cursor.string(json, wanted: "a string"))
    default:
      let start = cursor.position
      try cursor.skipValue(json, depth: depth)
      try scalar(json.extracting(start..<cursor.position).text)
    }
  }

  /// A number, true, false or null.
  private mutating func scalar(_ text: String) throws {
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

  /// A list or an object.
  private mutating func container(_ json: Span<UInt8>, _ cursor: inout JSONCursor, major: UInt8) throws {
    let start = bytes.count
    var count = 0
    var names: Set<[UInt8]> = []
    try cursor.forEachMember(json) { cursor, name in
      if let name {
        try addText(json, name)
        guard names.insert(text).inserted else { throw Unsuitable() }
      }
      try value(json, &cursor)
      count += 1
    }
    addHead(major, count, at: start)
  }

  /// What a mark stands for; false, with nothing read, if the object is not one.
  private mutating func mark(_ json: Span<UInt8>, _ cursor: inout JSONCursor) throws -> Bool {
    guard let (mark, text) = CBORText.Mark.read(json.extracting(cursor.position...)) else { return false }
    switch mark {
    case .bytes: try add(Data(base64Encoded: text))
    case .date: try add(parseInstant(text))
    case .uuid: try add(UUID(uuidString: text))
    case .url: try add(URL(string: text))
    case .decimal: try add(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    case .float: try add(Double(text))
    }
    try cursor.skipValue(json, depth: depth)
    return true
  }

  private mutating func add<Value: Encodable>(_ value: Value?) throws {
    guard let value else { throw Unsuitable() }
    try Self.encoder.encode(value, into: &bytes)
  }

  private mutating func addText(_ json: Span<UInt8>, _ string: JSONCursor.StringRange) throws {
    text.removeAll(keepingCapacity: true)
    guard JSONCursor.unescape(json.extracting(string.bytes), into: &text) else { throw Unsuitable() }
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
