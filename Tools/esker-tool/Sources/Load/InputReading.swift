import Esker

/// What is done with the records of an input, whatever its format is.
protocol SourceUse {
  func use(_ source: some RecordSource, _ reader: inout LineReader) throws
}

/// How an input is read.
struct InputReading {
  let format: TransferFormat
  let keyField: String?
  /// The field of a JSON object that has the list of records; nil if the input is that list, or lines.
  var list: String?
  let dialect: CSVDialect
  /// The greatest length of a line, a row, or a string.
  let limit: Int
  /// What is read of an SQLite database.
  var rows: Rows?
  /// The files of a folder.
  var folder: FolderSource?
  /// The entries of a file of MMKV.
  var mmkv: MMKVSource?
  /// The keys of a server.
  var server: RedisServerSource?

  struct Rows {
    let query: SQLiteQuery
    let shape: SQLiteDatabase.Shape
    let columns: SQLiteSource.Columns
    let program: ForeignProgram
  }

  /// Makes the source for the format, and has it used: each with code of its own, as it is called for every record.
  func give(_ reader: inout LineReader, to use: some SourceUse) throws {
    if let server { return try use.use(server, &reader) }
    switch (format, keyField.flatMap { KeyField(argument: $0) }) {
    case (.csv, _), (.tsv, _): try use.use(CSVSource(keyField: keyField, limit: limit, dialect), &reader)
    case (.mdb, _): try use.use(MDBSource(), &reader)
    case (.ldb, _): try use.use(LDBSource(), &reader)
    case (.plist, _): try use.use(PropertyListSource(), &reader)
    case (.rdb, _): try use.use(RDBSource(), &reader)
    case (.sqlite, _):
      if let rows { try use.use(SQLiteSource(rows.shape, rows.columns), &reader) }
    case (.folder, _):
      if let folder { try use.use(folder, &reader) }
    case (.mmkv, _):
      if let mmkv { try use.use(mmkv, &reader) }
    case (_, let keyField?) where list != nil: try use.use(ListSource(keyField: keyField, list: list), &reader)
    case (_, let keyField?) where try ListSource.isNext(in: &reader):
      try use.use(ListSource(keyField: keyField), &reader)
    case (_, let keyField?): try use.use(DocumentSource(keyField: keyField), &reader)
    default: try use.use(EntrySource(), &reader)
    }
  }
}

/// Stores the records.
struct LoadUse: SourceUse {
  let keyspace: Keyspace
  let checkpoint: LoadCheckpoint?
  let plan: LoadPlan

  func use(_ source: some RecordSource, _ reader: inout LineReader) throws {
    var loader = Loader(source, into: keyspace, resuming: checkpoint, plan)
    try loader.run(&reader)
  }
}

/// Reads what a load would store, and says so if it is to.
struct TrialUse: SourceUse {
  let keys: PresentKeys
  let plan: LoadPlan
  var reports = true

  func use(_ source: some RecordSource, _ reader: inout LineReader) throws {
    var trial = LoadTrial(source, plan)
    try trial.run(&reader, hasKey: keys.contains)
    if reports { try trial.report() }
  }
}

/// The keys that a store has before a load.
final class PresentKeys {
  private let store: LogStore?
  private let usual: String
  private let names: Set<String>
  private var keyspaces: [String: Keyspace] = [:]

  /// - Parameters:
  ///   - store: Nil if there is none yet.
  ///   - usual: The keyspace for records that name none.
  init(of store: LogStore?, usual: String) throws(StoreError) {
    self.store = store
    self.usual = usual
    names = try store.map { store throws(StoreError) in Set(try store.keyspaceNames) } ?? []
  }

  func contains(_ name: String?, _ key: Span<UInt8>) throws(StoreError) -> Bool {
    let name = name.flatMap { $0.isEmpty ? nil : $0 } ?? usual
    guard let store, name.isEmpty || names.contains(name) else { return false }
    if let known = keyspaces[name] { return try known.contains(key) }
    let keyspace = try store.keyspace(name)
    keyspaces[name] = keyspace
    return try keyspace.contains(key)
  }
}
