import Esker

/// Entries as `mdb_dump` of LMDB writes them, and `db_dump` of Berkeley DB: databases one behind the other, each a header and then
/// a line for each key and for each value.
///
/// The format is that of Berkeley DB's manual, "db_dump": the name of a database becomes that of a keyspace.
struct MDBSource: RecordSource {
  private enum Line {
    case text(Range<Int>)
    case tooLong
  }

  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private(set) var keyspace: String?
  private var isHexadecimal = true
  private var isInData = false
  /// Whether there was a database, so that nothing more need follow.
  private var isComplete = false

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    while !isInData {
      guard try readHeader(&reader) else { return .end }
    }
    guard let text = try line(&reader) else { return .blank }
    let isKey = Self.decode(text, of: reader, isHexadecimal, into: &key)
    let keyLine = reader.lineNumber
    // Also behind a key that is refused: the next line is not a key.
    guard let text = try line(&reader) else { return .bad(line: reader.lineNumber, why: "a key without a value") }
    guard isKey else { return .bad(line: keyLine, why: "a key is not written as this format writes bytes") }
    guard Self.decode(text, of: reader, isHexadecimal, into: &value) else {
      return .bad(line: reader.lineNumber, why: "a value is not written as this format writes bytes")
    }
    return .record
  }

  /// Reads the header of a database; false at the end of the input. Throws for what is none: nothing behind it could be understood.
  private mutating func readHeader(_ reader: inout LineReader) throws(ToolError) -> Bool {
    keyspace = nil
    isHexadecimal = true
    var hasVersion = false
    while true {
      let range: Range<Int>
      switch try reader.next() {
      case .text(let line): range = line
      case .tooLong: throw fault(reader.tooLong, reader)
      case .end:
        guard isComplete, !hasVersion else { throw fault("the input ends where a header was expected", reader) }
        return false
      }
      guard UTF8Check.isValid(ContiguousArray(reader.buffer).span.extracting(range)) else {
        throw fault("not text", reader)
      }
      let text = ContiguousArray(reader.buffer).span.extracting(range).text
      if text.isEmpty, !hasVersion { continue }
      let (name, setting) = Self.setting(text)
      guard name == "VERSION" || hasVersion else {
        throw fault("not a dump of mdb_dump or db_dump, which begins with VERSION=3", reader)
      }
      switch (name, setting) {
      case ("VERSION", "3"): hasVersion = true
      case ("VERSION", _): throw fault("version \(setting) of the format is not known", reader)
      case ("HEADER", "END"):
        isInData = true
        return true
      case ("format", "bytevalue"): isHexadecimal = true
      case ("format", "print"): isHexadecimal = false
      case ("format", _): throw fault("the format \"\(setting)\" is not known", reader)
      case ("type", "recno"), ("type", "queue"): throw fault("databases of the type \(setting) have no keys", reader)
      case ("database", _): keyspace = setting
      // What the other settings say of pages and limits is of no use to a store.
      default: break
      }
    }
  }

  private static func setting(_ line: String) -> (name: Substring, value: String) {
    guard let equals = line.firstIndex(of: "=") else { return (line[...], "") }
    return (line[..<equals], String(line[line.index(after: equals)...]))
  }

  /// The next line of data, without the space that it begins with; nil at the end of the database.
  private mutating func line(_ reader: inout LineReader) throws(ToolError) -> Line? {
    switch try reader.next() {
    case .end: throw fault("the input ends before DATA=END", reader)
    case .tooLong: return .tooLong
    case .text(let range):
      let text = ContiguousArray(reader.buffer).span.extracting(range)
      if !text.isEmpty, text[0] == UInt8(ascii: " ") { return .text(range.lowerBound + 1..<range.upperBound) }
      guard UTF8Check.isValid(text), text.text == "DATA=END" else {
        throw fault("neither an entry, which begins with a space, nor DATA=END", reader)
      }
      isInData = false
      isComplete = true
      return nil
    }
  }

  /// Decodes a line; false if it is not written as the header says.
  private static func decode(
    _ line: Line,
    of reader: borrowing LineReader,
    _ isHexadecimal: Bool,
    into bytes: inout [UInt8]
  ) -> Bool {
    guard case .text(let range) = line else { return false }
    let text = ContiguousArray(reader.buffer).span.extracting(range)
    return isHexadecimal ? ByteEncoding.decodeHex(text, into: &bytes) : decodeText(text, into: &bytes)
  }

  /// Printable characters stand for themselves, but for a backslash, which is doubled; other bytes are a backslash and two digits.
  private static func decodeText(_ text: Span<UInt8>, into bytes: inout [UInt8]) -> Bool {
    bytes.removeAll(keepingCapacity: true)
    var index = 0
    while index < text.count {
      let character = text[index]
      index += 1
      guard character == UInt8(ascii: "\\") else {
        bytes.append(character)
        continue
      }
      guard index < text.count else { return false }
      if text[index] == character {
        bytes.append(character)
        index += 1
        continue
      }
      guard index + 1 < text.count, let high = hexValue(text[index]), let low = hexValue(text[index + 1]) else {
        return false
      }
      bytes.append(high << 4 | low)
      index += 2
    }
    return true
  }

  private func fault(_ why: String, _ reader: borrowing LineReader) -> ToolError {
    .badLine(number: reader.lineNumber, why: why)
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
