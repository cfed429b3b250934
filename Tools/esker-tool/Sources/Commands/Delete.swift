import ArgumentParser
import Esker

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove keys.",
    discussion: """
      Absent keys are skipped; the exit code is 1 if none of the keys existed.

      Example:
        esker delete cities.esker at de ch
      """,
    aliases: ["rm", "del"]
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys to remove.")
  var keys: [String]

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Return only once the removal survives a power failure.")
  var synced = false

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.write(creating: false) { store in
      let keyspace = try keyspace.existing(in: store)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      var removed = 0
      for key in bytes where try keyspace.remove(key) { removed += 1 }
      if synced { try store.sync() }
      guard removed > 0 else {
        throw keys.count == 1 ? ToolError.notFound(keys[0]) : ToolError.nothingFound(keys.count)
      }
    }
  }
}
