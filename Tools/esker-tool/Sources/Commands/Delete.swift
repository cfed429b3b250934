import ArgumentParser
import Esker

struct Delete: ScopeCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove keys.",
    discussion: """
      Absent keys are skipped; the exit code is 1 if none of the keys existed.

      Without keys, --prefix, --from, --to, --match and --where choose what is removed, as they do for "list", and the number is printed; \
      --dry-run says how many there are, and removes none. An entry that is written meanwhile stays. With \
      --all-keyspaces, it asks first on a terminal, unless --yes says not to. "clear" removes all.

      Examples:
        esker delete cities.esker at de ch
        esker delete sessions.esker --prefix user:17: --dry-run
        esker delete people.esker --where 'seen < 2026-01-01'
      """,
    aliases: ["rm", "del"]
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The keys to remove.", completion: .keys)
  var keys: [String] = []

  @OptionGroup var selection: Selection

  @OptionGroup var scope: KeyspaceScope

  @OptionGroup var confirmation: Confirmation

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Say how many there are to remove, and remove none.")
  var dryRun = false

  @Flag(help: "Print how many were removed as JSON.")
  var json = false

  @Flag(help: "Return only once the removal survives a power failure.")
  var synced = false

  func validate() throws {
    if keys.isEmpty, !selection.isChoosy {
      throw ValidationError(
        "Name keys, or choose some with --prefix, --from, --to, --match, --where or --expiring-within; clear removes all."
      )
    }
    if !keys.isEmpty, !selection.isEverything { throw ValidationError("Name keys, or choose some, not both.") }
    if !keys.isEmpty, dryRun || json || scope.allKeyspaces {
      throw ValidationError("--dry-run, --json and --all-keyspaces go with --prefix, --match or --where.")
    }
  }

  func run() throws {
    guard keys.isEmpty else { return try removeNamed() }
    Interruption.install()
    if scope.allKeyspaces, !dryRun { try confirmation.require { try store.read { try question(in: $0) } } }
    let isIntact =
      try dryRun
      ? store.read { store in try removeChosen(from: store) { _, _, _ in true } }
      : store.write(creating: false) { store in
        // One that was written since the snapshot is not what was chosen.
        try removeChosen(from: store) { try $0.remove($1, ifVersion: $2) }
      }
    guard isIntact else { throw ToolError.damageFound }
  }

  /// Nil if there is nothing to remove.
  private func question(in store: LogStore) throws -> String? {
    var count = 0
    let progress = try progress("counting", in: store)
    defer { progress.clear() }
    _ = try forEachChosen(of: store, progress) { _ in count += 1 }
    return count == 0 ? nil : "remove \(HumanUnits.entries(count)) of all keyspaces?"
  }

  private func progress(_ doing: String, in store: LogStore) throws -> Progress {
    let total = selection.limit == nil ? try scope.count(in: store) : nil
    return Progress(doing, of: "keys", total: total, isQuiet: self.store.quiet)
  }

  private func forEachChosen(
    of store: LogStore,
    _ progress: Progress,
    _ body: (borrowing Snapshot.Entry) throws -> Void
  ) throws -> Bool {
    let name = try scope.name(in: store)
    let filter = try EntryFilter(
      selection,
      encoding.keyEncoding,
      EntryForms(of: store, .auto),
      in: store.keyspaces(name)
    )
    return try forEachEntry(of: store, in: name, progress, taking: filter, body)
  }

  private func removeNamed() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.write(creating: false) { store in
      let keyspace = try scope.option.existing(in: store)
      let bytes = try given.map { try $0.bytes(in: keyspace) }
      var removed = 0
      for key in bytes where try keyspace.remove(key) { removed += 1 }
      if synced { try store.sync() }
      guard removed > 0 else {
        throw keys.count == 1 ? ToolError.notFound(keys[0]) : ToolError.nothingFound(keys.count)
      }
    }
  }

  /// Calls `remove` with each chosen entry, and reports how often it was true; whether nothing is damaged.
  private func removeChosen(
    from store: LogStore,
    _ remove: (Keyspace, [UInt8], SequenceNumber) throws -> Bool
  ) throws -> Bool {
    var tally = KeyspaceTally()
    let progress = try progress("removing", in: store)
    defer { progress.clear() }
    var last: Keyspace?
    let isIntact = try forEachChosen(of: store, progress) { entry in
      let keyspace = last?.name == entry.keyspace ? last : try store.keyspace(entry.keyspace)
      last = keyspace
      if let keyspace, try remove(keyspace, try entry.key(), entry.version) { tally.add(entry.keyspace) }
    }
    let count = tally.total
    if synced, !dryRun { try store.sync() }
    progress.clear()
    let parts = scope.allKeyspaces && count > 0 ? ": \(tally.text)" : ""
    let text = "\(dryRun ? "would remove" : "removed") \(HumanUnits.entries(count))\(parts)"
    try reportDone(text, asJSON: json, isQuiet: self.store.quiet) { $0.field(dryRun ? "found" : "removed", count) }
    if count == 0 { try scope.noteOthers(in: store, isQuiet: self.store.quiet) }
    return isIntact
  }
}
