import ArgumentParser
import Esker

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a key's value to standard output.",
    discussion: """
      Numbers, CBOR and other values whose form the keyspace records are written as text, CBOR as JSON; all others, and those \
      that are not of that form, as they are. --raw writes every value as it is. A newline is added only if standard output \
      is a terminal. The exit code is 1 if the key is absent or its value has expired.

      Examples:
        esker get game.esker 42 --keyspace boards | jq .squares
        esker get pictures.esker logo > logo.png
        esker get pictures.esker ff00 --key-encoding hex | xxd
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.")
  var key: String

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Write the value's bytes, whatever form is recorded.")
  var raw = false

  func run() throws {
    let key = try encoding.given(key)
    try store.read { store in
      var output = BufferedOutput.standard()
      let keyspace = try keyspace.existing(in: store)
      let form = raw ? .raw : keyspace.shownValues
      let found: Void? = try keyspace.withValue(forKey: try key.bytes(in: keyspace)) { (value) throws in
        guard form != .raw else { return try output.write(value) }
        var bytes: [UInt8] = []
        bytes.append(contentsOf: value)
        if let text = form.text(of: bytes) { return try output.write(text) }
        if !self.store.quiet {
          StandardError.report("the value is not of the form \(keyspace.valueForm ?? ""), and is written as it is")
        }
        try output.write(value)
      }
      guard found != nil else { throw ToolError.notFound(self.key) }
      if output.isTerminal { try output.write("\n") }
      try output.flush()
    }
  }
}
