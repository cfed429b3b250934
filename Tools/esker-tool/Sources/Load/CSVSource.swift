import Esker

/// Rows of comma-separated values under a header.
///
/// Either the columns are those written by `dump`, or one column of any set is the key and the value is the row as a JSON
/// object.
struct CSVSource: RecordSource {
  private var reader: CSVReader
  private let keyField: String?
  private var columns: [String] = []
  /// The column of the key, if one was named.
  private var keyColumn = 0
  /// The meaning of the columns, if no key column was named; nil for columns to skip.
  private var fields: [EntryField?] = []
  private var entry = EntryBuilder()
  private var document = JSONWriter()

  init(keyField: String?, limit: Int, _ dialect: CSVDialect) {
    self.keyField = keyField
    reader = CSVReader(limit: limit, dialect)
  }

  mutating func begin(_ input: inout LineReader) throws {
    try CSVReader.findLineEnd(&input)
    var row = try reader.next(&input)
    while row == .blank { row = try reader.next(&input) }
    switch row {
    case .bad(let why): throw ToolError.badLine(number: reader.lineNumber, why: why)
    case .fields: columns = (0..<reader.count).map { reader.field($0) }
    case .blank, .end: return
    }
    if keyField != nil, let twice = columns.indices.first(where: { columns[..<$0].contains(columns[$0]) }) {
      // A document with a field twice could not be read again.
      let why = "the column \"\(columns[twice])\" occurs twice in the header"
      throw ToolError.badLine(number: reader.lineNumber, why: why)
    }
    if let keyField {
      guard let column = columns.firstIndex(of: keyField) else {
        throw ToolError.badLine(number: reader.lineNumber, why: "no column \"\(keyField)\" in the header")
      }
      keyColumn = column
      return
    }
    fields = columns.map { EntryField(rawValue: $0) }
    for isKey in [true, false] where !fields.contains(where: { $0?.bytes?.isKey == isKey }) {
      let name = isKey ? "key" : "value"
      let why = "no column \"\(name)\", \"\(name)64\" or \"\(name)Hex\" in the header: name the key with --key-field"
      throw ToolError.badLine(number: reader.lineNumber, why: why)
    }
  }

  mutating func next(_ input: inout LineReader) throws(ToolError) -> SourceStep {
    switch try reader.next(&input) {
    case .end: return .end
    case .blank: return .blank
    case .bad(let why): return .bad(line: reader.lineNumber, why: why)
    case .fields: break
    }
    guard reader.count == columns.count else {
      let why = "\(NumberText.count(reader.count, "field")) under a header of \(columns.count)"
      return .bad(line: reader.lineNumber, why: why)
    }
    if keyField == nil {
      do throws(EntryFault) { try takeEntry() } catch { return .bad(line: reader.lineNumber, why: error.description) }
    } else {
      // Field by field: the halves of a character may be in two fields.
      for column in 0..<reader.count {
        guard UTF8Check.isValid(ContiguousArray(reader.text).span.extracting(reader.range(of: column))) else {
          return .bad(line: reader.lineNumber, why: "field \(column + 1) is not valid UTF-8")
        }
      }
      takeDocument()
    }
    return .record
  }

  private mutating func takeEntry() throws(EntryFault) {
    entry.removeAll()
    let row = reader.text
    for (column, field) in fields.enumerated() {
      guard let field else { continue }
      let text = ContiguousArray(row).span.extracting(reader.range(of: column))
      if field == .expires, text.isEmpty {
        try entry.setExpiry(.never)
      } else {
        try entry.set(field, text)
      }
    }
    try entry.finish()
  }

  private mutating func takeDocument() {
    document.removeAll()
    document.beginObject()
    let row = reader.text
    for (column, name) in columns.enumerated() {
      document.name(name)
      document.value(utf8: ContiguousArray(row).span.extracting(reader.range(of: column)))
    }
    document.endObject()
  }

  func withRecord(_ input: borrowing LineReader, _ body: (Span<UInt8>, Span<UInt8>) throws -> Void) throws {
    guard keyField != nil else { return try body(ContiguousArray(entry.key).span, ContiguousArray(entry.value).span) }
    try body(
      ContiguousArray(reader.text).span.extracting(reader.range(of: keyColumn)),
      ContiguousArray(document.bytes).span
    )
  }

  var keyspace: String? { keyField == nil ? entry.keyspace : nil }
  var forms: LoadTarget.Forms? { keyField == nil ? entry.forms : nil }
  var expiry: Expiry? { keyField == nil ? entry.expiry : nil }
}
