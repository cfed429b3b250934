import Foundation

/// An SQLite database, read by `sqlite3`, the program that comes with SQLite: it understands every file of SQLite's, also one that
/// another process is writing to, and changes nothing.
struct SQLiteDatabase {
  let path: String

  /// The columns of a query, and how the database keeps text.
  struct Shape: Equatable {
    var columns: [String]
    var encoding: SQLiteEncoding
  }

  init(_ path: String) {
    // An absolute path is taken neither for an option nor for an address.
    self.path = URL(fileURLWithPath: path).path
  }

  /// The names of its tables and views.
  func tables() throws(ToolError) -> [String] {
    try lines(
      "PRAGMA encoding; SELECT hex(name) FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).columns
  }

  func shape(of query: SQLiteQuery) throws(ToolError) -> Shape {
    try lines("\(view(query)) PRAGMA encoding; SELECT hex(name) FROM pragma_table_info(\(Self.quoted(Self.viewName)))")
  }

  /// Starts the program that prints the rows of a query, each on a line of its own; see ``SQLiteCell``.
  func rows(of query: SQLiteQuery, _ shape: Shape) throws(ToolError) -> ForeignProgram {
    let cells = shape.columns.map { column in
      let name = Self.quoted(column)
      return "CASE typeof(\(name)) WHEN 'null' THEN 'n' WHEN 'integer' THEN 'i'||\(name) "
        + "WHEN 'real' THEN 'r'||printf('%!.17g', \(name)) WHEN 'text' THEN 't'||hex(\(name)) ELSE 'b'||hex(\(name)) END"
    }
    return try program("\(view(query)) SELECT \(cells.joined(separator: "||'|'||")) FROM \(Self.quoted(Self.viewName))")
  }

  /// As a view, any query has columns with names. It is temporary, and not in the file.
  private func view(_ query: SQLiteQuery) -> String {
    // On a line of its own, what ends it is not part of a comment.
    "CREATE TEMP VIEW \(Self.quoted(Self.viewName)) AS \(query.text)\n;"
  }

  private static let viewName = "rows for esker"

  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  private func program(_ statements: String) throws(ToolError) -> ForeignProgram {
    let arguments = ["-batch", "-bail", "-readonly", "-init", "/dev/null", "-noheader", "-list", path, statements]
    return try ForeignProgram("sqlite3", package: "sqlite3", arguments, for: .reading)
  }

  /// What statements print: the encoding of text, and then names in hexadecimal.
  private func lines(_ statements: String) throws(ToolError) -> Shape {
    let input = InputFile(reading: try program(statements), name: path)
    let bytes = try input.readAll(limit: 1 << 24) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard let encoding = lines.first.flatMap({ SQLiteEncoding(rawValue: String($0)) }) else {
      throw .programFailed("sqlite3", why: "it does not say which encoding the text of \(path) has")
    }
    let names = lines.dropFirst().compactMap { line -> String? in
      var name: [UInt8] = []
      guard ByteEncoding.decodeHex(ContiguousArray(line.utf8).span, into: &name) else { return nil }
      return encoding.utf8(of: name).map { String(decoding: $0, as: UTF8.self) }
    }
    return Shape(columns: names, encoding: encoding)
  }
}

/// What is read of a database.
struct SQLiteQuery {
  let text: String

  init(_ text: String) {
    // The statement that it becomes part of has an end of its own.
    var text = text[...]
    while let last = text.last, last == ";" || last.isWhitespace { text.removeLast() }
    self.text = String(text)
  }

  init(table: String) { text = "SELECT * FROM \(SQLiteDatabase.quoted(table))" }
}

/// How a database keeps text, as SQLite calls it.
enum SQLiteEncoding: String {
  case utf8 = "UTF-8"
  case little = "UTF-16le"
  case big = "UTF-16be"

  /// The bytes of a text as UTF-8; nil if they are half of a character's.
  func utf8(of bytes: [UInt8]) -> [UInt8]? {
    guard self != .utf8 else { return bytes }
    guard bytes.count.isMultiple(of: 2) else { return nil }
    let units = stride(from: 0, to: bytes.count, by: 2).map { place in
      let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
      return self == .little ? first | second << 8 : first << 8 | second
    }
    return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
  }
}
