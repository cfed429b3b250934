import ArgumentParser
import Esker

struct Drop: ParsableCommand {
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
    try store.write(creating: false) { store in
      let names = try store.keyspaceNames
      if names.contains(name) {
        let count = try store.keyspace(name).count()
        let shown = escaped(Array(name.utf8))
        try confirmation.require("remove the keyspace \"\(shown)\" and its \(HumanUnits.entries(count))?")
      }
      guard try store.removeKeyspace(name, durability: .synced) else {
        throw ToolError.noKeyspace(name, path: store.path, meant: nearest(to: name, among: names.sorted()))
      }
    }
  }
}
