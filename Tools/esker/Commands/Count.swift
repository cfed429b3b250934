import ArgumentParser
import Esker

struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print how many keys there are.",
    discussion: """
      Counts what "get" would find: a key whose value has expired is not counted.

      Example:
        esker count cities.esker
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var keyspace: KeyspaceOption

  func run() throws {
    try store.read { store in
      let keyspace = try keyspace.existing(in: store)
      let count = try keyspace.count - keyspace.countExpired()
      var output = BufferedOutput.standard()
      try output.write("\(max(0, count))\n")
      try output.flush()
    }
  }
}
