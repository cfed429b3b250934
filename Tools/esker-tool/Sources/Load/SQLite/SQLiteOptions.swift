import ArgumentParser

/// What is loaded of an SQLite database.
struct SQLiteOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The table or view of an SQLite database.", valueName: "name"))
  var table: String?

  @Option(help: ArgumentHelp("The query whose rows are loaded of an SQLite database.", valueName: "select"))
  var query: String?

  @Option(
    help: ArgumentHelp(
      "The column of an SQLite database that is the value; of several, and if none is named of all, the value is a JSON object.",
      valueName: "name"
    )
  )
  var valueField: [String] = []

  @Option(
    help: ArgumentHelp(
      "The column of an SQLite database with the instants of expiry: ISO 8601, or seconds since 1970.",
      valueName: "name"
    )
  )
  var expiresField: String?

  func validate() throws {
    if table != nil, query != nil { throw ValidationError("--table and --query each say what is loaded: give one.") }
  }

  var isEmpty: Bool { table == nil && query == nil && valueField.isEmpty && expiresField == nil }

  /// What to read: what was asked for, or the only table.
  func query(of database: SQLiteDatabase) throws(ToolError) -> SQLiteQuery {
    if let query { return SQLiteQuery(query) }
    let tables = try database.tables()
    if let table {
      guard tables.contains(where: { $0.lowercased() == table.lowercased() }) else {
        throw .noTable(table, path: database.path, tables: tables)
      }
      return SQLiteQuery(table: table)
    }
    guard tables.count == 1 else { throw .noTable(nil, path: database.path, tables: tables) }
    return SQLiteQuery(table: tables[0])
  }

  /// What the columns are for.
  ///
  /// - Throws: ``ToolError/noColumn(_:columns:)``.
  func columns(_ names: [String], keyField: String?) throws(ToolError) -> SQLiteSource.Columns {
    func place(of name: String) throws(ToolError) -> Int {
      // As in SQL, where upper and lower case of names are alike.
      guard let place = names.firstIndex(where: { $0.lowercased() == name.lowercased() }) else {
        throw .noColumn(name, columns: names)
      }
      return place
    }
    if let keyField {
      var values: [Int] = []
      for name in valueField { values.append(try place(of: name)) }
      let expires = try expiresField.map { name throws(ToolError) in try place(of: name) }
      return .document(key: try place(of: keyField), values: values, expires: expires)
    }
    let fields = names.map { EntryField(rawValue: $0) }
    let (hasKey, hasValue) = (
      fields.contains { $0?.bytes?.isKey == true }, fields.contains { $0?.bytes?.isKey == false }
    )
    guard hasKey, hasValue, valueField.isEmpty, expiresField == nil else { throw .noColumn(nil, columns: names) }
    return .entry(fields)
  }
}
