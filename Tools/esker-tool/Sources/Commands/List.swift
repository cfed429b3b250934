import ArgumentParser
import Esker

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the keys, one per line.",
    discussion: """
      Keys are printed in no particular order, byte for byte; "--null" ends each with a zero byte instead of a newline, for \
      keys that contain newlines. On a terminal, control characters are shown as "?". "--key-encoding" prints keys in hex \
      or base64.

      Examples:
        esker list cities.esker --prefix a --limit 10
        esker list cities.esker --null | xargs -0 esker delete cities.esker
      """
  )

  @OptionGroup var store: StoreArguments

  @Option(help: "Only keys that begin with this text.")
  var prefix = ""

  @Option(help: ArgumentHelp("Stop after this many keys.", valueName: "count"))
  var limit: Int?

  @Flag(name: [.customShort("0"), .customLong("null")], help: "End each key with a zero byte instead of a newline.")
  var endsWithNull = false

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("The limit must not be negative.") }
  }

  func run() throws {
    try store.read { store in
      Interruption.install()
      let name = try keyspace.existing(in: store).name
      let prefix = Array(prefix.utf8)
      var output = BufferedOutput.standard()
      let isTerminal = output.isTerminal
      var remaining = limit ?? .max
      let total = limit == nil ? try keyspace.existing(in: store).count() : nil
      // Keys scrolling by on the terminal are progress enough.
      let progress = Progress("listing", of: .named("keys"), total: total, isQuiet: self.store.quiet || isTerminal)
      defer { progress.clear() }
      let isIntact = try forEachEntry(of: store, in: name, progress) { entry in
        guard remaining > 0 else { return false }
        var key = try entry.key()
        guard key.starts(with: prefix) else { return true }
        remaining -= 1
        if encoding.keyEncoding != .text, let text = encoding.keyEncoding.encode(key.span) { key = text }
        if isTerminal { key = key.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 } }
        key.append(endsWithNull ? 0 : UInt8(ascii: "\n"))
        try output.write(key)
        return true
      }
      try output.flush()
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}
