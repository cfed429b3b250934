import ArgumentParser
import Esker

struct Drop: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Remove a keyspace and everything in it.",
    discussion: """
      Also what it records about its keys and values. The default keyspace cannot be removed, but emptied, with "clear". On a terminal, it \
      asks first, unless --yes says not to.

      Example:
        esker drop cities.esker sessions
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keyspace's name.", completion: .keyspaces)
  var name: String

  @OptionGroup var confirmation: Confirmation

  func run() throws { try Self.drop(name, from: store, confirmation) }

  static func drop(_ name: String, from store: StoreArguments, _ confirmation: Confirmation) throws {
    try confirmation.require {
      try store.read { store in
        guard try store.keyspaceNames.contains(name) else { return nil }
        let count = try store.keyspace(name).count()
        return "remove the keyspace \"\(escaped(Array(name.utf8)))\" and its \(HumanUnits.entries(count))?"
      }
    }
    try store.write(creating: false) { store in
      guard try store.removeKeyspace(name, durability: .synced) else {
        throw try ToolError.noKeyspace(name, in: store)
      }
    }
  }
}
