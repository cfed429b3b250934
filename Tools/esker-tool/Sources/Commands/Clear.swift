import ArgumentParser
import Esker

struct Clear: KeyspaceCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove all entries of a keyspace.",
    discussion: """
      Of the default keyspace, or of the one that is named; other keyspaces stay as they are. Takes no time, however many \
      entries there are; a merge reclaims their space. "drop" removes a keyspace itself. On a terminal, it asks first, unless there is \
      nothing to remove, or --yes says not to.

      Examples:
        esker clear cities.esker
        esker clear cities.esker --keyspace sessions
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var keyspace: KeyspaceOption

  @OptionGroup var confirmation: Confirmation

  @Flag(help: "Print how many there were as JSON.")
  var json = false

  func run() throws {
    try confirmation.require {
      try store.read { store in
        let keyspace = try keyspace.existing(in: store)
        let count = try keyspace.count()
        let name =
          keyspace.name.isEmpty ? "the default keyspace" : "the keyspace \"\(escaped(Array(keyspace.name.utf8)))\""
        return count == 0 ? nil : "remove all \(HumanUnits.entries(count)) of \(name)?"
      }
    }
    let count = try store.write(creating: false) { store in
      let keyspace = try keyspace.existing(in: store)
      let count = try keyspace.count()
      try keyspace.removeAll()
      return count
    }
    try reportDone("removed \(HumanUnits.entries(count))", asJSON: json, isQuiet: store.quiet) {
      $0.field("removed", count)
    }
  }
}
