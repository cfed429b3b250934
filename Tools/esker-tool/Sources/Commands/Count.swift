import ArgumentParser
import Esker

struct Count: ScopeCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print how many keys there are.",
    discussion: """
      Counts what "get" would find: a key whose value has expired is not counted. Of a store whose values do not expire, that \
      takes no time. --prefix, --from, --to, --match and --where count some, as "list" shows them, and read every entry for it; \
      --limit stops at a number, as in "are there a hundred?". --all-keyspaces prints a line for each keyspace that has some, with a tab \
      and its name, and the sum at the end.

      Examples:
        esker count cities.esker
        esker count cities.esker --keyspace sessions
        esker count cities.esker --match 'user:*' --where 'age >= 18'
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var selection: Selection

  @OptionGroup var scope: KeyspaceScope

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var decoding: DecodeOption

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read { store in
      let name = try scope.name(in: store)
      var tally = KeyspaceTally()
      var isIntact = true
      if selection.isEverything {
        for name in try store.keyspaces(name) {
          tally.add(name, try store.keyspace(name).count())
        }
      } else {
        Interruption.install()
        let forms = EntryForms(of: store, decoding.decode)
        let filter = try EntryFilter(selection, encoding.keyEncoding, forms, in: store.keyspaces(name))
        let total = selection.limit == nil ? try scope.count(in: store) : nil
        let progress = Progress("counting", of: "keys", total: total, isQuiet: self.store.quiet)
        defer { progress.clear() }
        isIntact = try forEachEntry(of: store, in: name, progress, taking: filter) { entry in tally.add(entry.keyspace)
        }
      }
      try print(tally)
      if tally.total == 0 { try scope.noteOthers(in: store, isQuiet: self.store.quiet) }
      guard isIntact else { throw ToolError.damageFound }
    }
  }

  private func print(_ tally: KeyspaceTally) throws {
    guard scope.allKeyspaces else {
      return try printFigures(["keys": tally.total], text: "\(tally.total)", asJSON: json)
    }
    var output = BufferedOutput.standard()
    if json {
      let line = JSONWriter.line { writer in
        writer.field("keys", tally.total)
        writer.object("keyspaces") { writer in
          for row in tally.rows { writer.field(row.name, row.count) }
        }
      }
      try output.write(line)
    } else {
      for row in tally.rows {
        let name = row.name.isEmpty && output.isTerminal ? "(default)" : escaped(Array(row.name.utf8))
        try output.write("\(row.count)\t\(name)\n")
      }
      try output.write("\(tally.total)\n")
    }
    try output.flush()
  }
}
