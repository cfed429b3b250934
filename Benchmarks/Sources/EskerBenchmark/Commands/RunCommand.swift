import ArgumentParser
import CLimits
import Foundation

/// Measures every cell and prints a table; each measurement in a fresh process, Esker and limit in turn.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Measures every cell and prints a Markdown table.",
    discussion: """
      Each measurement is made by a fresh process. In each run Esker and the limit take turns, and the ratio is the median of \
      the runs' ratios. Latencies come from a further process in which each operation is timed alone (two clock \
      calls, of which about 25 ns are in the figure); throughput is measured without them. Keys are 16 random bytes, values 100 bytes. \
      Gets are made one after the other, with a load fence between them on both sides, except in get-overlapping and multi-get. \
      The limit's table lies on ordinary pages, for reads of 10 million keys and more on huge pages.
      """
  )

  @Option(help: "Keys in the store; may be given several times. 1,000,000 when not given.") var keys: [Int] = []
  @Option(help: "Runs of each cell.") var runs = 3
  @Option(help: "Only this cell; may be given several times.") var only: [Workload] = []
  @Option(help: "Keys of the growth cell.") var growthKeys = 10_000_000
  @Option(help: "Where to put the stores. A file system in memory makes the sync cells meaningless.")
  var directory = ".build/benchmark"
  @Option(help: "Also write the results as JSON to this file; - prints them.") var json: String?
  @OptionGroup var data: DataOptions
  @Flag(help: "A small run of everything in less than a minute; its figures mean nothing.") var quick = false

  func validate() throws {
    guard runs > 0, growthKeys > 0, keys.allSatisfy({ $0 >= 1_000 }) else {
      throw ValidationError("Give at least one run and at least 1,000 keys.")
    }
  }

  func run() throws {
    let scale =
      quick
      ? Scale(
        keys: keys.isEmpty ? [50_000] : keys,
        reads: 200_000,
        commits: 400,
        growth: 300_000,
        churn: 200_000,
        mixed: 20_000,
        recorded: 3_000
      )
      : Scale(
        keys: keys.isEmpty ? [1_000_000] : keys,
        reads: 2_000_000,
        commits: 5_000,
        growth: growthKeys,
        churn: 10_000_000,
        mixed: 1_000_000,
        recorded: .max
      )
    let cells = Cell.table(scale).filter { only.isEmpty || only.contains($0.workload) }
    let directory = URL(fileURLWithPath: directory).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if bench_is_memory_file_system(directory) {
      note("\(directory) is in memory: the synced cells measure no device.")
    }
    let runner = CellRunner(directory: directory, runs: quick ? 1 : runs, options: data.arguments)
    var results: [CellResult] = []
    for cell in cells {
      note("\(cell.id), \(cell.keys) keys")
      results.append(try runner.run(cell))
    }
    print(MarkdownReport(results: results).text)
    try writeJSON(results)
    for result in results {
      guard let contradiction = result.contradiction else { continue }
      note("\(result.cell): \(contradiction)")
      throw ExitCode.failure
    }
  }

  private func writeJSON(_ results: [CellResult]) throws {
    guard let json else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(results)
    if json == "-" {
      print(String(decoding: data, as: UTF8.self))
    } else {
      try data.write(to: URL(fileURLWithPath: json))
    }
  }

  private func note(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
