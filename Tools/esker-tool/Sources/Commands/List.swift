import ArgumentParser
import Esker

struct List: ScopeCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print the keys, one per line.",
    discussion: """
      Keys are printed in no particular order: as text where the keyspace records that they are numbers, UUIDs or the like, \
      byte for byte otherwise; "--null" ends each with a zero byte instead of a newline, for \
      keys that contain newlines. On a terminal, control characters are shown as "?". "--key-encoding" prints their bytes \
      in hex or base64. "--values" prints a tab and the value after each, in the form that is recorded; tabs, newlines and \
      bytes that are no text are then shown as \\t, \\n and \\xNN in both. "--expires" prints when the value expires, or "never", \
      behind the key. "--all-keyspaces" prints the name of the keyspace and a tab in front of it, in a pipe none \
      for the default one. "--json" prints an object a line: the fields that a line of "dump" has, the value only with \
      "--values", and \
      "valueBytes".

      --prefix and --match look at keys as they are printed. --from and --to are keys, and take those from the one up to the \
      other, which is left out: in the order of their bytes, which for numbers and dates is theirs. --where looks into values that are JSON or CBOR: a path, a \
      comparison and a value, where the path is made of names and places, as in address.city or tags[0], and a dot is the \
      whole value; numbers compare with numbers and texts with texts, what is not there is null, and ~ finds a part of a text, \
      an element of a list or a name of a field. Every entry is read. Memory does not grow \
      with the store, but with what --sort has to sort.

      Examples:
        esker list cities.esker --prefix a --limit 10
        esker list cities.esker --match 'U+1F98[0-5]' --sort key
        esker list visits.esker --from 2026-11-01 --to 2026-12-01 --sort key
        esker list game.esker --keyspace boards --where 'squares[0] > 0'
        esker list cities.esker --values --sort value-size --reverse --limit 3
        esker list sessions.esker --expires --expiring-within 1h --sort expiry
        esker list people.esker --sort address.city --limit 10
        esker list cities.esker --null | xargs -0 esker delete cities.esker
      """,
    aliases: ["ls"]
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var selection: Selection

  @OptionGroup var order: EntryOrder

  @Flag(name: [.customShort("0"), .customLong("null")], help: "End each key with a zero byte instead of a newline.")
  var endsWithNull = false

  @Flag(help: "Print values, too.")
  var values = false

  @Flag(help: "Print when values expire, too.")
  var expires = false

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  @OptionGroup var decoding: DecodeOption

  @OptionGroup var scope: KeyspaceScope

  @OptionGroup var encoding: KeyEncodingOption

  func validate() throws {
    if json, endsWithNull || expires { throw ValidationError("--json goes without --null and --expires.") }
    if endsWithNull, scope.allKeyspaces {
      throw ValidationError(
        "--null is for programs that take keys: it goes without --all-keyspaces, which prints more."
      )
    }
  }

  func run() throws {
    try store.read { store in
      Interruption.install()
      let name = try scope.name(in: store)
      let isAll = name == nil
      var known = EntryForms(of: store, decoding.decode)
      // That of one keyspace is looked up only once.
      let only = name.map { known[$0] }
      let forms = EntryForms(of: store, decoding.decode)
      let filter = try EntryFilter(selection, encoding.keyEncoding, forms, in: store.keyspaces(name))
      var output = BufferedOutput.standard()
      let isTerminal = output.isTerminal
      let total = selection.limit == nil || order.sort != nil ? try scope.count(in: store) : nil
      // Keys scrolling by on the terminal are progress enough.
      let isSilent = isTerminal && selection.isEverything && order.sort == nil
      let progress = Progress("listing", of: "keys", total: total, isQuiet: self.store.quiet || isSilent)
      defer { progress.clear() }
      let writer = LineWriter(
        encoding: encoding.keyEncoding,
        only,
        values: values,
        expires: expires,
        endsWithNull,
        isTerminal
      )
      var objects = JSONEntries(namesKeyspaces: isAll, encoding: nil, nil)
      let isIntact = try forEachEntry(of: store, in: name, progress, taking: filter, in: order) { entry in
        if !json, try writer.write(entry, to: &output) { return }
        let forms = only ?? known[entry.keyspace]
        let line =
          try json
          ? objects.line(entry, forms, encoding.keyEncoding, withValue: values)
          : writer.line(entry, forms)
        guard isTerminal, !isSilent else { return try output.write(line) }
        // Between two looks at the progress, which is on the same screen.
        progress.clear()
        try output.write(line)
        try output.flush()
      }
      try output.flush()
      progress.clear()
      if output.byteCount == 0 { try scope.noteOthers(in: store, isQuiet: self.store.quiet) }
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}

/// Writes entries as lines. Has copies of the options: reading one of those takes as long as reading an entry.
private struct LineWriter {
  private let encoding: ByteEncoding?
  private let namesKeyspaces: Bool
  private let values: Bool
  private let expires: Bool
  private let end: UInt8
  private let isTerminal: Bool
  /// Whether a line is nothing but the bytes of the key.
  private let isKeyOnly: Bool

  /// - Parameter forms: Those of the keyspace; nil if there are several, which are named.
  init(
    encoding: ByteEncoding?,
    _ forms: EntryForms.Pair?,
    values: Bool,
    expires: Bool,
    _ endsWithNull: Bool,
    _ isTerminal: Bool
  ) {
    self.encoding = encoding
    namesKeyspaces = forms == nil
    self.values = values
    self.expires = expires
    end = endsWithNull ? 0 : UInt8(ascii: "\n")
    self.isTerminal = isTerminal
    isKeyOnly =
      !values && !expires && !isTerminal && (encoding ?? .text) == .text && forms?.keys.isTranslated == false
  }

  /// Writes a line that is nothing but the bytes of the key; false, with nothing written, if it is to be another.
  func write(_ entry: borrowing Snapshot.Entry, to output: inout BufferedOutput) throws -> Bool {
    guard isKeyOnly, try output.makeRoom(entry.keyLength + 1) else { return false }
    try entry.withKey { (key) throws(StoreError) in
      output.buffer.append(key)
      output.buffer.append(end)
    }
    return true
  }

  func line(_ entry: borrowing Snapshot.Entry, _ forms: EntryForms.Pair) throws -> [UInt8] {
    var key = KeyEncodingOption.printed(try entry.key(), forms.keys, encoding)
    if values || expires || namesKeyspaces {
      key = escapedBytes(key)
      if namesKeyspaces {
        let isDefault = entry.keyspace.isEmpty
        let name = isDefault && isTerminal ? Array("(default)".utf8) : escapedBytes(Array(entry.keyspace.utf8))
        key = name + [UInt8(ascii: "\t")] + key
      }
      if expires {
        var instant = "never"
        if case .at(let time) = entry.expiry { instant = time.description }
        key += Array("\t\(instant)".utf8)
      }
      if values {
        let value = try entry.value()
        key += [UInt8(ascii: "\t")] + escapedBytes(forms.values.isTranslated ? forms.printed(value) : value)
      }
    } else if isTerminal {
      key = key.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
    }
    key.append(end)
    return key
  }
}
