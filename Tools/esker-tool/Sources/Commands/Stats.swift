import ArgumentParser
import Esker

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print figures about the store.",
    discussion: """
      Keys that have expired are counted until they are removed; "count" and "keyspaces" leave them out. With --json, prints one object, whose fields keep their names and meanings; sizes are in bytes.

      Examples:
        esker stats cities.esker
        esker stats cities.esker --json | jq .bytesOnDisk
      """,
    aliases: ["info"]
  )

  @OptionGroup var store: StoreArguments

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read { store in
      let report = StatisticsReport(path: store.path, statistics: store.statistics)
      var output = BufferedOutput.standard()
      if json { try output.write(report.json) } else { try output.write(report.text(in: .output)) }
      try output.flush()
    }
  }
}
