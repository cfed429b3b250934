import Esker
import EskerCBOR
import Foundation

/// CBOR as JSON on one line, with the fields of a map in the order in which they are stored.
///
/// JSON has fewer types: bytes become base 64, instants ISO 8601, a UUID its usual digits, a number that is not finite null.
/// Where the JSON is to be read back, such a value is marked instead: an object with one field, ``Mark``, whose value is its text.
struct CBORText {
  /// What JSON has no type for, by the name of the field that marks it.
  enum Mark: String, CaseIterable {
    case bytes = "$base64"
    case date = "$date"
    case uuid = "$uuid"
    case url = "$url"
    case decimal = "$decimal"
    /// A number that is not finite.
    case float = "$float"

    /// The mark of an object of JSON, and its text; nil if it is none.
    static func read(_ json: Span<UInt8>) -> (Mark, String)? {
      var cursor = JSONCursor()
      var text: [UInt8] = []
      guard cursor.skip(UInt8(ascii: "{"), json) else { return nil }
      cursor.skipSpace(json)
      guard let name = try? cursor.name(json), JSONCursor.unescape(json.extracting(name.bytes), into: &text),
        let mark = Mark(rawValue: String(decoding: text, as: UTF8.self))
      else { return nil }
      text.removeAll()
      guard let string = try? cursor.string(json, wanted: "its text"),
        JSONCursor.unescape(json.extracting(string.bytes), into: &text)
      else { return nil }
      cursor.skipSpace(json)
      guard cursor.skip(UInt8(ascii: "}"), json) else { return nil }
      return (mark, String(decoding: text, as: UTF8.self))
    }
  }

  private let bytes: [UInt8]
  private let isMarked: Bool
  private var position = 0
  private var depth = 0
  private var writer = JSONWriter()

  /// As deep as the decoder goes.
  private static let maximumDepth = 256

  private struct Unreadable: Error {}

  /// The JSON of exactly one item; nil if the bytes are anything else.
  ///
  /// - Parameter isMarked: Whether ``CBORFromJSON`` is to read it back.
  static func json(of bytes: [UInt8], isMarked: Bool = false) -> String? {
    var text = CBORText(bytes: bytes, isMarked: isMarked)
    guard (try? text.item()) != nil, text.position == bytes.count else { return nil }
    return String(validating: text.writer.bytes, as: UTF8.self)
  }

  private init(bytes: [UInt8], isMarked: Bool) {
    self.bytes = bytes
    self.isMarked = isMarked
  }

  /// The first byte of an item, and its number; nil for an item of indefinite length.
  private mutating func head() throws(Unreadable) -> (major: UInt8, low: UInt8, number: UInt64?) {
    guard position < bytes.count else { throw Unreadable() }
    let (major, low) = (bytes[position] >> 5, bytes[position] & 31)
    position += 1
    switch low {
    case 0..<24: return (major, low, UInt64(low))
    case 24...27:
      let digits = try take(1 << (low - 24))
      return (major, low, digits.reduce(0) { $0 << 8 | UInt64($1) })
    case 31: return (major, low, nil)
    default: throw Unreadable()
    }
  }

  private mutating func take(_ count: UInt64) throws(Unreadable) -> ArraySlice<UInt8> {
    guard count <= UInt64(bytes.count - position) else { throw Unreadable() }
    defer { position += Int(count) }
    return bytes[position..<position + Int(count)]
  }

  private mutating func item() throws(Unreadable) {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else { throw Unreadable() }
    let start = position
    let (major, low, number) = try head()
    switch (major, number) {
    case (0, let number?): writer.literal("\(number)")
    case (1, let number?): writer.literal("\(~Int128(number))")
    case (2, _): write(.bytes, Data(try string(of: 2, number)).base64EncodedString())
    case (3, _): writer.value(try text(number))
    case (4, _):
      writer.beginArray()
      try elements(number) { (walk) throws(Unreadable) in try walk.item() }
      writer.endArray()
    case (5, _):
      writer.beginObject()
      try elements(number) { (walk) throws(Unreadable) in
        walk.writer.name(try walk.name())
        try walk.item()
      }
      writer.endObject()
    case (6, let tag?): try tagged(tag, start)
    case (7, _): try simple(low, start)
    default: throw Unreadable()
    }
  }

  /// So many elements, or those before the stop byte.
  private mutating func elements(
    _ count: UInt64?,
    _ body: (inout CBORText) throws(Unreadable) -> Void
  ) throws(Unreadable) {
    var left = count ?? .max
    while left > 0 {
      if count == nil, position < bytes.count, bytes[position] == 0xFF {
        position += 1
        return
      }
      // Each takes a byte at least, so a number that lies ends with the bytes.
      try body(&self)
      left -= 1
    }
  }

  /// The content of a string, whole or in pieces.
  private mutating func string(of major: UInt8, _ count: UInt64?) throws(Unreadable) -> [UInt8] {
    if let count { return Array(try take(count)) }
    var content: [UInt8] = []
    try elements(nil) { (walk) throws(Unreadable) in
      guard case (major, _, let count?) = try walk.head() else { throw Unreadable() }
      content += try walk.take(count)
    }
    return content
  }

  private mutating func text(_ count: UInt64?) throws(Unreadable) -> String {
    guard let text = String(validating: try string(of: 3, count), as: UTF8.self) else { throw Unreadable() }
    return text
  }

  /// A key of a map: its text, or its JSON if it is anything else.
  private mutating func name() throws(Unreadable) -> String {
    guard position < bytes.count, bytes[position] >> 5 != 3 else { return try text(head().number) }
    let outer = writer
    defer { writer = outer }
    writer = JSONWriter()
    try item()
    guard let name = String(validating: writer.bytes, as: UTF8.self) else { throw Unreadable() }
    return name
  }

  /// A tag and its content, of which the tag may say what it is.
  private mutating func tagged(_ tag: UInt64, _ start: Int) throws(Unreadable) {
    let before = writer
    try item()
    let whole = Array(bytes[start..<position])
    let decoder = CBORDecoder()
    let shown: (mark: Mark, text: String)?
    switch tag {
    case 0, 1, 1001: shown = (try? decoder.decode(Date.self, from: whole)).map { (.date, instant(of: $0)) }
    case 2, 3, 4: shown = (try? decoder.decode(Decimal.self, from: whole)).map { (.decimal, "\($0)") }
    case 32: shown = (try? decoder.decode(URL.self, from: whole)).map { (.url, $0.absoluteString) }
    case 37: shown = (try? decoder.decode(UUID.self, from: whole)).map { (.uuid, $0.uuidString) }
    default: shown = nil
    }
    guard let shown else { return }
    writer = before
    write(shown.mark, shown.text)
  }

  private mutating func write(_ mark: Mark, _ text: String) {
    guard isMarked else {
      if mark == .decimal { writer.literal(text) } else { writer.value(text) }
      return
    }
    writer.object { $0.field(mark.rawValue, text) }
  }

  private mutating func simple(_ low: UInt8, _ start: Int) throws(Unreadable) {
    switch low {
    case 20: writer.value(false)
    case 21: writer.value(true)
    case 22, 23: writer.null()
    case 25...27:
      guard let number = try? CBORDecoder().decode(Double.self, from: Array(bytes[start..<position])) else {
        throw Unreadable()
      }
      if isMarked, !number.isFinite { write(.float, "\(number)") } else { writer.value(number) }
    default: throw Unreadable()
    }
  }
}
