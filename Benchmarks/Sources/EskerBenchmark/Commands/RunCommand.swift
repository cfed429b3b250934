import ArgumentParser
import CLimits
import Foundation

/// Measures every cell and reports; each measurement in a fresh process, with the subjects taking turns.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measures every cell and prints the results as Markdown.",
    discussion: """
      Each measurement is made by a fresh process. In each run the subjects take turns, and a ratio is the median of the runs' \
      ratios. See Benchmarks/README.md for what each cell does.
      """
  )

  @Option(parsing: .upToNextOption, help: "Keys in the store. 1,000,000 when not given.") var keys: [Int] = []
  @Option(
    parsing: .upToNextOption,
    help: "Lengths of values to compare, beside 100. 16, 4,096 and 65,536 when not given."
  )
  var values: [Int] = []
  @Option(parsing: .upToNextOption, help: "Threads of the cells with several. 2 when not given.") var threads: [Int] =
    []
  @Option(parsing: .upToNextOption, help: "Only these.") var engines: [Subject] = []
  @Option(parsing: .upToNextOption, help: "Only these cells; get* stands for all that begin so.") var only: [String] =
    []
  @Option(help: "Runs of each cell.") var runs = 3
  @Option(help: "Seconds beyond which a measurement of another engine is made once only.") var patience = 5.0
  @Option(help: "Operations of a read cell.") var reads: Int?
  @Option(help: "Records of the YCSB cells.") var records: Int?
  @Option(help: "Keys of the growth cell.") var growthKeys: Int?
  @Option(help: "Where to put the stores. A file system in memory makes the synced cells meaningless.")
  var directory = ".build/benchmark"
  @Option(help: "Also write results.md, results.json and a plot a cell to this directory.") var output: String?
  @OptionGroup var data: DataOptions
  @Flag(help: "A small run of everything, whose figures mean little.") var quick = false
  @Flag(
    help: "End with an error when Esker is far slower than it was, in comparison with the limit. Only with --quick."
  )
  var check = false

  func validate() throws {
    guard runs > 0, keys.allSatisfy({ $0 >= 1_000 }), growthKeys ?? 1 > 0, (reads ?? 1_000) >= 1_000,
      (records ?? 1_000) >= 1_000
    else {
      throw ValidationError("Give at least one run, 1,000 keys, 1,000 records and 1,000 reads.")
    }
    guard values.allSatisfy({ (10...16_000_000).contains($0) }), threads.allSatisfy({ (2...64).contains($0) }) else {
      throw ValidationError("Values take 10 to 16,000,000 bytes, cells with several threads 2 to 64.")
    }
    if check && !quick { throw ValidationError("What a quick run must reach is known for --quick only.") }
    for name in only where !cells.contains(where: { $0.isCalled(name) }) {
      throw ValidationError(
        "There is no cell \(name). There are: \(Set(cells.map(\.id)).sorted().joined(separator: ", "))."
      )
    }
  }

  private var cells: [Cell] {
    var scale = quick ? Scale.quick : Scale.full
    if !keys.isEmpty { scale.keys = keys }
    if !values.isEmpty { scale.valueLengths = values }
    if !threads.isEmpty { scale.threads = threads }
    if let growthKeys { scale.growth = growthKeys }
    if let records { scale.mixed = records }
    if let reads { scale.reads = reads }
    return Cell.table(scale)
  }

  func run() throws {
    let directory = URL(fileURLWithPath: directory).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if bench_is_memory_file_system(directory) {
      note("\(directory) is in memory: the synced cells measure no device.")
    }
    let subjects = Set(engines.isEmpty ? Subject.allCases : engines.flatMap(\.family) + [.limit])
    for missing in Set(subjects.filter { !$0.isAvailable }.map(\.engine)).sorted() {
      note("\(missing) is not installed and left out; Benchmarks/run installs it.")
    }
    if !MemoryGroup.isAvailable {
      note("No control group for memory can be made here: the cells beyond memory are left out.")
    }
    let options = data.arguments + ["--seconds", "\(quick ? Scale.quick.beyondSeconds : Scale.full.beyondSeconds)"]
    let filled = FilledStores(directory: directory, options: options)
    defer { filled.keep(for: []) }
    let runner = CellRunner(
      directory: directory,
      runs: quick ? 1 : runs,
      patience: patience,
      subjects: subjects.filter(\.isAvailable),
      options: options,
      filled: filled
    )
    let begin = ContinuousClock.now
    var results: [CellResult] = []
    let chosen = cells.filter { cell in
      (only.isEmpty || only.contains(where: cell.isCalled)) && (cell.timesMemory == 0 || MemoryGroup.isAvailable)
        && cell.subjects.contains { $0 != .limit && runner.subjects.contains($0) }
    }
    for (index, cell) in chosen.enumerated() {
      note("\(cell.id), \(cell.keys) keys (\(begin.duration(to: .now).components.seconds) s)")
      let result = try runner.run(cell)
      if let contradiction = result.contradiction {
        note("\(result.cell): \(contradiction)")
        throw ExitCode.failure
      }
      results.append(result)
      filled.keep(for: chosen.dropFirst(index + 1))
      // A run takes long: results so far survive an interruption.
      if let output { try write(results, to: URL(fileURLWithPath: output).path) }
    }
    print(MarkdownReport(results: results).text)
    if check { try Regressions(runner: runner, cells: cells, note: note).check(results) }
  }

  private func write(_ results: [CellResult], to output: String) throws {
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    try Data(MarkdownReport(results: results).text.utf8).write(to: URL(fileURLWithPath: output + "/results.md"))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(JSONReport(results: results)).write(to: URL(fileURLWithPath: output + "/results.json"))
    if let last = results.last, last.measured.count > 1 { try BarPlot(result: last).write(to: output + "/plots") }
  }

  private func note(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}

extension Cell {
  /// A name that ends with an asterisk matches all cells that begin with it.
  func isCalled(_ name: String) -> Bool {
    id == name || name.hasSuffix("*") && id.hasPrefix(name.dropLast())
  }
}
