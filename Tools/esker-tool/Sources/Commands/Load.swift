import ArgumentParser
import Esker
import EskerFormat
import EskerTools
import Foundation

struct Load: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Store the records of a file, or of another store.",
    discussion: """
      With --key-field, the file holds documents. For JSON objects, one per line (NDJSON) or the elements of a list, the bytes of \
      each object, exactly as they are, are stored under the text of the key field, which must be a string or a number; a \
      number's text is as written. A field of an object within is given as a path, such as _id.$oid, and one with a dot in its \
      name as ["a.b"]. With --list, the list is a field of one object, as that of a class in what Realm exports. With --format \
      csv or tsv, each row is stored as a JSON object whose fields are named by the header. In csv, fields may stand in quotes, \
      and --delimiter names what is between them; in tsv that is a tab, and a quote is a character like others.

      Without it, the file is what "dump" wrote: entries with their keys, values and instants of expiry, each in the keyspace \
      that it names. Expired ones are skipped; --ttl applies to those without an instant. Lines of JSON and CSV are told by how \
      they begin; a binary stream needs --format binary.

      Of other stores, it takes what mdb_dump of LMDB and db_dump of Berkeley DB wrote (--format mdb), what ldb of RocksDB wrote \
      with --hex, which also reads LevelDB (ldb), an RDB file of Redis or Valkey (rdb), whose lists, sets, sorted sets and hashes become JSON, and an SQLite \
      database (sqlite), which the program sqlite3 reads: --table or --query say what, --key-field names the column of the keys, \
      --value-field that of the values. Without it, the value is the row as a JSON object. All are told by how they begin.

      Of a server of Redis or Valkey, redis://USER:PASSWORD@HOST:PORT/DATABASE, it takes the keys of a database as of an RDB file, \
      with SCAN, DUMP and PEXPIRETIME. A password may also be in the environment, as REDISCLI_AUTH.

      Of a property list, as UserDefaults writes it, each key of the dictionary at its top is loaded: text and data as they are, \
      numbers as digits, lists and dictionaries as JSON.

      Of a file of MMKV, which is told by the one with .crc behind its name, the last value of each key is loaded: text and data as \
      they are, and with --numbers numbers and flags as digits.

      Of a folder, each file is the value of a key that its name says: as dump --format folder writes it, or as --names says.

      With --dry-run, everything is read and checked, and nothing is stored. With --if-absent, only records are stored whose keys \
      the store does not have, so that a load that was stopped can be repeated, and what has changed since stays.

      If several records have the same key, the last one wins. Blank lines are skipped. A line that is not a record stops \
      the load: what came before it stays, and the exit code is 1. With --skip-bad such lines are counted and skipped, the \
      first 10 are reported, and the exit code is 0 unless none was left.

      An input that is compressed with gzip is decompressed, whatever it is called.

      With --resume, the position of the load is kept in the store, in the same batch as the records, until the load is \
      complete: after a kill or a power failure the same command resumes exactly there.

      With --acknowledge N, the number of records stored so far is printed after every N records and at the end: records \
      up to there survive the end of this process, however it ends, and with --synced, or in a store whose durability is \
      synced, a power failure too.

      Examples:
        esker load cities.esker cities.ndjson --key-field id
        esker load cities.esker cities.ndjson.gz --key-field id
        esker load people.esker export.json --key-field '_id.$oid'
        esker load people.esker realm.json --list Person --key-field _id
        esker load cities.esker cities.csv --key-field geonameid --delimiter ';'
        esker load cities.esker cities.tsv --key-field geonameid --compression lz4
        esker dump cities.esker | esker load copy.esker -
        esker load copy.esker cities.stream --format binary
        esker load cities.esker cities.sqlite --table cities --key-field id
        esker load pages.esker a.db --query 'select url, body from t' --key-field url
        esker load sessions.esker dump.rdb --dry-run
        esker load sessions.esker redis://localhost:6379/0 --resume
        mdb_dump -a cities.lmdb | esker load cities.esker -
        ldb --db=cities.rocksdb scan --hex | esker load cities.esker -
      """,
    aliases: ["import"]
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file, the folder, or redis://HOST:PORT; - is standard input.", completion: .file())
  var file: String

  @Option(
    help:
      "The format of the file: ndjson, csv, tsv, sqlite, rdb, plist, mmkv, mdb, ldb, folder, or binary as dump writes it. By default what its name or its beginning says."
  )
  var format: TransferFormat?

  @Option(help: ArgumentHelp("The field whose text is the key; the value is the whole document.", valueName: "name"))
  var keyField: String?

  @Option(
    help: ArgumentHelp(
      "The list of documents is this field of a JSON object, as that of a class in an export of Realm.",
      valueName: "name"
    )
  )
  var list: String?

  @Option(
    help: ArgumentHelp("What is between the columns of a CSV file: one character, or tab.", valueName: "character")
  )
  var delimiter: Delimiter?

  @Option(help: ArgumentHelp("Let the values expire after this long, \(TimeToLive.help).", valueName: "duration"))
  var ttl: TimeToLive?

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var packing: CompressionOption

  @OptionGroup var sizes: SizeOptions

  @Flag(help: "Resume where an earlier load of this file with this option stopped, and record the position.")
  var resume = false

  @OptionGroup var database: SQLiteOptions

  @OptionGroup var folder: FolderOptions

  @OptionGroup var mmkv: MMKVOptions

  @Flag(help: "Store only records whose keys the store does not have.")
  var ifAbsent = false

  @Flag(help: "Say what would be loaded, and store nothing.")
  var dryRun = false

  @Flag(help: "Skip lines that cannot be loaded.")
  var skipBad = false

  @Option(help: ArgumentHelp("Refuse lines and rows longer than this, \(ByteSize.help).", valueName: "size"))
  var maxLine = ByteSize(bytes: 64 << 20)

  @Flag(help: "Make records survive a power failure before acknowledging them and before the command ends.")
  var synced = false

  @Option(help: ArgumentHelp("Print the number of records stored after every this many.", valueName: "count"))
  var acknowledge: Int?

  @Flag(help: "Print a summary in JSON.")
  var json = false

  private var read: TransferFormat {
    guard server == nil else { return .ndjson }
    return format ?? (isFolder ? .folder : TransferFormat(fileName: file) ?? (hasCompanion ? .mmkv : .ndjson))
  }

  /// Whether the file is one of MMKV's by what is beside it.
  private var hasCompanion: Bool { keyField == nil && MMKVCompanion.isBeside(file) }

  /// The server that is loaded from; nil for a file.
  private var server: RedisAddress? { RedisAddress(file) }

  private var isFolder: Bool { SystemCalls.status(file).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }

  /// Whether neither an option nor the file's name says what is in it.
  private var isToldByBeginning: Bool {
    format == nil && keyField == nil && ![.csv, .tsv].contains(TransferFormat(fileName: file))
  }

  private func dialect(of read: TransferFormat) -> CSVDialect {
    var dialect = read == .tsv ? CSVDialect.tabs : CSVDialect()
    if let delimiter { dialect.delimiter = delimiter.byte }
    return dialect
  }

  private var settings: Options {
    Options(segmentSize: sizes.segmentSize?.bytes, compression: packing.compression, capacity: sizes.capacity?.bytes)
  }

  var takesKeyspace: Bool { format != .binary }

  func validate() throws {
    if RedisAddress.isMeant(file) { try validateServer() }
    try TransferFormat.requirePlain(file, "decompress it, and give - for standard input.")
    if let acknowledge, acknowledge < 1 { throw ValidationError("--acknowledge takes a number of at least 1.") }
    if maxLine.bytes < 1 { throw ValidationError("--max-line takes a size of at least 1.") }
    if delimiter != nil, ![.csv, .tsv].contains(read) {
      throw ValidationError("--delimiter goes with --format csv or tsv.")
    }
    if let keyField, read == .ndjson, KeyField(argument: keyField) == nil {
      throw ValidationError(
        "--key-field takes names of fields with dots between them, and [\"a.b\"] for one with a dot in it."
      )
    }
    if [.mdb, .ldb, .rdb, .plist, .mmkv, .folder].contains(read), keyField != nil || resume {
      throw ValidationError(
        "--format \(read.rawValue) goes without --key-field and --resume: keys are in the file, and so is what they are of."
      )
    }
    if list != nil, keyField == nil || read != .ndjson {
      throw ValidationError(
        "--list goes with JSON, and with --key-field, which names the key of each object of the list."
      )
    }
    if ifAbsent, resume {
      throw ValidationError("--if-absent goes without --resume: repeat the command, and it stores what is missing.")
    }
    if dryRun, resume || acknowledge != nil || synced {
      throw ValidationError("--dry-run stores nothing: it goes without --resume, --acknowledge and --synced.")
    }
    if read == .mmkv, file == "-" {
      throw ValidationError(
        "A file of MMKV is read with the one beside it, and not from standard input: give its path."
      )
    }
    if read == .sqlite || !database.isEmpty, file == "-" {
      throw ValidationError("An SQLite database is read from a file, and not from standard input: give its path.")
    }
    if json, acknowledge != nil { throw ValidationError("--json and --acknowledge would write to the same place.") }
    guard format == .binary else { return }
    if keyField != nil || ttl != nil || resume || skipBad || acknowledge != nil || keyspace.keyspace != nil || ifAbsent
      || dryRun
    {
      throw ValidationError(
        "A binary stream is loaded as it is, without --key-field, --ttl, --keyspace, --resume, --skip-bad, --acknowledge, "
          + "--if-absent and --dry-run."
      )
    }
  }

  private func validateServer() throws {
    guard server != nil else {
      throw ValidationError(
        "The address of a server is redis://HOST:PORT/DATABASE, with USER:PASSWORD@ before the host if it needs them. With TLS, "
          + "use redis-cli --tls --rdb - | esker import STORE -"
      )
    }
    if format != nil || keyField != nil {
      throw ValidationError("A server's keys go without --format and --key-field.")
    }
  }

  func run() throws {
    if let server {
      Interruption.install()
      let connection = try RedisConnection(server)
      return try load(InputFile(descriptor: connection.descriptor, name: server.text), from: connection)
    }
    // The input first: a mistyped name must not create a store.
    if isFolder, let (what, remedy) = FolderKind.foreign(file) {
      throw ToolError.otherFile(name: file, what: what, remedy: remedy)
    }
    let input = try InputFile(isFolder ? "/dev/null" : file, gunzips: true)
    Interruption.install()
    if format == .binary { try loadStream(input) } else { try load(input) }
  }

  private func load(_ input: consuming InputFile, from server: RedisConnection? = nil) throws {
    let limit = min(maxLine.bytes, LogStore.maximumValueLength)
    let isRepeatable = input.isRepeatable
    // What a server says besides values are lines, too.
    var reader = LineReader(input, limit: server == nil ? limit : max(limit, 512))
    let read = server == nil ? try format(of: &reader) : .rdb
    let plan = LoadPlan(
      expiry: ttl.map { .after($0.duration) },
      skipsBadLines: skipBad,
      onlyAbsent: ifAbsent,
      syncs: synced,
      acknowledgeEvery: acknowledge,
      isQuiet: store.quiet,
      printsJSON: json
    )
    try requireOptionsOf(read, isServer: server != nil)
    var source = InputReading(format: read, keyField: keyField, list: list, dialect: dialect(of: read), limit: limit)
    if let server {
      // A server that refuses to be read makes no store.
      var keys = RedisServerSource(server)
      try keys.greet(&reader)
      source.server = keys
    } else if read == .sqlite {
      let rows = try openDatabase()
      source.rows = rows
      // Bytes are written in hexadecimal.
      reader = LineReader(InputFile(reading: rows.program, name: file), limit: 2 * limit)
    } else if read == .folder {
      source.folder = try folder.source(file, limit: limit)
    } else if read == .mmkv {
      source.mmkv = try MMKVSource(file, mmkv.numbers ?? .bytes, limit: limit)
      // As it is, whatever its length looks like.
      reader = LineReader(try InputFile(file), limit: limit)
    }
    if dryRun { return try check(&reader, source, plan) }
    if let list, isRepeatable {
      // Nor must a mistyped name of a list.
      var named = NamedList(list)
      var probe = LineReader(try InputFile(file, gunzips: true), limit: limit)
      try named.find(&probe)
    }
    if [.rdb, .plist].contains(read), isRepeatable {
      // That it is damaged is known at its end, and then nothing is to be stored.
      var plan = plan
      plan.reportedLines = 0
      try source.give(&reader, to: TrialUse(keys: PresentKeys(of: nil, usual: ""), plan: plan, reports: false))
      reader = LineReader(try InputFile(file, gunzips: true), limit: limit)
    }
    // The way the input is read is part of its identity: continuing in another way would not be the same load.
    let reading =
      "\(read.rawValue)\n\(keyField ?? "")" + (list.map { "\n\($0)" } ?? "") + (delimiter.map { "\n\($0.byte)" } ?? "")
      + (source.rows.map { "\n\($0.query.text)\n\(database.valueField)\n\(database.expiresField ?? "")" } ?? "")
    reader.checksum = Array(reading.utf8).checksum(of: 0..<reading.utf8.count)
    try store.write(creating: true, publishing: Self.publishing, settings) { store in
      let isNew = try !self.keyspace.exists(in: store)
      let keyspace = try keyspace.writable(in: store)
      do {
        try load(&reader, source, into: keyspace, plan)
      } catch {
        // A keyspace that was made for nothing does not stay.
        if isNew, (try? keyspace.count()) == 0 { _ = try? store.removeKeyspace(keyspace.name) }
        throw error
      }
    }
  }

  /// Throws for options of an input of another kind.
  private func requireOptionsOf(_ read: TransferFormat, isServer: Bool) throws {
    if !database.isEmpty, read != .sqlite || isServer {
      throw ValidationError(
        "--table, --query, --value-field and --expires-field go with an SQLite database, which \(file) is not."
      )
    }
    if !folder.isEmpty, read != .folder || isServer {
      throw ValidationError(
        "--names, --key-list, --expires-modified and --unwrap go with a folder, which \(file) is not."
      )
    }
    if !mmkv.isEmpty, read != .mmkv || isServer {
      throw ValidationError("--numbers goes with a file of MMKV, which \(file) is not.")
    }
  }

  private func openDatabase() throws(ToolError) -> InputReading.Rows {
    let file = SQLiteDatabase(file)
    let query = try database.query(of: file)
    let shape = try file.shape(of: query)
    let columns = try database.columns(shape.columns, keyField: keyField)
    return InputReading.Rows(query: query, shape: shape, columns: columns, program: try file.rows(of: query, shape))
  }

  /// Reads everything, and compares it with the store, if there is one.
  private func check(_ reader: inout LineReader, _ source: InputReading, _ plan: LoadPlan) throws {
    let usual = keyspace.keyspace ?? ""
    do { try store.require() } catch ToolError.noStore {
      return try source.give(&reader, to: TrialUse(keys: PresentKeys(of: nil, usual: usual), plan: plan))
    }
    try store.read { store in
      try source.give(&reader, to: TrialUse(keys: PresentKeys(of: store, usual: usual), plan: plan))
    }
  }

  /// The format of the input.
  ///
  /// - Throws: ``ToolError/otherFile(name:what:remedy:)`` for a file of another program; ``ToolError/noKeyField(name:)``.
  private func format(of reader: inout LineReader) throws(ToolError) -> TransferFormat {
    if isFolder { return .folder }
    if read == .mmkv { return .mmkv }
    if format == nil, let found = try InputKind.binary(in: &reader) {
      guard file != "-" || found != .sqlite else {
        throw .otherFile(
          name: reader.name,
          what: "an SQLite database",
          remedy: "give its path, as it cannot be read from a pipe"
        )
      }
      guard found == .sqlite || !resume && keyField == nil else {
        throw .otherFile(
          name: reader.name,
          what: found == .rdb ? "an RDB file" : "a property list",
          remedy: "load it without --resume and --key-field"
        )
      }
      return found
    }
    guard isToldByBeginning else {
      if let (what, remedy) = try InputKind.foreign(in: &reader) {
        throw .otherFile(name: reader.name, what: what, remedy: remedy)
      }
      return read
    }
    switch try InputKind.next(in: &reader) {
    case .entries(.mdb) where resume:
      throw .otherFile(name: reader.name, what: "a dump of LMDB or Berkeley DB", remedy: "load it without --resume")
    case .entries(.ldb) where resume:
      throw .otherFile(name: reader.name, what: "a dump of RocksDB", remedy: "load it without --resume")
    case .entries(let format): return format
    case .documents: throw .noKeyField(name: reader.name, isJSON: true)
    case .foreign(let what, let remedy): throw .otherFile(name: reader.name, what: what, remedy: remedy)
    case .unknown: throw .noKeyField(name: reader.name, isJSON: false)
    }
  }

  private func load(_ reader: inout LineReader, _ source: InputReading, into keyspace: Keyspace, _ plan: LoadPlan)
    throws
  {
    if keyField != nil { try Self.requireText(keyspace) }
    var checkpoint: LoadCheckpoint?
    if resume {
      checkpoint = try LoadCheckpoint(input: inputName, into: keyspace)
    } else {
      try LoadCheckpoint.forget(input: inputName, into: keyspace)
    }
    try source.give(&reader, to: LoadUse(keyspace: keyspace, checkpoint: checkpoint, plan: plan))
  }

  /// Throws if the keyspace's keys and values are something else than the text that documents are.
  private static func requireText(_ keyspace: Keyspace) throws(ToolError) {
    let texts: [StoredForm] = [.raw, .text, .json]
    guard texts.contains(keyspace.shownKeys), texts.contains(keyspace.shownValues) else {
      let (keys, values) = (keyspace.keyForm ?? "unknown", keyspace.valueForm ?? "unknown")
      throw .notForDocuments(keyspace: keyspace.name, keys: keys, values: values)
    }
  }

  /// Long enough to cost nothing, short enough to be watched.
  private static let publishing = Duration.milliseconds(500)

  /// The input's absolute path, independent of the working directory.
  private var inputName: String {
    if let server { return server.text }
    return file == "-" ? "standard input" : URL(fileURLWithPath: file).standardizedFileURL.path
  }

  private func loadStream(_ input: consuming InputFile) throws {
    let input = input
    let start = ContinuousClock.now
    let progress = Progress("loading", total: input.remainingBytes, isQuiet: store.quiet)
    var done = 0
    let report = try store.write(creating: true, publishing: Self.publishing, settings) { store in
      try store.importStream { count in
        try Interruption.check()
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = try input.read(into: &bytes, from: 0)
        bytes.removeSubrange(filled...)
        done += filled
        progress.update(done: input.compressedBytesRead ?? done)
        return bytes
      }
    }
    progress.clear()
    var tally = LoadTally()
    tally.records = report.entries
    tally.bytes = report.bytes
    tally.expired = report.expired
    try tally.report(seconds: (ContinuousClock.now - start).seconds, asJSON: json, isQuiet: store.quiet)
  }
}
