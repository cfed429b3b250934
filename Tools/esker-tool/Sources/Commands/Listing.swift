import ArgumentParser
import Esker

/// What entries are printed, and how.
struct Listing: ParsableArguments {
  @OptionGroup var selection: Selection

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

  /// Prints one entry if no limit is given.
  func runEnd(_ store: StoreArguments, isLast: Bool) throws {
    let isAny = try run(store, in: EntryOrder.Order(rank: .key, isReversed: isLast), most: 1)
    if !isAny { throw ToolError.noneInRange }
  }

  /// - Parameter most: The limit, if none is given.
  /// - Returns: Whether there was an entry.
  @discardableResult
  func run(_ arguments: StoreArguments, in order: EntryOrder.Order?, most: Int = .max) throws -> Bool {
    try arguments.read { store in
      Interruption.install()
      let name = try scope.name(in: store)
      let isAll = name == nil
      var known = EntryForms(of: store, decoding.decode)
      // That of one keyspace is looked up only once.
      let only = name.map { known[$0] }
      let forms = EntryForms(of: store, decoding.decode)
      let filter = try EntryFilter(selection, encoding.keyEncoding, forms, in: store.keyspaces(name), most: most)
      var output = BufferedOutput.standard()
      let isTerminal = output.isTerminal
      let readsAll = try filter.limit == .max || order.map { try sorts(store, in: name, by: $0) } ?? false
      let total = readsAll ? try scope.count(in: store) : nil
      // Keys scrolling by on the terminal are progress enough.
      let isSilent = isTerminal && selection.isEverything && order == nil
      let progress = Progress("listing", of: "keys", total: total, isQuiet: arguments.quiet || isSilent)
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
      if output.byteCount == 0 { try scope.noteOthers(in: store, isQuiet: arguments.quiet) }
      guard isIntact else { throw ToolError.damageFound }
      return output.byteCount > 0
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
