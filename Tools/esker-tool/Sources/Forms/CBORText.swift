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
  private let reader: ItemReader
  private let isMarked: Bool
  private var depth = 0
  private var writer = JSONWriter()

  private struct Unreadable: Error {}

  /// The JSON of exactly one item; nil if the bytes are anything else.
  ///
  /// - Parameter isMarked: Whether ``CBORFromJSON`` is to read it back.
  static func json(of bytes: [UInt8], isMarked: Bool = false) -> String? {
    ItemReader.read(bytes) { reader in
      var text = CBORText(bytes, reader, isMarked: isMarked)
      guard (try? text.item(at: 0)) == bytes.count else { return nil }
      return String(validating: text.writer.bytes, as: UTF8.self)
    }
  }

  private init(_ bytes: [UInt8], _ reader: ItemReader, isMarked: Bool) {
    self.bytes = bytes
    self.reader = reader
    self.isMarked = isMarked
  }

  /// Writes the item at an offset, and returns where it ends.
  private mutating func item(at start: Int) throws -> Int {
    depth += 1
    defer { depth -= 1 }
    guard depth <= maximumDepth else { throw Unreadable() }
    let head = try reader.head(at: start)
    var end = head.end
    switch head.major {
    case MajorType.unsigned: writer.literal("\(head.argument)")
    case MajorType.negative: writer.literal("\(~Int128(head.argument))")
    case MajorType.bytes:
      let string = try reader.bytes(head)
      write(.bytes, Data(string.bytes).base64EncodedString())
      end = string.end
    case MajorType.text:
      let string = try reader.text(head)
      writer.value(string.text)
      end = string.end
    case MajorType.array:
      writer.beginArray()
      for _ in 0..<(try reader.items(head)) { end = try item(at: end) }
      writer.endArray()
      if head.isIndefinite { end += 1 }
    case MajorType.map:
      writer.beginObject()
      for _ in 0..<(try reader.items(head)) { end = try item(at: try name(at: end)) }
      writer.endObject()
      if head.isIndefinite { end += 1 }
    case MajorType.tag: end = try tagged(head, start)
    default: try simple(head, start)
    }
    return end
  }

  /// A key of a map: its text, or its JSON if it is anything else. Returns where it ends.
  private mutating func name(at start: Int) throws -> Int {
    let head = try reader.head(at: start)
    if head.major == MajorType.text {
      let string = try reader.text(head)
      writer.name(string.text)
      return string.end
    }
    let outer = writer
    writer = JSONWriter()
    let end = try item(at: start)
    guard let name = String(validating: writer.bytes, as: UTF8.self) else { throw Unreadable() }
    writer = outer
    writer.name(name)
    return end
  }

  /// A tag and its content, of which the tag may say what it is. Returns where that ends.
  private mutating func tagged(_ head: ItemReader.Head, _ start: Int) throws -> Int {
    let before = writer
    let end = try item(at: head.end)
    let shown: (mark: Mark, text: String)?
    switch head.argument {
    case CBORTag.dateText, CBORTag.epoch, CBORTag.extendedTime:
      shown = decoded(Date.self, start, end).map { (.date, instant(of: $0)) }
    case CBORTag.bignum, CBORTag.negativeBignum, CBORTag.decimalFraction:
      shown = decoded(Decimal.self, start, end).map { (.decimal, "\($0)") }
    case CBORTag.uri: shown = decoded(URL.self, start, end).map { (.url, $0.absoluteString) }
    case CBORTag.uuid: shown = decoded(UUID.self, start, end).map { (.uuid, $0.uuidString) }
    default: shown = nil
    }
    if let shown {
      writer = before
      write(shown.mark, shown.text)
    }
    return end
  }

  private func decoded<Value: CBORDecodable>(_ type: Value.Type, _ start: Int, _ end: Int) -> Value? {
    try? CBORDecoder().decode(type, from: Array(bytes[start..<end]))
  }

  private mutating func write(_ mark: Mark, _ text: String) {
    if isMarked {
      writer.object { $0.field(mark.rawValue, text) }
    } else if mark == .decimal {
      writer.literal(text)
    } else {
      writer.value(text)
    }
  }

  private mutating func simple(_ head: ItemReader.Head, _ start: Int) throws {
    switch head.initial {
    case InitialByte.no, InitialByte.yes: writer.value(head.initial == InitialByte.yes)
    case InitialByte.null, InitialByte.undefined: writer.null()
    case InitialByte.half, InitialByte.single, InitialByte.double:
      guard let number = decoded(Double.self, start, head.end) else { throw Unreadable() }
      if isMarked, !number.isFinite { write(.float, "\(number)") } else { writer.value(number) }
    default: throw Unreadable()
    }
  }
}
