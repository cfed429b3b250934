import ArgumentParser
import Esker

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a key's value to standard output.",
    discussion: """
      The value is written as it is. A newline is added only if standard output is a terminal. The exit code is 1 if the key \
      is absent or its value has expired.

      Examples:
        esker get pictures.esker logo > logo.png
        esker get pictures.esker ff00 --key-encoding hex | xxd
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.")
  var key: String

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func run() throws {
    let bytes = try encoding.bytes(of: key)
    try store.read { store in
      var output = BufferedOutput.standard()
      let found: Void? = try keyspace.existing(in: store).withValue(forKey: bytes) { (value) throws in
        try output.write(value)
      }
      guard found != nil else { throw ToolError.notFound(key) }
      if output.isTerminal { try output.write("\n") }
      try output.flush()
    }
  }
}
