import Esker

/// Entries as written by `dump`, one line of JSON each.
struct EntrySource: RecordSource {
  private var scanner = EntryScanner()

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next() {
    case .end: return .end
    case .tooLong: return .bad(line: reader.lineNumber, why: reader.tooLong)
    case .text(let range):
      let text = ContiguousArray(reader.buffer).span.extracting(reader.text(range))
      if isBlank(text) { return .blank }
      do {
        try scanner.scan(text)
        return .record
      } catch let fault as JSONFault {
        return .bad(line: reader.lineNumber, why: fault.description(field: ""))
      } catch let fault as EntryFault {
        return .bad(line: reader.lineNumber, why: fault.description)
      } catch {
        return .bad(line: reader.lineNumber, why: "\(error)")
      }
    }
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(scanner.entry.key).span, ContiguousArray(scanner.entry.value).span)
  }

  var keyspace: String? { scanner.entry.keyspace }
  var forms: LoadTarget.Forms? { scanner.entry.forms }
  var expiry: Expiry? { scanner.entry.expiry }
}
