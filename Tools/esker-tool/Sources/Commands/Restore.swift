import ArgumentParser
import Esker

struct Restore: ParsableCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a store from a backup.",
    discussion: """
      The backup stays as it is. The new path must not exist or must be an empty directory. A backup is a store, so it can \
      also be opened in place. With --dry-run, says what would be copied and writes nothing. If interrupted, the command \
      removes what it made; if it is killed, what it leaves does not open: repeat the same command.

      Example:
        esker restore backups/monday cities.esker
      """
  )

  @Argument(help: "The backup's directory.", completion: .directory)
  var backup: String

  @Argument(help: "The directory of the new store.", completion: .directory)
  var new: String

  @Flag(name: [.short, .long], help: "Print only results and errors: no progress, no summary.")
  var quiet = false

  @Flag(help: "Copy everything: share no files with the backup.")
  var copy = false

  @Flag(help: "Say what would be copied, without writing anything.")
  var dryRun = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    try StoreArguments.requireStore(at: backup)
    try StoreArguments.requireOutside(new, ofStore: backup)
    let copies = copy || dryRun && !isOnOneVolume(backup, new)
    let plan = try LogStore.planRestore(from: backup, to: new, copying: copies)
    if dryRun { return try printSummary(of: plan, path: new, isPlan: true, asJSON: json) }
    Interruption.install()
    let progress = Progress("copying", total: plan.bytes, isQuiet: quiet)
    defer { progress.clear() }
    let report = try LogStore.restore(from: backup, to: new, copying: copy) { progress.goesOn($0) }
    progress.clear()
    if json || !quiet { try printSummary(of: report, path: new, asJSON: json) }
  }
}
