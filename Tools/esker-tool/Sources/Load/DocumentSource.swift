import Esker

/// Documents, one per line: the value is the unchanged line, the key one of its fields.
struct DocumentSource: RecordSource {
  private var scanner: JSONScanner
  private var line = 0..<0

  init(keyField: KeyField) {
    scanner = JSONScanner(keyField)
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next() {
    case .end: return .end
    case .tooLong: return .bad(line: reader.lineNumber, why: reader.tooLong)
    case .text(let range):
      line = reader.text(range)
      let text = ContiguousArray(reader.buffer).span.extracting(line)
      if isBlank(text) { return .blank }
      do throws(JSONFault) { try scanner.scan(text) } catch {
        return .bad(line: reader.lineNumber, why: error.description(field: scanner.field))
      }
      return .record
    }
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(scanner.key).span, ContiguousArray(reader.buffer).span.extracting(line))
  }
}
