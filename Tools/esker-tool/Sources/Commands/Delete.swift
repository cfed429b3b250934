import ArgumentParser
import Esker

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Remove keys.",
    discussion: """
      Absent keys are skipped; the exit code is 1 if none of the keys existed.

      Without keys, --prefix, --match and --where choose what is removed, as they do for "list", and the number is printed; \
      --dry-run says how many there are, and removes none. An entry that is written meanwhile stays. "clear" removes all.

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

  @OptionGroup var keyspace: KeyspaceOption

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
        "Name keys, or choose some with --prefix, --match, --where or --expiring-within; clear removes all."
      )
    }
    if !keys.isEmpty, !selection.isEverything { throw ValidationError("Name keys, or choose some, not both.") }
    if !keys.isEmpty, dryRun || json {
      throw ValidationError("--dry-run and --json go with --prefix, --match or --where.")
    }
  }

  func run() throws {
    guard keys.isEmpty else { return try removeNamed() }
    Interruption.install()
    let isIntact =
      try dryRun
      ? store.read { store in
        try removeChosen(from: keyspace.existing(in: store), of: store) { _, _, _ in true }
      }
      : store.write(creating: false) { store in
        // One that was written since the snapshot is not what was chosen.
        try removeChosen(from: keyspace.existing(in: store), of: store) { try $0.remove($1, ifVersion: $2) }
      }
    guard isIntact else { throw ToolError.damageFound }
  }

  private func removeNamed() throws {
    let given = try keys.map { try encoding.given($0) }
    try store.write(creating: false) { store in
      let keyspace = try keyspace.existing(in: store)
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
    from keyspace: Keyspace,
    of store: LogStore,
    _ remove: (Keyspace, [UInt8], SequenceNumber) throws -> Bool
  ) throws -> Bool {
    let filter = EntryFilter(selection, encoding.keyEncoding, EntryForms(of: store, .auto))
    let total = selection.limit == nil ? try keyspace.count() : nil
    let progress = Progress("removing", of: .named("keys"), total: total, isQuiet: self.store.quiet)
    defer { progress.clear() }
    var count = 0
    let isIntact = try forEachEntry(of: store, in: keyspace.name, progress, taking: filter) { entry in
      if try remove(keyspace, try entry.key(), entry.version) { count += 1 }
    }
    if synced, !dryRun { try store.sync() }
    progress.clear()
    if json {
      try printFigures([(dryRun ? "found" : "removed", count)], text: "", asJSON: true)
    } else if !self.store.quiet {
      StandardError.write("\(dryRun ? "would remove" : "removed") \(HumanUnits.entries(count))\n")
    }
    if count == 0 { try self.keyspace.noteOthers(in: store, isQuiet: self.store.quiet) }
    return isIntact
  }
}
