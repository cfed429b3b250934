import ArgumentParser
import Esker

struct Increment: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "increment",
    abstract: "Add to a counter, and print the sum.",
    discussion: """
      A counter is a whole number of 8 bytes, what a program keeps as Int, Int64 or UInt64. An absent key counts as 0, and the \
      store is created if need be. The sum wraps around on overflow; a value that expires keeps its expiry.

      Examples:
        esker increment visits.esker home
        esker increment visits.esker home --by -5 --keyspace pages
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.", completion: .keys)
  var key: String

  @Option(parsing: .unconditional, help: ArgumentHelp("How much to add.", valueName: "number"))
  var by: Int64 = 1

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func run() throws {
    let key = try encoding.given(key)
    let sum = try store.write(creating: true) { store in
      let keyspace = try keyspace.writable(in: store)
      let isSigned = try Self.countsSigned(keyspace)
      let bytes = try key.bytes(in: keyspace)
      if let length = try keyspace.metadata(forKey: bytes)?.length, length != 8 { throw ToolError.noCounter(self.key) }
      let sum = try keyspace.increment(bytes, by: by)
      return isSigned ? "\(sum)" : "\(UInt64(bitPattern: sum))"
    }
    try BufferedOutput.print(sum + "\n")
  }

  /// Whether counters of the keyspace have a sign; throws if its values are something else.
  private static func countsSigned(_ keyspace: Keyspace) throws(ToolError) -> Bool {
    guard let form = keyspace.valueForm else { return true }
    guard case .integer(bytes: 8, let isSigned, _) = keyspace.shownValues else {
      throw .noCounters(keyspace: keyspace.name, form: form)
    }
    return isSigned
  }
}
