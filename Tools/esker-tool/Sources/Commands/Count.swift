import ArgumentParser
import Esker

struct Count: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Print how many keys there are.",
    discussion: """
      Counts what "get" would find: a key whose value has expired is not counted. Of a store whose values do not expire, that \
      takes no time. --prefix, --match and --where count some, as "list" shows them, and read every entry for it; --limit \
      stops at a number, as in "are there a hundred?".

      Examples:
        esker count cities.esker
        esker count cities.esker --keyspace sessions
        esker count cities.esker --match 'user:*' --where 'age >= 18'
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var selection: Selection

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var encoding: KeyEncodingOption

  @OptionGroup var decoding: DecodeOption

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read { store in
      let keyspace = try keyspace.existing(in: store)
      var count = 0
      var isIntact = true
      if selection.isEverything {
        count = try keyspace.count()
      } else {
        Interruption.install()
        let filter = EntryFilter(selection, encoding.keyEncoding, EntryForms(of: store, decoding.decode))
        let total = selection.limit == nil ? try keyspace.count() : nil
        let progress = Progress("counting", of: .named("keys"), total: total, isQuiet: self.store.quiet)
        defer { progress.clear() }
        isIntact = try forEachEntry(of: store, in: keyspace.name, progress, taking: filter) { _ in count += 1 }
      }
      try printFigures([("keys", count)], text: "\(count)", asJSON: json)
      if count == 0 { try self.keyspace.noteOthers(in: store, isQuiet: self.store.quiet) }
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}
