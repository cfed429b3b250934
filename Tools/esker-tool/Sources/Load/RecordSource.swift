import Esker

/// The result of a step.
enum SourceStep {
  /// A record, available until the next step.
  case record
  /// Something of a kind that is not loaded, such as "list".
  case notTaken(kind: String)
  /// An empty line.
  case blank
  /// An invalid record on this line, and the reason.
  case bad(line: Int, why: String)
  case end
}

/// Reads records of one format from an input.
protocol RecordSource {
  /// What the numbers of ``SourceStep/bad(line:why:)`` count.
  static var unit: String { get }

  /// Reads everything before the first record. Called once, before ``next(_:)``.
  mutating func begin(_ reader: inout LineReader) throws

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep

  /// The number of the record, among what ``unit`` says.
  func number(_ reader: borrowing LineReader) -> Int

  /// The place behind the record that was read last; nil if there is none from which a later load could go on.
  func place(_ reader: borrowing LineReader) -> LoadPlace?

  /// Moves to the place where an earlier load of the same input stopped. Called behind ``begin(_:)``.
  ///
  /// - Parameter progress: Called now and then with the reader's position.
  /// - Returns: False if the input is another one.
  mutating func resume(
    at place: LoadPlace,
    _ reader: inout LineReader,
    _ progress: (Int) throws(ToolError) -> Void
  ) throws(ToolError) -> Bool

  /// Calls `body` with the record's key and value.
  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws

  /// The keyspace that the record names; nil if none.
  var keyspace: String? { get }

  /// The forms of the keyspace's keys and values; nil if the record does not name them.
  var forms: LoadTarget.Forms? { get }

  /// The record's expiry; nil if it has none.
  var expiry: Expiry? { get }
}

extension RecordSource {
  static var unit: String { "line" }
  mutating func begin(_ reader: inout LineReader) {}
  func number(_ reader: borrowing LineReader) -> Int { reader.lineNumber }

  func place(_ reader: borrowing LineReader) -> LoadPlace? {
    LoadPlace(bytes: reader.bytesConsumed, lines: reader.lineNumber, checksum: reader.checksum)
  }

  mutating func resume(
    at place: LoadPlace,
    _ reader: inout LineReader,
    _ progress: (Int) throws(ToolError) -> Void
  ) throws(ToolError) -> Bool {
    try reader.skip(to: place.bytes, lines: place.lines, progress: progress) && reader.checksum == place.checksum
  }

  var keyspace: String? { nil }
  var forms: LoadTarget.Forms? { nil }
  var expiry: Expiry? { nil }

  /// Whether the record has expired.
  var isExpired: Bool {
    if case .at(let time) = expiry { time <= Options.Clock.system.now() } else { false }
  }
}

extension LineReader {
  /// The bytes of a line, without the byte order mark with which the first one may begin.
  func text(_ range: Range<Int>) -> Range<Int> {
    guard lineNumber == 1 else { return range }
    return range.lowerBound + byteOrderMarkLength(ContiguousArray(buffer).span.extracting(range))..<range.upperBound
  }

  /// The error for a line beyond the limit.
  var tooLong: String { "longer than \(NumberText.count(limit)) bytes: see --max-line" }
}

/// Whether a line of JSON is empty.
func isBlank(_ line: Span<UInt8>) -> Bool {
  var cursor = JSONCursor()
  cursor.skipSpace(line)
  return cursor.position == line.count
}
