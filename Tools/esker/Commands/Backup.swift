import ArgumentParser
import Esker

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy the store as it is now, while it is being written.",
    discussion: """
      The directory must not exist or be empty; it becomes a store of its own that can be opened, checked and restored. \
      Files that are never written again get a second name there instead of being copied, where the file system can do \
      that. With --since, files that an earlier backup has are shared with it, so a backup to another disk copies only \
      what is new. Every backup is whole: any of them may be deleted.

      An interrupted backup does not open: remove it and start again.

      Examples:
        esker backup cities.esker backups/monday
        esker backup cities.esker backups/tuesday --since backups/monday
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "Where to put the backup.", completion: .directory)
  var directory: String

  @Option(help: ArgumentHelp("An earlier backup of the same store to share files with.", valueName: "backup"))
  var since: String?

  @Flag(help: "Copy everything: share no file with the store.")
  var copy = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try store.read { store in
      let report = try store.backup(to: directory, reusing: since, copying: copy)
      try printSummary(of: report, path: directory, asJSON: json)
    }
  }
}
