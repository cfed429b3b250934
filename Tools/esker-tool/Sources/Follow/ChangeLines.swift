import Esker

/// Writes changes as lines of a table or of JSON, with only a bounded number of them in memory.
struct ChangeLines: ~Copyable {
  private let isJSON: Bool
  private let keyEncoding: KeyEncodingOption
  private var forms: EntryForms
  private var entries: JSONEntries
  private var table: Table
  private let namesKeyspaces: Bool
  private var output = BufferedOutput.standard()
  /// The bytes of values in the table.
  private var held = 0

  /// As many bytes of values as the table may hold.
  private static let room = 1 << 20

  init(asJSON isJSON: Bool, namesKeyspaces: Bool, _ keyEncoding: KeyEncodingOption, _ forms: EntryForms) {
    self.isJSON = isJSON
    self.keyEncoding = keyEncoding
    self.forms = forms
    self.namesKeyspaces = namesKeyspaces
    entries = JSONEntries(namesKeyspaces: true, encoding: nil, forms)
    var columns: [Table.Column] = [.right("SEQUENCE"), .left("CHANGE")]
    if namesKeyspaces { columns.append(.left("KEYSPACE")) }
    table = Table(columns + [.left("EXPIRES", isOptional: true), .left("KEY"), .left("VALUE")], in: .output)
  }

  /// Adds a line. A keyspace that was emptied may have been removed and made again, with other forms.
  mutating func add(_ change: LogChange) throws {
    if change.kind == .removeAll {
      forms.forget(change.keyspace)
      entries.forms?.forget(change.keyspace)
    }
    guard !isJSON else { return try output.write(entries.text(of: change, keyEncoding: keyEncoding.keyEncoding)) }
    let row = row(change)
    try table.add(row, to: &output)
    held += row.last?.shown.utf8.count ?? 0
    if held >= Self.room { try writeTable() }
  }

  private mutating func row(_ change: LogChange) -> [Cell] {
    let pair = forms[change.keyspace]
    var row: [Cell] = [.number(change.sequence.rawValue), .word(change.kind.word)]
    if namesKeyspaces { row.append(.text(change.keyspace)) }
    switch change.kind {
    case .put(let value, let expiry):
      if case .at(let time) = expiry { row.append(.instant(time)) } else { row.append(.none) }
      row.append(.bytes(keyEncoding.printed(change.key, pair.keys)))
      row.append(.bytes(pair.printed(value)))
    case .remove: row += [.none, .bytes(keyEncoding.printed(change.key, pair.keys)), .text("")]
    case .removeAll: row += [.none, .text(""), .text("")]
    }
    return row
  }

  private mutating func writeTable() throws(ToolError) {
    guard held > 0 || !isJSON else { return }
    try table.flush(to: &output)
    held = 0
  }

  /// Passes everything to the operating system.
  mutating func flush() throws(ToolError) {
    if !isJSON { try writeTable() }
    try output.flush()
  }
}
