import ArgumentParser
import Esker

struct Drop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove a keyspace and everything in it.",
    discussion: """
      Also what it records about its keys and values. The default keyspace cannot be removed, but emptied, with "clear".

      Example:
        esker drop cities.esker sessions
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keyspace's name.", completion: .keyspaces)
  var name: String

  func run() throws {
    let isDropped = try store.write(creating: false) { store in try store.removeKeyspace(name, durability: .synced) }
    guard isDropped else { throw ToolError.noKeyspace(name, path: store.store) }
  }
}
