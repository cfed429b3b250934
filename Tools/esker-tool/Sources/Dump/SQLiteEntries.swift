import Esker

/// Entries as statements that make the table `entries` of an SQLite database, with the columns that a dump has as CSV.
///
/// What is text, or of a form that has one, is text; whole numbers of a form are numbers; all else is a blob.
struct SQLiteEntries: EntryFormatter {
  let namesKeyspaces: Bool

  /// Nil to write bytes.
  private var forms: EntryForms?
  private var statement: [UInt8] = []

  init(namesKeyspaces: Bool, _ forms: EntryForms?) {
    self.namesKeyspaces = namesKeyspaces
    self.forms = forms
  }

  // A database that is not finished is removed, so it needs no journal, and it is synced as a whole.
  var header: [UInt8] {
    Array(
      """
      PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
      CREATE TABLE entries(keyspace TEXT NOT NULL, key NOT NULL, keyForm TEXT, value NOT NULL, valueForm TEXT, valueVersion INTEGER, expires TEXT);
      BEGIN;

      """.utf8
    )
  }

  /// The statements behind the last entry.
  static let end = "CREATE UNIQUE INDEX entriesByKey ON entries(keyspace, key);\nCOMMIT;\n"

  mutating func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws {
    let pair = forms?[entry.keyspace] ?? EntryForms.Pair()
    let (key, value) = (try entry.key(), try entry.value())
    statement.removeAll(keepingCapacity: true)
    add("INSERT INTO entries VALUES(")
    add(text: Array((namesKeyspaces ? entry.keyspace : "").utf8))
    var version: UInt16?
    add(key, pair.keys, pair.keyName, &version)
    version = nil
    add(value, pair.values, pair.valueName, &version)
    add(version.map { ",\($0)," } ?? ",NULL,")
    if case .at(let time) = entry.expiry { add("'\(time)'") } else { add("NULL") }
    add(");\n")
    try output.write(statement)
  }

  /// Adds the key or the value, and the name of its form.
  private mutating func add(_ bytes: [UInt8], _ form: StoredForm, _ name: String?, _ version: inout UInt16?) {
    add(",")
    if !form.isTranslated, UTF8Check.isValid(ContiguousArray(bytes).span) {
      add(text: bytes)
    } else if form.isTranslated, let text = form.exactText(of: bytes, version: &version) {
      // As a number it is found by what it is equal to.
      if case .integer = form, Int64(text) != nil { add(text) } else { add(text: Array(text.utf8)) }
    } else {
      add(blob: bytes)
    }
    add(",")
    if let name { add(text: Array(name.utf8)) } else { add("NULL") }
  }

  private mutating func add(_ text: String) { statement.append(contentsOf: text.utf8) }

  private mutating func add(blob bytes: [UInt8]) {
    add("X'")
    statement.append(contentsOf: ByteEncoding.hex.encode(ContiguousArray(bytes).span) ?? [])
    add("'")
  }

  /// Text with an end of a line, or with a zero, is written in hexadecimal: the program takes statements line by line.
  private mutating func add(text bytes: [UInt8]) {
    guard bytes.allSatisfy({ $0 >= 0x20 }) else {
      add("CAST(")
      add(blob: bytes)
      return add(" AS TEXT)")
    }
    add("'")
    for byte in bytes {
      if byte == UInt8(ascii: "'") { statement.append(byte) }
      statement.append(byte)
    }
    add("'")
  }
}
