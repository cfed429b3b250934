import ArgumentParser
import Esker

struct Copy: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy entries to another store or keyspace.",
    discussion: """
      Copies entries with their expiry, and what their keyspaces record about keys and values, as they are at one instant. The \
      target is created if there is nothing; what it has under the same keys is replaced, and all else stays. A store that is \
      read may be in use. Give the same store twice to copy from one of its keyspaces to another.

      --prefix, --from, --to, --match, --where and --limit choose entries as they do for "list". For all of a store as it is, \
      "backup" is faster.

      Examples:
        esker copy cities.esker other.esker
        esker copy cities.esker cities.esker --keyspace sessions --into old-sessions
        esker copy people.esker vienna.esker --where 'address.city = Wien'
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The store to copy to.", completion: .directory)
  var target: String

  @OptionGroup var keyspace: KeyspaceOption

  @Option(help: ArgumentHelp("Copy to this keyspace.", valueName: "name"), completion: .keyspaces)
  var into: String?

  @OptionGroup var selection: Selection

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var decoding: DecodeOption

  @Flag(help: "Print a summary in JSON.")
  var json = false

  func validate() throws {
    if into != nil, keyspace.keyspace == nil {
      throw ValidationError("--into needs --keyspace: entries of several keyspaces could have the same keys.")
    }
  }

  func run() throws {
    try store.require()
    try store.requireOutside(target)
    Interruption.install()
    var summary = (entries: 0, bytes: 0)
    let isIntact: Bool
    if isOneStore {
      guard let into, into != keyspace.keyspace else { throw ToolError.copyOntoItself }
      isIntact = try store.write(creating: false) { store in try copy(store, to: store, &summary) }
    } else {
      var other = store
      other.store = target
      isIntact = try store.read { source in
        try other.write(creating: true) { target in try copy(source, to: target, &summary) }
      }
    }
    let text = "copied \(HumanUnits.entries(summary.entries)) (\(HumanUnits.bytes(summary.bytes)))"
    try reportDone(text, asJSON: json, isQuiet: store.quiet) {
      $0.fields(["entries": summary.entries, "bytes": summary.bytes])
    }
    guard isIntact else { throw ToolError.damageFound }
  }

  /// Whether both paths lead to the same directory.
  private var isOneStore: Bool {
    guard let source = SystemCalls.status(store.store), let target = SystemCalls.status(target) else { return false }
    return source.st_dev == target.st_dev && source.st_ino == target.st_ino
  }

  private func copy(_ source: LogStore, to target: LogStore, _ summary: inout (entries: Int, bytes: Int)) throws -> Bool
  {
    let name = try keyspace.name(in: source)
    let chosen = EntryForms(of: source, decoding.decode)
    let filter = try EntryFilter(selection, encoding.keyEncoding, chosen, in: source.keyspaces(name))
    var forms = EntryForms(of: source, .auto)
    var places = LoadTarget(target.default)
    let isPart = selection.limit != nil
    let total = isPart ? nil : try source.count(in: name)
    let progress = Progress("copying", of: "entries", total: total, isQuiet: store.quiet)
    defer { progress.clear() }
    return try forEachEntry(of: source, in: name, progress, taking: filter) { entry in
      let pair = forms[entry.keyspace]
      let place = try places.keyspace(into ?? entry.keyspace, pair.recorded)
      // One by one, syncs would take most of the time; closing the store makes them durable together.
      summary.bytes += try entry.withBytes { (key, value) throws(StoreError) in
        try place.put(value, forKey: key, expiry: entry.expiry, durability: .buffered)
        return value.byteCount
      }
      summary.entries += 1
    }
  }
}
