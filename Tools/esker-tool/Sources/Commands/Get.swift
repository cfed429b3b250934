import ArgumentParser
import Esker

struct Get: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Write the values of keys to standard output.",
    discussion: """
      Numbers, CBOR and other values whose form the keyspace records are written as text, CBOR as JSON; all others, and those \
      that are not of that form, as they are. --decode cbor and --decode json take values for that, and --raw writes every \
      value as it is. JSON has no type for instants, UUIDs, bytes and the like: --marked writes them as "put" takes them back, \
      as in {"$date": "2026-03-01T12:00:00.000Z"}. If standard output is a terminal, a newline is added, and what a terminal \
      would obey or cannot show is written \
      as "list --values" escapes it, except with --raw. The exit code is 1 if the key is absent or its \
      value has expired.

      Of several keys, each is written on a line with its value, as "list --values" does it; absent ones are reported, and the \
      exit code is then 1. One command for many keys opens the store once. "--json" prints an object for each key, with the fields \
      that a line of "dump" has.

      Examples:
        esker get game.esker 42 --keyspace boards | jq .squares
        esker get cities.esker at de ch
        esker get pictures.esker logo > logo.png
        esker get pictures.esker ff00 --key-encoding hex | xxd
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys.", completion: .keys)
  var keys: [String]

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var decoding: DecodeOption

  @Flag(help: "Write the value's bytes, whatever form is recorded: --decode raw.")
  var raw = false

  @Flag(help: "Write the value as put takes it back, with all of its types: --decode marked.")
  var marked = false

  @Flag(help: "Print JSON, an object for each key: its value, and when that expires.")
  var json = false

  func validate() throws {
    if [raw, marked, decoding.decode != .auto].count(where: { $0 }) > 1 {
      throw ValidationError("--raw, --marked and --decode say different things about the values.")
    }
  }

  func run() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.read { store in
      var output = BufferedOutput.standard()
      let keyspace = try keyspace.existing(in: store)
      let forms = EntryForms.Pair(keyspace, raw ? .raw : marked ? .marked : decoding.decode)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      guard keys.count > 1 || json else {
        let found =
          try output.isTerminal && !raw
          ? show(bytes[0], in: keyspace, forms, on: &output) : write(bytes[0], in: keyspace, forms, to: &output)
        guard found else {
          try self.keyspace.noteOthers(in: store, ifEmpty: true, isQuiet: self.store.quiet)
          throw ToolError.notFound(keys[0])
        }
        // What a shell prints next is on a line of its own.
        if output.isTerminal || self.store.opened != nil { try output.write("\n") }
        return try output.flush()
      }
      var absent = 0
      var objects = JSONEntries(namesKeyspaces: false, encoding: nil, nil)
      for (key, name) in zip(bytes, keys) {
        if json, let metadata = try keyspace.metadata(forKey: key), let value = try keyspace.get(key) {
          let line = objects.line(key, value, length: value.count, metadata.expiry, forms, encoding.keyEncoding)
          try output.write(line)
        } else if !json, let value = try keyspace.get(key) {
          try output.write(line(key, value, forms))
        } else {
          absent += 1
          if keys.count > 1, !self.store.quiet { StandardError.report(ToolError.notFound(name).description) }
        }
      }
      try output.flush()
      if absent == keys.count { try self.keyspace.noteOthers(in: store, ifEmpty: true, isQuiet: self.store.quiet) }
      if absent == 1, keys.count == 1 { throw ToolError.notFound(keys[0]) }
      if absent > 0 { throw ToolError.someAbsent }
    }
  }

  /// Writes the value of a key as it is, or as text of its form; false if there is none.
  private func write(
    _ key: [UInt8],
    in keyspace: Keyspace,
    _ forms: EntryForms.Pair,
    to output: inout BufferedOutput
  ) throws -> Bool {
    let found: Void? = try keyspace.withValue(forKey: key) { (value) throws in
      guard forms.values.isTranslated else { return try output.write(value) }
      if let text = forms.text(of: [UInt8](copying: value)) { return try output.write(text) }
      if !store.quiet {
        StandardError.report("the value is not of the form \(forms.valueName ?? ""), and is written as it is")
      }
      try output.write(value)
    }
    return found != nil
  }

  /// Writes the value of a key to a terminal, as text that it shows and does not obey; false if there is none.
  private func show(
    _ key: [UInt8],
    in keyspace: Keyspace,
    _ forms: EntryForms.Pair,
    on output: inout BufferedOutput
  ) throws -> Bool {
    guard let value = try keyspace.get(key) else { return false }
    let text = forms.values.isTranslated ? forms.printed(value) : value
    if isShowable(text) {
      try output.write(text)
      return true
    }
    if !store.quiet {
      StandardError.report(
        "the value has bytes that a terminal cannot show, written as \\xNN: --raw or a pipe gets them as they are"
      )
    }
    try output.write(escaped(text))
    return true
  }

  private func line(_ key: [UInt8], _ value: [UInt8], _ forms: EntryForms.Pair) -> String {
    "\(escaped(encoding.printed(key, forms.keys)))\t\(escaped(forms.printed(value)))\n"
  }
}
