import ArgumentParser
import Esker

struct Persist: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist",
    abstract: "Make values never expire.",
    discussion: """
      The exit code is 1 if a key is absent or its value has expired.

      Example:
        esker persist sessions.esker user:17
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys.", completion: .keys)
  var keys: [String]

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.write(creating: false) { store in
      let keyspace = try keyspace.existing(in: store)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      try forEachKey(keys, bytes, isQuiet: self.store.quiet) { try keyspace.persist($0) != nil }
    }
  }
}
