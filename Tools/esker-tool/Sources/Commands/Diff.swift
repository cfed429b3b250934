import ArgumentParser
import Esker

struct Diff: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the entries in which two stores differ.",
    discussion: """
      Of each entry that is only in the first store, only in the second, or in both with another value or expiry, prints what \
      happened on the way from the first to the second: removed, added, value or expiry; then its keyspace and its key. Both \
      are only read, in memory that does not grow with them, and may be in use: what is written meanwhile may be shown or not.

      As of diff(1), the exit code is 0 if there is no difference, 1 if there is, and more if that cannot be told: 2 if a \
      store is damaged.

      Examples:
        esker diff cities.esker backups/monday
        esker diff cities.esker copy.esker --keyspace sessions --ignore-expiry
        esker diff cities.esker copy.esker --json | jq -r .key
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "The other store.", completion: .directory)
  var other: String

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @Flag(help: "Entries with the same value are the same, whenever they expire.")
  var ignoreExpiry = false

  @Flag(help: "Print JSON, one object per line.")
  var json = false

  func run() throws {
    Interruption.install()
    var second = store
    second.store = other
    let isSame: Bool
    do {
      isSame = try store.read { first in try second.read { second in try compare(first, second) } }
    } catch ToolError.damageFound {
      throw ToolError.comparedDamage
    } catch StoreError.damaged(let location, let reason) {
      DamageReports.report(location, reason)
      throw ToolError.comparedDamage
    }
    if !isSame { throw ToolError.different }
  }

  private func compare(_ first: LogStore, _ second: LogStore) throws -> Bool {
    let name = keyspace.keyspace
    if let name, !name.isEmpty {
      let isKnown = try first.keyspaceNames.contains(name) || second.keyspaceNames.contains(name)
      guard isKnown else { throw ToolError.nowhere(keyspace: name) }
    }
    let total = try first.totalCount() + second.totalCount()
    let progress = Progress("comparing", of: "entries", total: name == nil ? total : nil, isQuiet: store.quiet)
    defer { progress.clear() }
    var report = DiffReport(asJSON: json, keyEncoding: encoding)
    var (forms, otherForms) = (EntryForms(of: first, .auto), EntryForms(of: second, .auto))
    var places = KeyspacesByName(second)
    var isIntact = try forEachEntry(of: first, in: name, progress) { entry in
      let key = try entry.key()
      let place = places[entry.keyspace]
      let there = try place?.metadata(forKey: key)
      var change = DiffReport.Change.removed
      if let place, let there {
        // Lengths first: the values need not be read then.
        let isChanged = try there.length != entry.valueLength || place.get(key) != entry.value()
        guard isChanged || !ignoreExpiry && there.expiry != entry.expiry else { return true }
        change = isChanged ? .value : .expiry
      }
      let (before, after) = (ValueFigures(entry), there.map { ValueFigures($0) })
      try report.add(change, entry.keyspace, key, forms[entry.keyspace].keys, before: before, after: after)
      return true
    }
    places = KeyspacesByName(first)
    isIntact =
      try forEachEntry(of: second, in: name, progress) { entry in
        let key = try entry.key()
        guard try !(places[entry.keyspace]?.contains(key) ?? false) else { return true }
        let after = ValueFigures(entry)
        try report.add(.added, entry.keyspace, key, otherForms[entry.keyspace].keys, before: nil, after: after)
        return true
      } && isIntact
    progress.clear()
    try report.finish()
    guard isIntact else { throw ToolError.comparedDamage }
    return report.isEmpty
  }
}
