import Esker

/// A list that is a field of the object that an input is: such as the objects of a class in what Realm exports.
struct NamedList {
  private enum Member {
    /// The name of a field, and how many bytes come before its value, and how that begins.
    case field([UInt8], length: Int, first: UInt8)
    case end
    case bad(JSONFault)
  }

  private let name: String
  /// Fields that come before it, for a message.
  private var others: [String] = []

  init(_ name: String) {
    self.name = name
  }

  /// Moves into the list, before its first element. What comes before it is not looked at closely.
  ///
  /// - Throws: ``ToolError/badBytes(name:offset:why:)`` if there is none.
  mutating func find(_ reader: inout LineReader) throws(ToolError) {
    let start = try reader.peek { (bytes, isAtEnd) -> (length: Int, first: UInt8?)? in
      if bytes.count < 3, !isAtEnd { return nil }
      var cursor = JSONCursor()
      cursor.position = byteOrderMarkLength(bytes)
      cursor.skipSpace(bytes)
      guard cursor.position < bytes.count || isAtEnd else { return nil }
      return (cursor.position, cursor.position < bytes.count ? bytes[cursor.position] : nil)
    }
    guard let start, start.first == UInt8(ascii: "{") else { throw fault("no object of JSON, which has lists", reader) }
    reader.pass(start.length + 1)
    while true {
      switch try member(&reader) {
      case .field(let name, let length, let first) where name.elementsEqual(self.name.utf8):
        guard first == UInt8(ascii: "[") else { throw fault("\"\(self.name)\" is no list", reader) }
        return reader.pass(length + 1)
      case .field(let name, _, _):
        if others.count < 20 { others.append(String(decoding: name, as: UTF8.self)) }
        try skip(&reader)
      case .end:
        let there = others.isEmpty ? "" : ", there are \(others.joined(separator: ", "))"
        throw fault("no list \"\(name)\"" + there, reader)
      case .bad(let problem):
        let place = reader.bytesConsumed + (problem.offset ?? 0)
        throw .badBytes(name: reader.name, offset: place, why: JSONFault(problem.reason).description(field: name))
      }
    }
  }

  /// The field that comes next. Nothing is consumed.
  private func member(_ reader: inout LineReader) throws(ToolError) -> Member {
    try reader.peek { (bytes, isAtEnd) -> Member? in
      var cursor = JSONCursor()
      cursor.skipSpace(bytes)
      if cursor.position < bytes.count, bytes[cursor.position] == UInt8(ascii: "}") { return .end }
      do throws(JSONFault) {
        let name = try cursor.name(bytes)
        guard cursor.position < bytes.count else { throw JSONFault(.unexpectedEnd, at: cursor.position) }
        var text: [UInt8] = []
        _ = JSONCursor.unescape(bytes.extracting(name.bytes), into: &text)
        return .field(text, length: cursor.position, first: bytes[cursor.position])
      } catch {
        // More of it may mend that.
        return isAtEnd ? .bad(error) : nil
      }
    } ?? .end
  }

  /// Passes a field, and the comma behind it.
  private func skip(_ reader: inout LineReader) throws(ToolError) {
    var bounds = ElementBounds()
    bounds.closing = UInt8(ascii: "}")
    _ = try reader.next(&bounds)
  }

  private func fault(_ why: String, _ reader: borrowing LineReader) -> ToolError {
    .badBytes(name: reader.name, offset: reader.bytesConsumed, why: why)
  }
}
