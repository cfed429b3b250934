import ArgumentParser
import Esker
import EskerTools
import Foundation

struct Dump: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Write entries, all of them or some.",
    discussion: """
      Writes to a new file, compressed with gzip if its name ends with .gz, or to standard output. The entries are the store \
      at one instant, in no particular order. "load" reads \
      them back.

      ndjson: each line is an object with "key", "value" and "expires" (an ISO 8601 instant, or null). Where the keyspace \
      records what its keys and values are, they are written as that, a CBOR value as JSON, and "keyForm" and "valueForm" name \
      it; "load" makes the same bytes and records the forms again. In CBOR, what JSON has no type for is marked, as \
      {"$base64": "AP8="} for bytes. A key or value that is not UTF-8, or would not come back byte for byte, is written \
      under "key64" or "value64" instead, in base 64, so that nothing is lost. --encoding writes the bytes of all of them in \
      one way ("keyHex" and "valueHex" for hex), --decode raw writes them as if nothing were recorded. An entry of a named \
      keyspace begins with "keyspace"; with --keyspace only that one is written, without the field.

      csv: the same under a header. Entries that are neither UTF-8 nor of a known form need --encoding.

      sqlite: a new SQLite database with a table "entries", whose columns are those of csv, made by the program sqlite3. Text \
      and what has a form is text, whole numbers of a form are numbers, all else is a blob.

      folder: a new folder with a file for each key of one keyspace, whose name is the key: letters, digits, dots, dashes and \
      underscores as they are, other bytes as % and two digits. Files say nothing of expiry.

      binary: the whole store, with checksums and the default expiry of its keyspaces.

      --prefix, --from, --to, --match, --where, --limit and --sort choose and order entries as they do for "list", in all formats but the \
      binary one.

      An entry whose record is damaged is reported on standard error and skipped; the exit code is then 1. The binary stream \
      ends there instead: see esker repair.

      Examples:
        esker dump cities.esker cities.ndjson.gz
        esker dump game.esker --keyspace boards | jq .value.title
        esker dump cities.esker --where 'block = Emoticons' --sort key --limit 10
        esker dump cities.esker cities.csv
        esker dump cities.esker cities.sqlite
        esker dump cities.esker cities.stream --format binary
      """,
    aliases: ["export"]
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file; - is standard output.", completion: .file())
  var file = "-"

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case ndjson, csv, sqlite, folder, binary
  }

  @Option(
    help:
      "The format to write. By default what the file's name says: .csv, .sqlite, .sqlite3 or .db, or .ndjson, .jsonl or nothing."
  )
  var format: Format?

  @Option(help: "How to write keys and values: text, hex or base64.")
  var encoding: ByteEncoding?

  @OptionGroup var selection: Selection

  @OptionGroup var order: EntryOrder

  @OptionGroup var decoding: DecodeOption

  @OptionGroup var keyspace: KeyspaceOption

  @Flag(help: "Say how much would be written, and write nothing.")
  var dryRun = false

  @Flag(help: "Print a summary in JSON when writing to a file.")
  var json = false

  var written: Format {
    if let format { return format }
    return switch TransferFormat(fileName: file) {
    case .csv: .csv
    case .sqlite: .sqlite
    default: .ndjson
    }
  }

  var takesKeyspace: Bool { written != .binary }

  func validate() throws {
    try TransferFormat.requirePlain(file, "write to standard output, and pipe that through a program that does.")
    if format == nil { try TransferFormat.requireWritable(file) }
    if encoding != nil, decoding.decode != .auto, decoding.decode != .raw {
      throw ValidationError("--encoding writes bytes: it goes without --decode.")
    }
    if written == .sqlite {
      guard file != "-", !file.lowercased().hasSuffix(".gz") else {
        throw ValidationError("An SQLite database is a file: give its path, and compress it afterwards.")
      }
      if encoding != nil {
        throw ValidationError("An SQLite database holds bytes as they are: it goes without --encoding.")
      }
    }
    if written == .folder, file == "-" || encoding != nil {
      throw ValidationError("A folder has files of bytes: give its path, and no --encoding.")
    }
    guard written == .binary else { return }
    if decoding.decode != .auto { throw ValidationError("A binary stream holds bytes: it goes without --decode.") }
    if encoding != nil || keyspace.keyspace != nil || !selection.isEverything || order.sort != nil {
      throw ValidationError(
        "A binary stream is the whole store, in its own order: without --encoding, --keyspace and what chooses."
      )
    }
  }

  func run() throws {
    try store.read { store in
      Interruption.install()
      let start = ContinuousClock.now
      var summary = DumpSummary()
      let name = try keyspace.name(in: store)
      let isBytes = encoding != nil || decoding.decode == .raw
      let forms = isBytes ? nil : EntryForms(of: store, decoding.decode)
      try withTarget { output in
        switch written {
        case .binary: try writeStream(of: store, &output, &summary)
        case .ndjson:
          let formatter = JSONEntries(namesKeyspaces: name == nil, encoding: encoding, forms)
          try write(store, name, formatter, &output, &summary)
        case .csv:
          let formatter = try CSVEntries(
            namesKeyspaces: name == nil,
            encoding: encoding,
            forms,
            of: store.keyspaces(name)
          )
          try write(store, name, formatter, &output, &summary)
        case .sqlite:
          try write(store, name, SQLiteEntries(namesKeyspaces: name == nil, forms), &output, &summary)
          try output.write(SQLiteEntries.end)
        case .folder:
          try keyspace.noteOthers(in: store, isQuiet: self.store.quiet)
          try write(store, name ?? "", FolderEntries(dryRun ? nil : file, forms), &output, &summary)
        }
      }
      if file != "-" || dryRun {
        try summary.report(
          seconds: (ContinuousClock.now - start).seconds,
          asJSON: json,
          isQuiet: self.store.quiet,
          isDryRun: dryRun
        )
      }
      guard summary.isIntact else { throw ToolError.damageFound }
    }
  }

  /// Calls `body` with what takes the entries in their format.
  private func withTarget(_ body: (inout BufferedOutput) throws -> Void) throws {
    if dryRun {
      if file != "-", SystemCalls.status(file) != nil { throw ToolError.outputExists(path: file) }
      return try withoutOutput(body)
    }
    if written == .sqlite { return try withDatabase(file, body) }
    if written == .folder { return try withFolder(file) { try withoutOutput(body) } }
    try withOutput(file, compressing: true, body)
  }

  private func writeStream(of store: LogStore, _ output: inout BufferedOutput, _ summary: inout DumpSummary) throws {
    let progress = Progress("writing", total: store.statistics.liveBytes, isQuiet: self.store.quiet)
    defer { progress.clear() }
    var bytes = 0
    let report = try store.exportStream { piece in
      try Interruption.check()
      try output.write(piece)
      bytes += piece.byteCount
      progress.update(done: bytes)
    }
    summary.entries = report.entries
    summary.bytes = report.bytes
  }

  private func write(
    _ store: LogStore,
    _ keyspace: String?,
    _ formatter: some EntryFormatter,
    _ output: inout BufferedOutput,
    _ summary: inout DumpSummary
  ) throws {
    var formatter = formatter
    let isPart = selection.limit != nil && order.sort == nil
    let count = isPart ? nil : try store.count(in: keyspace)
    let filter = try EntryFilter(
      selection,
      encoding,
      EntryForms(of: store, decoding.decode),
      in: store.keyspaces(keyspace)
    )
    let progress = Progress("writing", of: "entries", total: count, isQuiet: self.store.quiet)
    defer { progress.clear() }
    try output.write(formatter.header)
    defer { summary.bytes += output.byteCount }
    do {
      summary.isIntact = try forEachEntry(of: store, in: keyspace, progress, taking: filter, in: order.order) { entry in
        try formatter.write(entry, to: &output)
        summary.entries += 1
      }
    } catch let error as ToolError where file == "-" {
      // Keeps whole lines, up to where it ended.
      try output.flush()
      throw error
    }
  }
}

/// The totals of a dump.
struct DumpSummary {
  var entries = 0
  var bytes = 0
  var isIntact = true

  func report(seconds: Double, asJSON: Bool, isQuiet: Bool, isDryRun: Bool) throws(ToolError) {
    let rate = HumanUnits.bytes(Int(Double(bytes) / max(seconds, 1e-6)))
    let what = "\(HumanUnits.entries(entries)) (\(HumanUnits.bytes(bytes)))"
    let text = "\(isDryRun ? "would write" : "wrote") \(what) in \(NumberText.fixed(seconds, 3)) s: \(rate)/s"
    try reportDone(text, asJSON: asJSON, isQuiet: isQuiet) { writer in
      writer.fields(["entries": entries, "bytes": bytes])
      writer.field("seconds", seconds)
    }
  }
}
