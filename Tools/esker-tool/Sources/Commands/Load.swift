import ArgumentParser
import Esker
import EskerFormat
import EskerTools
import Foundation

struct Load: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Store the records of a file.",
    discussion: """
      With --key-field, the file holds documents. For JSON objects, one per line (NDJSON) or the elements of a list, the bytes of \
      each object, exactly as they are, are stored under the text of the key field, which must be a string or a number; a \
      number's text is as written. A field of an object within is given as a path, such as _id.$oid, and one with a dot in its \
      name as ["a.b"]. With --format csv or tsv, each row is stored as a JSON object whose fields are named by the header. In \
      csv, fields may stand in quotes, and --delimiter names what is between them; in tsv that is a tab, and a quote is a \
      character like others.

      Without it, the file is what "dump" wrote: entries with their keys, values and instants of expiry, each in the keyspace \
      that it names. Expired ones are skipped; --ttl applies to those without an instant. Lines of JSON and CSV are told by how \
      they begin, and so is what mdb_dump of LMDB and db_dump of Berkeley DB wrote (--format mdb); a binary stream needs \
      --format binary.

      What is in an SQLite database is loaded as JSON, which sqlite3 -json writes.

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
        esker load cities.esker cities.csv --key-field geonameid --delimiter ';'
        esker load cities.esker cities.tsv --key-field geonameid --compression lz4
        esker dump cities.esker | esker load copy.esker -
        esker load copy.esker cities.stream --format binary
        mdb_dump cities.lmdb | esker load cities.esker -
        sqlite3 -json a.db 'select * from t' | esker load a.esker - --key-field id
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file; - is standard input.", completion: .file())
  var file: String

  @Option(
    help:
      "The format of the file: ndjson, csv, tsv, mdb, or binary as dump writes it. By default what its name or its beginning says."
  )
  var format: TransferFormat?

  @Option(help: ArgumentHelp("The field whose text is the key; the value is the whole document.", valueName: "name"))
  var keyField: String?

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

  private var read: TransferFormat { format ?? TransferFormat(fileName: file) ?? .ndjson }

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
    if read == .mdb, keyField != nil || resume {
      throw ValidationError(
        "--format mdb goes without --key-field and --resume: keys are in the file, and so is what they are of."
      )
    }
    if json, acknowledge != nil { throw ValidationError("--json and --acknowledge would write to the same place.") }
    guard format == .binary else { return }
    if keyField != nil || ttl != nil || resume || skipBad || acknowledge != nil || keyspace.keyspace != nil {
      throw ValidationError(
        "A binary stream is loaded as it is, without --key-field, --ttl, --keyspace, --resume, --skip-bad and --acknowledge."
      )
    }
  }

  func run() throws {
    // The input first: a mistyped name must not create a store.
    let input = try InputFile(file, gunzips: true)
    Interruption.install()
    if format == .binary { try loadStream(input) } else { try load(input) }
  }

  private func load(_ input: consuming InputFile) throws {
    let limit = min(maxLine.bytes, LogStore.maximumValueLength)
    var reader = LineReader(input, limit: limit)
    let read = try format(of: &reader)
    let plan = LoadPlan(
      expiry: ttl.map { .after($0.duration) },
      skipsBadLines: skipBad,
      syncs: synced,
      acknowledgeEvery: acknowledge,
      isQuiet: store.quiet,
      printsJSON: json
    )
    // The way the input is read is part of its identity: continuing in another way would not be the same load.
    let reading = "\(read.rawValue)\n\(keyField ?? "")" + (delimiter.map { "\n\($0.byte)" } ?? "")
    reader.checksum = Array(reading.utf8).checksum(of: 0..<reading.utf8.count)
    try store.write(creating: true, publishing: Self.publishing, settings) { store in
      let isNew = try !self.keyspace.exists(in: store)
      let keyspace = try keyspace.writable(in: store)
      do {
        try load(&reader, read, limit: limit, into: keyspace, plan)
      } catch {
        // A keyspace that was made for nothing does not stay.
        if isNew, (try? keyspace.count()) == 0 { _ = try? store.removeKeyspace(keyspace.name) }
        throw error
      }
    }
  }

  /// The format of the input.
  ///
  /// - Throws: ``ToolError/otherFile(name:what:remedy:)`` for a file of another program; ``ToolError/noKeyField(name:)``.
  private func format(of reader: inout LineReader) throws(ToolError) -> TransferFormat {
    guard isToldByBeginning else {
      if let (what, remedy) = try InputKind.foreign(in: &reader) {
        throw .otherFile(name: reader.name, what: what, remedy: remedy)
      }
      return read
    }
    switch try InputKind.next(in: &reader) {
    case .entries(.mdb) where resume:
      throw .otherFile(name: reader.name, what: "a dump of LMDB or Berkeley DB", remedy: "load it without --resume")
    case .entries(let format): return format
    case .documents: throw .noKeyField(name: reader.name, isJSON: true)
    case .foreign(let what, let remedy): throw .otherFile(name: reader.name, what: what, remedy: remedy)
    case .unknown: throw .noKeyField(name: reader.name, isJSON: false)
    }
  }

  private func load(
    _ reader: inout LineReader,
    _ read: TransferFormat,
    limit: Int,
    into keyspace: Keyspace,
    _ plan: LoadPlan
  ) throws {
    if keyField != nil { try Self.requireText(keyspace) }
    var checkpoint: LoadCheckpoint?
    if resume {
      checkpoint = try LoadCheckpoint(input: inputName, into: keyspace)
    } else {
      try LoadCheckpoint.forget(input: inputName, into: keyspace)
    }
    func run(_ source: some RecordSource) throws {
      var loader = Loader(source, into: keyspace, resuming: checkpoint, plan)
      try loader.run(&reader)
    }
    switch (read, keyField.flatMap { KeyField(argument: $0) }) {
    case (.csv, _), (.tsv, _): try run(CSVSource(keyField: keyField, limit: limit, dialect(of: read)))
    case (.mdb, _): try run(MDBSource())
    case (_, let keyField?) where try ListSource.isNext(in: &reader): try run(ListSource(keyField: keyField))
    case (_, let keyField?): try run(DocumentSource(keyField: keyField))
    default: try run(EntrySource())
    }
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
    file == "-" ? "standard input" : URL(fileURLWithPath: file).standardizedFileURL.path
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
