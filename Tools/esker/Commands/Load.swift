import ArgumentParser
import Esker

struct Load: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Store a file of JSON documents, one a line.",
    discussion: """
      Each line is a JSON object (NDJSON). Its bytes, exactly as they are and without the newline, are stored under the \
      text of its key field, which must be a string or a number of the outermost object; a number's text is as written. \
      Blank lines are passed over. When several lines have the same key, the last one stays.

      A line that is not a document, or has no such field, or has it twice, stops the load: what came before it stays, \
      and the exit code is 1. With --skip-bad such lines are counted and passed over, the first 10 are reported, and the \
      exit code is 0.

      With --acknowledge N, the number of records stored so far is printed after every N records and at the end: records \
      up to there survive the end of this process however it comes, and with --synced a power cut too.

      Examples:
        esker load cities.esker cities.ndjson --key-field id
        zcat cities.ndjson.gz | esker load cities.esker - --key-field id
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The file; - is standard input.", completion: .file())
  var file: String

  @Option(help: ArgumentHelp("The field whose text is the key.", valueName: "name"))
  var keyField: String

  @Option(help: ArgumentHelp("Let the values go after this long, \(TimeToLive.help).", valueName: "duration"))
  var ttl: TimeToLive?

  @OptionGroup var keyspace: KeyspaceOption

  @Flag(help: "Pass over lines that cannot be loaded.")
  var skipBad = false

  @Flag(help: "Make the records survive a power cut before they are acknowledged and before the command ends.")
  var synced = false

  @Option(help: ArgumentHelp("Print the number of records stored after every so many.", valueName: "count"))
  var acknowledge: Int?

  func validate() throws {
    if let acknowledge, acknowledge < 1 { throw ValidationError("--acknowledge takes a number of at least 1.") }
  }

  func run() throws {
    // The input first: a name mistyped makes no store.
    let input = try InputFile(file)
    let plan = LoadPlan(
      expiry: ttl.map { .after($0.duration) },
      skipsBadLines: skipBad,
      syncs: synced,
      acknowledgeEvery: acknowledge
    )
    try load(input, plan)
  }

  private func load(_ input: consuming InputFile, _ plan: LoadPlan) throws {
    var reader = LineReader(input, limit: LogStore.maximumValueLength)
    try store.write(creating: true) { store in
      var loader = Loader(into: try keyspace.writable(in: store), keyField: keyField, plan)
      try loader.run(&reader)
    }
  }
}
