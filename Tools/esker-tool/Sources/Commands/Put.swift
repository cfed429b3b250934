import ArgumentParser
import Esker

struct Put: KeyspaceCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Store a value under a key.",
    discussion: """
      Creates the store if there is nothing at the path or an empty directory. A value of "-" is read from standard input, \
      byte for byte. Put "--" before a key or value that begins with a dash, behind all options. Where the keyspace records \
      what its keys and \
      values are, they are given as text: a number as its digits, CBOR as JSON. What JSON has no type for is marked: \
      {"$date": "2026-03-01T12:00:00Z"}, and likewise "$uuid", "$url", "$decimal", and "$base64" for bytes. --json takes JSON \
      whatever values are, and stores what a program reads: a string of JSON as the text in it, and CBOR where nothing is \
      recorded, which is what a typed storage reads by default. --raw stores the bytes of the value as they are.

      "get --marked" writes a value as it is taken here, and "edit" opens it in an editor. A note says if a value is of other types \
      than the one that it replaces, or than another entry; the version of the value that it replaces is kept.

      Examples:
        esker put game.esker anna 7 --keyspace scores
        esker put game.esker 42 '{"title":"Go"}' --keyspace boards --json
        esker put cities.esker at Vienna
        esker put game.esker --keyspace scores -- anna -5
        esker put sessions.esker user:17 token --ttl 60s
        esker put pictures.esker logo - < logo.png
      """,
    aliases: ["set"]
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The key.", completion: .keys)
  var key: String

  @Argument(help: "The value; - reads it from standard input.")
  var value: String

  @Option(help: ArgumentHelp("Let the value expire after this long, \(TimeToLive.help).", valueName: "duration"))
  var ttl: TimeToLive?

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "The value is JSON: store it as what the keyspace records, or as CBOR.")
  var json = false

  @Flag(help: "Store the value's bytes, whatever form is recorded.")
  var raw = false

  @Flag(help: "Return only once the value survives a power failure.")
  var synced = false

  func validate() throws {
    if json, raw { throw ValidationError("--json and --raw say two things about the value.") }
  }

  func run() throws {
    // Read first, so that the store is not opened and locked while waiting for a slow pipe.
    let key = try encoding.given(key)
    let bytes = try valueBytes()
    try store.write(creating: true) { store in
      let keyspace = try keyspace.writable(in: store)
      let key = try key.bytes(in: keyspace)
      var value = try stored(bytes, in: keyspace)
      if !raw { try fit(&value, to: key, in: keyspace, of: store) }
      _ = try keyspace.put(
        value,
        forKey: key,
        expiry: ttl.map { .after($0.duration) },
        durability: synced ? .synced : nil
      )
    }
  }

  /// Gives the value the version of the one that it replaces, and notes if it is of other types than that, or than another entry.
  private func fit(
    _ value: inout [UInt8],
    to key: [UInt8],
    in keyspace: Keyspace,
    of store: LogStore
  ) throws(StoreError) {
    let form = keyspace.shownValues
    guard form.isTranslated else { return }
    let old = try keyspace.get(key)
    if !self.store.quiet, let new = ValueShape(of: value, form) {
      var notes: [String] = []
      if let old {
        notes = ValueShape(of: old, form).map { new.changes(from: $0) } ?? []
      } else if let other = try another(in: keyspace, store), let shape = ValueShape(of: other, form) {
        notes = new.differences(fromAnother: shape)
      }
      ValueShape.report(notes, ". get --marked and esker edit keep the types")
    }
    if let version = old.flatMap({ StoredForm.version(of: $0) }), StoredForm.version(of: value) == nil {
      value = StoredForm.mark(ofVersion: version) + value
    }
  }

  /// The value of any entry.
  private func another(in keyspace: Keyspace, _ store: LogStore) throws(StoreError) -> [UInt8]? {
    var value: [UInt8]?
    try store.snapshot().forEachEntry(in: keyspace.name) { entry in
      value = try? entry.value()
      return false
    }
    return value
  }

  /// The value in the form that the keyspace records.
  private func stored(_ bytes: [UInt8], in keyspace: Keyspace) throws(ToolError) -> [UInt8] {
    let form = keyspace.shownValues
    if json { return try stored(json: bytes, in: keyspace) }
    guard !raw, form != .raw else { return bytes }
    guard let text = String(validating: bytes, as: UTF8.self), let stored = form.bytes(of: text) else {
      throw .notOfForm(value, what: "value", form: keyspace.valueForm ?? "")
    }
    return stored
  }

  private func stored(json: [UInt8], in keyspace: Keyspace) throws(ToolError) -> [UInt8] {
    let form = keyspace.valueForm == nil ? StoredForm.cbor : keyspace.shownValues
    guard form != .raw else { throw .notFromJSON(form: keyspace.valueForm ?? "") }
    guard let stored = form.bytes(ofJSON: ContiguousArray(json).span) else {
      throw .notOfForm(value, what: "value", form: keyspace.valueForm ?? "json")
    }
    return stored
  }

  private func valueBytes() throws -> [UInt8] {
    guard value == "-" else { return Array(value.utf8) }
    let limit = LogStore.maximumValueLength
    guard let bytes = try InputFile("-").readAll(limit: limit) else { throw StoreError.valueTooLong(limit + 1) }
    return bytes
  }
}
