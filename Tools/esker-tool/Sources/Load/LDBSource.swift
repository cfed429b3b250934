import Esker

/// Entries as `ldb` of RocksDB writes them with `--hex`: `0x6174 ==> 0x5669656E6E61` of `dump`, or a colon in the place of the arrow of
/// `scan`. At the end, `dump` says how many there were.
struct LDBSource: RecordSource {
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private var count = 0

  /// Whether a line is one of such an input.
  static func isLine(_ line: Span<UInt8>) -> Bool { parts(of: line) != nil }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next() {
    case .end: return .end
    case .tooLong: return bad(reader.tooLong, reader)
    case .text(let range):
      let line = ContiguousArray(reader.buffer).span.extracting(range)
      if line.isEmpty { return .blank }
      guard let parts = Self.parts(of: line) else { return try end(line, reader) }
      count += 1
      guard ByteEncoding.decodeHex(line.extracting(parts.key), into: &key) else {
        return bad("a key is not written in hexadecimal", reader)
      }
      guard ByteEncoding.decodeHex(line.extracting(parts.value), into: &value) else {
        return bad("a value is not written in hexadecimal", reader)
      }
      return .record
    }
  }

  private func bad(_ why: String, _ reader: borrowing LineReader) -> SourceStep {
    .bad(line: reader.lineNumber, why: why)
  }

  /// What is no entry: the number of entries, or a message of the program.
  private func end(_ line: Span<UInt8>, _ reader: borrowing LineReader) throws(ToolError) -> SourceStep {
    let start = "Keys in range: "
    guard UTF8Check.isValid(line), line.text.hasPrefix(start), let said = Int(line.text.dropFirst(start.count)) else {
      return bad("not an entry as ldb scan --hex and ldb dump --hex write it", reader)
    }
    guard said == count else {
      throw .badLine(
        number: reader.lineNumber,
        why: "ldb has written \(HumanUnits.entries(said)), and \(NumberText.count(count)) were there"
      )
    }
    return .blank
  }

  /// Where the digits of the key and of the value are; nil if the line has not what stands around them.
  private static func parts(of line: Span<UInt8>) -> (key: Range<Int>, value: Range<Int>)? {
    guard starts(line, at: 0, with: "0x") else { return nil }
    var end = 2
    while end < line.count, line[end] != UInt8(ascii: " ") { end += 1 }
    for middle in [" ==> 0x", " : 0x"] where starts(line, at: end, with: middle) {
      return (2..<end, end + middle.utf8.count..<line.count)
    }
    return nil
  }

  private static func starts(_ line: Span<UInt8>, at offset: Int, with text: String) -> Bool {
    guard line.count - offset >= text.utf8.count else { return false }
    for (index, byte) in text.utf8.enumerated() where line[offset + index] != byte { return false }
    return true
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    try body(ContiguousArray(key).span, ContiguousArray(value).span)
  }
}
