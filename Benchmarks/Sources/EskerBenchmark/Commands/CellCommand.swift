import ArgumentParser
import Foundation

/// Makes one measurement in this process and prints it as JSON.
///
/// Called by `run`, and useful under a profiler.
struct CellCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cell",
    abstract: "Makes one measurement in this process and prints it as JSON."
  )

  @Option(help: "What to do.") var workload: Workload
  @Option(help: "Who does it.") var subject: Subject = .esker
  @Option(help: "Distinct keys in the store.") var keys = 1_000_000
  @Option(help: "Operations to measure.") var operations = 1_000_000
  @Option(help: "Length of each value.") var valueLength = 100
  @Option(help: "Threads that do them.") var threads = 1
  @Flag(help: "Put the limit's table on huge pages.") var hugePages = false
  @Flag(help: "An earlier process has filled the store.") var filled = false
  @Option(help: "Bytes of memory that may be used, files included (beyond-*).") var memory = 0
  @Option(help: "Seconds to measure (beyond-*).") var seconds = 15.0
  @Option(help: "An existing directory for the files.") var directory: String
  @OptionGroup var data: DataOptions
  @Flag(help: "Be killed when everything is written (one-key, come-and-go).") var kill = false

  func run() throws {
    let assignment = Assignment(
      workload: workload,
      subject: subject,
      keys: keys,
      operations: operations,
      valueLength: valueLength,
      threads: threads,
      hugePages: hugePages,
      isFilled: filled,
      directory: directory,
      memory: memory,
      seconds: seconds,
      traces: data.traces,
      documents: data.documents,
      plots: data.plots,
      isKilled: kill
    )
    let measurement =
      switch subject {
      case .limit: try LimitSubject(assignment).measure()
      case .esker, .eskerBatched, .eskerUnordered: try EskerSubject(assignment).measure()
      case .grdb, .grdbBatched: try GRDBStore.measure(assignment)
      default: try PeerSubject(assignment).measure()
      }
    print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
  }
}
