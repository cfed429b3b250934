import ArgumentParser
import Esker

struct Stats: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Print figures about the store.",
    discussion: """
      Keys that have expired are counted until they are removed; "count" and "keyspaces" leave them out. "index" is what \
      the index takes of memory, about 15 bytes a key, part of it in pages of a checkpoint that the system may drop. "writer" is \
      the process that has the store open for writing. \
      What is on disk is the sum of the lines in front of it: what is live, what is dead, which a merge gives back, the space that files \
      have for what is written next, the reserve for a full volume, the checkpoint of the index, and headers, footers and all else. \
      "opened" says what the last opening for writing has found, and each before it that found a crash or damage: what was cut off, and \
      what was lost. With \
      --json, prints one object, whose fields keep their names and meanings; sizes are in bytes. With --format prometheus, \
      prints what Prometheus collects, also from the process that has the store open, if it publishes statistics.

      Examples:
        esker stats cities.esker
        esker stats cities.esker --json | jq .bytesOnDisk
        esker stats cities.esker --format prometheus > esker.prom
      """,
    aliases: ["info"]
  )

  @OptionGroup var store: StoreArguments

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json, prometheus
  }

  @Option(help: "The format to print: text, json or prometheus.")
  var format = Format.text

  @Flag(help: "Print JSON: --format json.")
  var json = false

  func validate() throws {
    if json, format == .prometheus { throw ValidationError("--json and --format say two things about the format.") }
  }

  func run() throws {
    try store.read { store in
      let report = StatisticsReport(
        path: store.path,
        statistics: store.statistics,
        history: store.history,
        writer: LogStore.writer(at: store.path),
        advises: !self.store.quiet
      )
      switch json ? .json : format {
      case .text: try BufferedOutput.print(report.text(in: .output))
      case .json: try BufferedOutput.print(report.json)
      case .prometheus: try BufferedOutput.print(StatisticsReport.prometheus(of: store))
      }
    }
  }
}
