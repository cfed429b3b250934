import ArgumentParser
import Esker

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a store from a backup.",
    discussion: """
      The backup stays as it is. The new path must not exist or be an empty directory. A backup is a store, so it can also \
      be opened where it lies.

      Example:
        esker restore backups/monday cities.esker
      """
  )

  @OptionGroup var backup: StoreArguments

  @Argument(help: "The directory of the new store.", completion: .directory)
  var new: String

  @Flag(help: "Copy everything: share no file with the backup.")
  var copy = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let report = try backup.read { backup in try backup.backup(to: new, copying: copy) }
    try printSummary(of: report, path: new, asJSON: json)
  }
}
