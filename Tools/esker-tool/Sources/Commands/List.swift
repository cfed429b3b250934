import ArgumentParser
import Esker

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the keys, one per line.",
    discussion: """
      Keys are printed in no particular order: as text where the keyspace records that they are numbers, UUIDs or the like, \
      byte for byte otherwise; "--null" ends each with a zero byte instead of a newline, for \
      keys that contain newlines. On a terminal, control characters are shown as "?". "--key-encoding" prints their bytes \
      in hex or base64. "--values" prints a tab and the value after each, in the form that is recorded; tabs, newlines and \
      bytes that are no text are then shown as \\t, \\n and \\xNN in both.

      Examples:
        esker list cities.esker --prefix a --limit 10
        esker list game.esker --keyspace scores --values
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

  @Flag(help: "Print values, too.")
  var values = false

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("The limit must not be negative.") }
  }

  func run() throws {
    try store.read { store in
      Interruption.install()
      let keyspace = try keyspace.existing(in: store)
      let name = keyspace.name
      let (keyForm, valueForm) = (keyspace.shownKeys, keyspace.shownValues)
      let prefix = Array(prefix.utf8)
      var output = BufferedOutput.standard()
      let isTerminal = output.isTerminal
      var remaining = limit ?? .max
      let total = limit == nil ? try keyspace.count() : nil
      // Keys scrolling by on the terminal are progress enough.
      let progress = Progress("listing", of: .named("keys"), total: total, isQuiet: self.store.quiet || isTerminal)
      defer { progress.clear() }
      let isIntact = try forEachEntry(of: store, in: name, progress) { entry in
        guard remaining > 0 else { return false }
        let bytes = try entry.key()
        guard (encoding.keyEncoding == nil ? encoding.printed(bytes, keyForm) : bytes).starts(with: prefix) else {
          return true
        }
        remaining -= 1
        var key = encoding.printed(bytes, keyForm)
        if values {
          let value = try entry.value()
          let text = valueForm.text(of: value).map { Array($0.utf8) }
          key = Array("\(escaped(key))\t\(escaped(text ?? value))".utf8)
        } else if isTerminal {
          key = key.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
        }
        key.append(endsWithNull ? 0 : UInt8(ascii: "\n"))
        try output.write(key)
        return true
      }
      try output.flush()
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}
