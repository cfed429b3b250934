import Esker

/// The rows of a query of an SQLite database.
///
/// Either the columns are those that `dump` writes, or one of them is the key, and others are the value.
struct SQLiteSource: RecordSource {
  /// What the columns are for.
  enum Columns: Equatable {
    /// The fields of an entry; nil for columns to skip.
    case entry([EntryField?])
    /// The value is the bytes of the only column, or an object of several, or of all if none is named.
    case document(key: Int, values: [Int], expires: Int?)
  }

  static let unit = "row"

  private let names: [String]
  private let encoding: SQLiteEncoding
  private let columns: Columns
  private var entry = EntryBuilder()
  private var document = JSONWriter()
  private var key: [UInt8] = []
  private var value: [UInt8] = []
  private var ownExpiry: Expiry?

  init(_ shape: SQLiteDatabase.Shape, _ columns: Columns) {
    names = shape.columns
    encoding = shape.encoding
    self.columns = columns
  }

  mutating func next(_ reader: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next() {
    case .end: return .end
    case .tooLong: return .bad(line: reader.lineNumber, why: reader.tooLong)
    case .text(let range):
      guard let row = SQLiteCell.row(ContiguousArray(reader.buffer).span.extracting(range), encoding),
        row.count == names.count
      else {
        return .bad(line: reader.lineNumber, why: "not written as sqlite3 writes it, or text that is not well-formed")
      }
      do throws(EntryFault) { try take(row) } catch { return .bad(line: reader.lineNumber, why: error.description) }
      return .record
    }
  }

  private mutating func take(_ row: [SQLiteCell]) throws(EntryFault) {
    switch columns {
    case .entry(let fields): try takeEntry(row, fields)
    case .document(let key, let values, let expires):
      guard let bytes = row[key].bytes else {
        throw EntryFault(description: "column \"\(names[key])\", the key, is null")
      }
      self.key = bytes
      ownExpiry = try expires.map { place throws(EntryFault) in try Self.expiry(row[place], column: names[place]) }
      try takeValue(row, values)
    }
  }

  private mutating func takeValue(_ row: [SQLiteCell], _ columns: [Int]) throws(EntryFault) {
    if columns.count == 1 {
      guard let bytes = row[columns[0]].bytes else {
        throw EntryFault(description: "column \"\(names[columns[0]])\", the value, is null")
      }
      value = bytes
      return
    }
    document.removeAll()
    document.beginObject()
    for column in columns.isEmpty ? Array(names.indices) : columns {
      document.name(names[column])
      try document.value(row[column], column: names[column])
    }
    document.endObject()
    value = document.bytes
  }

  /// An instant as text, or as seconds since 1970; null never comes.
  private static func expiry(_ cell: SQLiteCell, column: String) throws(EntryFault) -> Expiry {
    switch cell {
    case .null: return .never
    case .text(let text):
      if let time = parseTimestamp(ContiguousArray(text).span) { return .at(time) }
    case .integer(let seconds):
      let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
      if !overflow { return .at(WallTime(millisecondsSince1970: milliseconds)) }
    case .real(let seconds):
      if let milliseconds = Int64(exactly: (seconds * 1000).rounded()) {
        return .at(WallTime(millisecondsSince1970: milliseconds))
      }
    case .blob: break
    }
    throw EntryFault(
      description: "column \"\(column)\" is neither an instant such as 2026-03-01T12:00:00Z nor seconds since 1970"
    )
  }

  private mutating func takeEntry(_ row: [SQLiteCell], _ fields: [EntryField?]) throws(EntryFault) {
    entry.removeAll()
    for (cell, field) in zip(row, fields) {
      guard let field, let bytes = cell.bytes else { continue }
      if field == .expires {
        try entry.setExpiry(Self.expiry(cell, column: field.rawValue))
      } else if case .blob(let bytes) = cell, let isKey = field.bytes?.isKey, field == .key || field == .value {
        // Bytes are taken as they are, whatever the form is.
        let digits = ByteEncoding.hex.encode(ContiguousArray(bytes).span) ?? []
        try entry.set(isKey ? .keyHex : .valueHex, ContiguousArray(digits).span)
      } else {
        try entry.set(field, ContiguousArray(bytes).span)
      }
    }
    try entry.finish()
  }

  func withRecord(_ reader: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    guard case .entry = columns else { return try body(ContiguousArray(key).span, ContiguousArray(value).span) }
    try body(ContiguousArray(entry.key).span, ContiguousArray(entry.value).span)
  }

  private var isEntry: Bool { if case .entry = columns { true } else { false } }

  var keyspace: String? { isEntry ? entry.keyspace : nil }
  var forms: LoadTarget.Forms? { isEntry ? entry.forms : nil }
  var expiry: Expiry? { isEntry ? entry.expiry : ownExpiry }
}
