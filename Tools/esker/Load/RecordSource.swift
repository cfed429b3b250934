import Esker

/// What a source came upon.
enum SourceStep {
  /// A record: the source has it until the next step.
  case record
  /// A line without anything on it.
  case blank
  /// Something on that line that is not a record, and why.
  case bad(line: Int, why: String)
  case end
}

/// Reads records of one format from an input.
protocol RecordSource {
  /// Reads what comes before the first record. Called once, before ``next(_:)``.
  mutating func begin(_ reader: inout LineReader) throws

  /// Reads the next record.
  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep

  /// Calls `body` with the record's key and value.
  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws

  /// The keyspace that the record names; nil: none.
  var keyspace: String? { get }

  /// What the record says of its expiry; nil: nothing.
  var expiry: Expiry? { get }
}

extension RecordSource {
  mutating func begin(_ reader: inout LineReader) {}
  var keyspace: String? { nil }
  var expiry: Expiry? { nil }
}

extension LineReader {
  /// The bytes of a line, without the mark that the first one may begin with.
  func text(_ range: Range<Int>) -> Range<Int> {
    guard lineNumber == 1 else { return range }
    return range.lowerBound + byteOrderMarkLength(buffer.span.extracting(range))..<range.upperBound
  }

  /// Why a line beyond the limit is not read.
  var tooLong: String { "longer than \(HumanUnits.count(limit)) bytes: see --max-line" }
}

/// Whether a line of JSON is empty.
func isBlank(_ line: Span<UInt8>) -> Bool {
  var cursor = JSONCursor()
  cursor.skipSpace(line)
  return cursor.position == line.count
}
