import ArgumentParser
import Esker

struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print how many keys there are.",
    discussion: """
      Counts what "get" would find: a key whose value has expired is not counted.

      Examples:
        esker count cities.esker
        esker count cities.esker --keyspace sessions
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var keyspace: KeyspaceOption

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read { store in
      let count = try keyspace.existing(in: store).count()
      try printFigures([("keys", count)], text: "\(count)", asJSON: json)
    }
  }
}
