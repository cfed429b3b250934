/// What an input is by how it begins, for a load that is told neither a format nor the field of the key.
enum InputKind: Equatable {
  /// What "dump" wrote, or a program that dumps other stores.
  case entries(TransferFormat)
  /// Records whose key is in a field that has to be named.
  case documents
  /// A file of another program, and how to load what is in it.
  case foreign(String, remedy: String)
  case unknown

  /// Files of other stores, by what they begin with.
  private static let foreign: [(start: [UInt8], what: String, remedy: String)] = [
    (Array("ESKREXP1".utf8), "a binary stream of esker dump", "give --format binary")
  ]

  /// Formats that are told by their first bytes.
  private static let binary: [(start: [UInt8], format: TransferFormat)] =
    [
      (Array("SQLite format 3\0".utf8), .sqlite), (RDBSource.magic, .rdb),
      (BinaryPropertyList.magic, .plist),
    ] + XMLPropertyList.starts.map { ($0, .plist) }

  /// The format of an input whose first bytes tell it; nil for all others. Nothing is consumed.
  static func binary(in reader: inout LineReader) throws(ToolError) -> TransferFormat? {
    try first(of: binary.map(\.start), in: &reader).map { binary[$0].format }
  }

  /// Looks at the first line; nothing is consumed.
  static func next(in reader: inout LineReader) throws(ToolError) -> InputKind {
    try reader.peek { (bytes, isAtEnd) in
      var cursor = JSONCursor()
      cursor.position = bytes.count < 3 ? 0 : byteOrderMarkLength(bytes)
      cursor.skipSpace(bytes)
      let start = cursor.position
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      guard end < bytes.count || isAtEnd else { return nil }
      return kind(of: bytes.extracting(start..<end))
    } ?? .unknown
  }

  /// A file of another program; nil for all others.
  static func foreign(in reader: inout LineReader) throws(ToolError) -> (what: String, remedy: String)? {
    try first(of: foreign.map(\.start), in: &reader).map { (foreign[$0].what, foreign[$0].remedy) }
  }

  /// Which of some beginnings an input has; nil if none.
  private static func first(of starts: [[UInt8]], in reader: inout LineReader) throws(ToolError) -> Int? {
    let found = try reader.peek { (bytes, isAtEnd) -> Int? in
      // A pipe may give no more for long: what is none by now is not waited for.
      let mayBecome = starts.contains { $0.count > bytes.count && bytes.starts(with: Array($0.prefix(bytes.count))) }
      if mayBecome, !isAtEnd { return nil }
      return starts.firstIndex { bytes.starts(with: $0) } ?? starts.count
    }
    return found.flatMap { $0 < starts.count ? $0 : nil }
  }

  private static func kind(of line: Span<UInt8>) -> InputKind {
    if let other = foreign.first(where: { line.starts(with: $0.start) }) {
      return .foreign(other.what, remedy: other.remedy)
    }
    // An empty input is one of no entries.
    guard !line.isEmpty else { return .entries(.ndjson) }
    switch line[0] {
    case UInt8(ascii: "{"):
      var scanner = EntryScanner()
      return (try? scanner.scan(line)) != nil ? .entries(.ndjson) : .documents
    case UInt8(ascii: "["): return .documents
    default:
      guard UTF8Check.isValid(line) else { return .unknown }
      let text = line.text
      if text.hasPrefix("VERSION=") { return .entries(.mdb) }
      if LDBSource.isLine(line) { return .entries(.ldb) }
      let columns = text.split(whereSeparator: { $0 == "," || $0 == "\r" || $0 == "\r\n" }).compactMap {
        EntryField(rawValue: String($0))?.bytes
      }
      return columns.contains { $0.isKey } && columns.contains { !$0.isKey } ? .entries(.csv) : .unknown
    }
  }
}

extension Span<UInt8> {
  fileprivate func starts(with other: [UInt8]) -> Bool {
    guard count >= other.count else { return false }
    for index in other.indices where self[index] != other[index] { return false }
    return true
  }
}
