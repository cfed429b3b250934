import Esker

/// The elements of a JSON list, which may be as long as it likes and on any number of lines: the value is the unchanged element,
/// the key one of its fields. The list is the input, or a field of the object that the input is.
struct ListSource: RecordSource {
  /// The field that has the list; nil if the input is the list.
  private let list: String?
  private var scanner: JSONScanner
  private var bounds = ElementBounds()
  private var element = 0..<0
  private var isBehindComma = false
  private var isEnded = false

  init(keyField: KeyField, list: String? = nil) {
    self.list = list
    scanner = JSONScanner(keyField)
  }

  /// Whether a list is what the input begins with.
  static func isNext(in reader: inout LineReader) throws(ToolError) -> Bool {
    let first = try reader.peek { (bytes, isAtEnd) -> UInt8? in
      if bytes.count < 3, !isAtEnd { return nil }
      var cursor = JSONCursor()
      cursor.position = byteOrderMarkLength(bytes)
      cursor.skipSpace(bytes)
      return cursor.position < bytes.count ? bytes[cursor.position] : nil
    }
    return first == UInt8(ascii: "[")
  }

  mutating func begin(_ reader: inout LineReader) throws(ToolError) {
    if let list {
      var named = NamedList(list)
      return try named.find(&reader)
    }
    try reader.pass(through: UInt8(ascii: "["))
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    // Behind a list in an object come others, which are of no interest.
    if isEnded { return list == nil ? try rest(&reader) : .end }
    switch try reader.next(&bounds) {
    case .end:
      isEnded = true
      if !bounds.isClosed { return .bad(line: reader.lineNumber + 1, why: "the list is not closed") }
      return isBehindComma ? bad("nothing where an object was expected", reader) : .blank
    case .tooLong: return bad(reader.tooLong, reader)
    case .text(let range):
      isBehindComma = reader.buffer[range.upperBound] == UInt8(ascii: ",")
      element = trimmed(range, reader)
      guard !element.isEmpty else { return bad("nothing where an object was expected", reader) }
      do throws(JSONFault) { try scanner.scan(ContiguousArray(reader.buffer).span.extracting(element)) } catch {
        return bad(error.description(field: scanner.field), reader)
      }
      return .record
    }
  }

  /// What is behind the list: nothing, or something that is wrong.
  private func rest(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next() {
    case .end: return .end
    case .text(let range) where isBlank(ContiguousArray(reader.buffer).span.extracting(range)): return .blank
    case .text, .tooLong: return .bad(line: reader.lineNumber, why: "bytes after the end of the list")
    }
  }

  private func bad(_ why: String, _ reader: borrowing LineReader) -> SourceStep {
    let place = NumberText.count(reader.bytesConsumed)
    return .bad(line: reader.lineNumber + 1, why: "the element that ends at byte \(place): \(why)")
  }

  private func trimmed(_ range: Range<Int>, _ reader: borrowing LineReader) -> Range<Int> {
    var cursor = JSONCursor()
    let text = ContiguousArray(reader.buffer).span.extracting(range)
    cursor.skipSpace(text)
    var end = text.count
    while end > cursor.position, isBlank(text.extracting(end - 1..<end)) { end -= 1 }
    return range.lowerBound + cursor.position..<range.lowerBound + end
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(scanner.key).span, ContiguousArray(reader.buffer).span.extracting(element))
  }
}
