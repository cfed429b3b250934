import ArgumentParser
import Esker
import Foundation

struct Bench: ParsableCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure how fast a store is on this machine and disk.",
    discussion: """
      Creates a store of its own in a new directory inside the given one, and removes it afterwards; nothing else there is \
      touched. Every call is timed, including the reading of the clock; latencies are exact to a quarter.

      fill puts new keys; read gets them at random; mixed gets and puts in equal parts; zipfian mostly gets the same few \
      keys; durable puts and waits for the disk each time. --reads 80 makes four of five calls of mixed gets.

      --data takes keys and values of a store of your own, as many as --records, instead of random ones of one size. They are read \
      into memory, and the store is only read.

      Examples:
        esker bench .
        esker bench /mnt/disk --value-size 1kB --threads 4 --plot latencies.svg
        esker bench . --data cities.esker --workload mixed --reads 80
        esker bench . --workload durable --threads 16 --json
      """
  )

  @Argument(help: "The directory to work in; its disk is measured.", completion: .directory)
  var directory = "."

  @Option(name: .customLong("workload"), help: "Run only this workload; may be repeated. A fill always comes first.")
  var workloads: [BenchWorkload] = []

  @Option(
    help: ArgumentHelp("Use the entries of this store, as many as --records says.", valueName: "store"),
    completion: .directory
  )
  var data: String?

  @Option(
    name: [.customShort("k"), .long],
    help: ArgumentHelp("Use the entries of this keyspace of the store.", valueName: "name")
  )
  var keyspace: String?

  @Option(help: ArgumentHelp("How many calls of the workload mixed are gets.", valueName: "percent"))
  var reads = 50

  @Option(help: ArgumentHelp("How many keys there are.", valueName: "count"))
  var records = 500_000

  @Option(help: ArgumentHelp("Bytes of a key, 11 or more.", valueName: "size"))
  var keySize = ByteSize(bytes: 16)

  @Option(help: ArgumentHelp("Bytes of a value, \(ByteSize.help).", valueName: "size"))
  var valueSize = ByteSize(bytes: 100)

  @Option(help: ArgumentHelp("How many threads work in parallel.", valueName: "count"))
  var threads = 1

  @Option(
    help: ArgumentHelp("How long each workload except the fill runs, \(TimeToLive.help).", valueName: "duration")
  )
  var duration = TimeToLive(seconds: 3)

  @Option(help: ArgumentHelp("Draw the latencies to a new SVG file.", valueName: "file"), completion: .file())
  var plot: String?

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(name: [.short, .long], help: "Print only results and errors: no progress.")
  var quiet = false

  func validate() throws {
    guard (1...1_000_000_000).contains(records) else { throw ValidationError("--records takes 1 to 1,000,000,000.") }
    guard 0...100 ~= reads else { throw ValidationError("--reads takes a percentage from 0 to 100.") }
    guard keyspace == nil || data != nil else { throw ValidationError("--keyspace goes with --data.") }
    guard (1...1024).contains(threads) else { throw ValidationError("--threads takes 1 to 1024.") }
    guard duration.duration <= .seconds(86_400) else { throw ValidationError("--duration takes up to 1d.") }
    guard (11...LogStore.maximumKeyLength).contains(keySize.bytes) else {
      throw ValidationError("--key-size takes 11 to \(LogStore.maximumKeyLength).")
    }
    guard valueSize.bytes <= LogStore.maximumValueLength else {
      throw ValidationError("--value-size takes up to \(LogStore.maximumValueLength).")
    }
  }

  func run() throws {
    Interruption.install()
    if let plot, FileManager.default.fileExists(atPath: plot) { throw ToolError.outputExists(path: plot) }
    let plan = try plan()
    let place = try makeDirectory()
    defer { try? FileManager.default.removeItem(atPath: place) }
    let report = BenchReport(plan: plan, results: try measure("\(place)/store", plan))
    var output = BufferedOutput.standard()
    if json { try output.write(report.json) } else { try report.write(to: &output) }
    try output.flush()
    if let plot { try withOutput(plot) { try $0.write(BenchPlot(report: report).svg) } }
  }

  private func plan() throws -> BenchPlan {
    var plan = BenchPlan(
      records: records,
      keyLength: keySize.bytes,
      valueLength: valueSize.bytes,
      threads: threads,
      seconds: duration.duration.seconds,
      reads: reads
    )
    guard let data = try data.map({ try entries(of: $0) }) else { return plan }
    (plan.records, plan.keyLength, plan.valueLength) = (data.entries.count, data.meanKeyLength, data.meanValueLength)
    plan.data = data
    return plan
  }

  private func entries(of path: String) throws -> BenchData {
    var source = StoreArguments()
    (source.store, source.quiet) = (path, quiet)
    return try source.read { store in
      var named = KeyspaceOption()
      named.keyspace = keyspace
      let name = try named.existing(in: store).name
      let progress = Progress("reading", of: "entries", total: records, isQuiet: quiet)
      defer { progress.clear() }
      let data = try BenchData(of: store, keyspace: name, limit: records, progress)
      guard !data.entries.isEmpty else {
        try named.noteOthers(in: store, ifEmpty: true, isQuiet: quiet)
        throw ToolError.nothingToMeasure(path: path)
      }
      return data
    }
  }

  private func measure(_ path: String, _ plan: BenchPlan) throws -> [BenchResult] {
    let chosen = workloads.isEmpty ? BenchWorkload.allCases : workloads
    let store = try LogStore(at: path)
    var results: [BenchResult] = []
    do {
      for workload in BenchWorkload.allCases where workload == .fill || chosen.contains(workload) {
        let total = workload == .fill ? plan.records : nil
        let progress = Progress("\(workload.rawValue):", of: "operations", total: total, isQuiet: quiet)
        defer { progress.clear() }
        let result = try BenchRun(store: store, plan: plan).run(workload, progress)
        if chosen.contains(workload) { results.append(result) }
      }
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
    return results
  }

  /// Creates a new directory with a unique name.
  private func makeDirectory() throws(ToolError) -> String {
    guard let path = SystemCalls.makeDirectory("\(directory)/esker-bench.XXXXXX") else {
      throw errno == ENOENT
        ? .noDirectory(path: directory) : .system(operation: "create a directory in", path: directory, errno: errno)
    }
    return path
  }
}
