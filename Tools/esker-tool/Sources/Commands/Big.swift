import ArgumentParser
import Esker

struct Big: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "big",
    abstract: "Show what takes the space: the largest entries, keyspaces and prefixes, sizes and lifetimes.",
    discussion: """
      Reads every entry, in memory that does not grow with the store, and shows the largest entries, the keyspaces and the \
      prefixes of keys whose entries take most together, how large values are, and how long they have left. Sizes are bytes of \
      keys and values, \
      before compression and without what a record adds.

      A prefix ends with a colon or a slash, or with one of the --separators; --depth 2 tells prefixes of two parts apart. Of \
      more than \(PrefixSizes.limit) prefixes the smallest are added up as others. "keyspaces --sizes" and "map" show what \
      keyspaces and segments take on disk.

      Examples:
        esker big cities.esker
        esker big people.esker --keyspace sessions --separators . --depth 2
        esker big cities.esker --json | jq -r '.largest[].key'
      """
  )

  @OptionGroup var store: StoreArguments

  @Option(help: ArgumentHelp("How many entries and prefixes to show.", valueName: "count"))
  var top = 10

  @Option(help: ArgumentHelp("The characters that end a part of a key.", valueName: "characters"))
  var separators = ":/"

  @Option(help: ArgumentHelp("How many parts of a key make a prefix.", valueName: "count"))
  var depth = 1

  @OptionGroup var keyspace: KeyspaceOption

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard 1...10_000 ~= top else { throw ValidationError("--top takes a number from 1 to 10000.") }
    guard depth > 0 else { throw ValidationError("--depth takes a number of at least 1.") }
  }

  func run() throws {
    try store.read { store in
      Interruption.install()
      let name = try keyspace.name(in: store)
      var forms = EntryForms(of: store, .auto)
      var report = BigReport(top: top, separators: Set(separators.unicodeScalars), depth: depth)
      let now = Options.Clock.system.now()
      let total = try store.count(in: name)
      let progress = Progress("measuring", of: "entries", total: total, isQuiet: self.store.quiet)
      defer { progress.clear() }
      let isIntact = try forEachEntry(of: store, in: name, progress) { entry in
        report.add(entry, key: try entry.key(), forms[entry.keyspace].keys, at: now)
        return true
      }
      progress.clear()
      var output = BufferedOutput.standard()
      if json { try output.write(report.json) } else { try report.write(to: &output) }
      try output.flush()
      guard isIntact else { throw ToolError.damageFound }
    }
  }
}
