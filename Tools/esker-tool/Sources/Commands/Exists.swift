import ArgumentParser
import Esker

struct Exists: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "exists",
    abstract: "Say by the exit code whether keys have values.",
    discussion: """
      Prints nothing. The exit code is 0 if all the keys have values, and 1 if one is absent or its value has expired.

      Examples:
        esker exists cities.esker at
        esker exists cities.esker fr --quiet || esker put cities.esker fr Paris
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys.", completion: .keys)
  var keys: [String]

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    do {
      try store.read { store in
        let keyspace = try keyspace.existing(in: store)
        let bytes = try given.map { try $0.bytes(in: keyspace) }
        try forEachKey(keys, bytes, isQuiet: self.store.quiet) { try keyspace.contains($0) }
      }
    } catch ToolError.notFound where store.quiet {
      throw ToolError.someAbsent
    }
  }
}
