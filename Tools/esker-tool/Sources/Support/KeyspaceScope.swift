import ArgumentParser
import Esker

/// The keyspaces that a command works on: one, or all.
struct KeyspaceScope: ParsableArguments {
  @OptionGroup var option: KeyspaceOption

  @Flag(help: "Use all keyspaces, and name that of each entry.")
  var allKeyspaces = false

  func validate() throws {
    if allKeyspaces, option.keyspace != nil {
      throw ValidationError("--all-keyspaces and --keyspace exclude each other.")
    }
  }

  /// The name of the keyspace, which must exist; nil for all.
  func name(in store: LogStore) throws -> String? { allKeyspaces ? nil : try option.existing(in: store).name }

  /// How many keys there are.
  func count(in store: LogStore) throws -> Int {
    try store.count(in: name(in: store))
  }

  /// Says where there are entries if no keyspace was named, and nothing was found in the default one.
  func noteOthers(in store: LogStore, isQuiet: Bool) throws(StoreError) {
    if !allKeyspaces { try option.noteOthers(in: store, isQuiet: isQuiet) }
  }
}

/// How many entries there are in each keyspace.
struct KeyspaceTally {
  private(set) var counts: [String: Int] = [:]

  mutating func add(_ keyspace: String, _ count: Int = 1) {
    if count > 0 { counts[keyspace, default: 0] += count }
  }

  /// In the order of the names, with that of the default keyspace first.
  var rows: [(name: String, count: Int)] {
    counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  var total: Int { counts.values.reduce(0, +) }

  /// As in `3 of names, 1 of (default)`.
  var text: String {
    rows.map { "\(NumberText.count($0.count)) of \(shownKeyspace($0.name))" }
      .joined(separator: ", ")
  }
}
