import ArgumentParser
import Esker

struct Backup: StoreCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the store as it is now, even while it is being written.",
    discussion: """
      The directory must not exist or must be empty; it becomes a store that can be opened, checked and restored. Files that \
      are never written again get a second name there (a hard link) instead of being copied, if the file system can do that. \
      With --since, files that an earlier backup has are shared with it, so a backup to another disk copies only what is new. \
      Every backup is complete: any of them may be deleted.

      With --dry-run, says what would be copied and writes nothing. If interrupted, the command removes what it made; if it is \
      killed, what it leaves does not open: repeat the same command.

      Examples:
        esker backup cities.esker backups/monday
        esker backup cities.esker backups/tuesday --since backups/monday
      """
  )

  @OptionGroup var store: StoreArguments

  @Argument(help: "Where to put the backup.", completion: .directory)
  var directory: String

  @Option(help: ArgumentHelp("An earlier backup of this store to share files with.", valueName: "backup"))
  var since: String?

  @Flag(help: "Copy everything: share no files with the store.")
  var copy = false

  @Flag(help: "Say what would be copied, without writing anything.")
  var dryRun = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    if let since { try store.require(at: since) }
    try store.requireOutside(directory)
    try store.read { store in
      do { try backUp(store) } catch StoreError.damaged(let location, let reason) {
        DamageReports.report(location, reason)
        let path = quotedForShell(self.store.store)
        StandardError.report(
          "nothing was copied, as the store is damaged; to save everything intact: esker repair \(path) NEW"
        )
        throw StoreError.damaged(location, reason: reason)
      }
    }
  }

  private func backUp(_ store: LogStore) throws {
    let copies = copy || dryRun && !isOnOneVolume(store.path, directory)
    let plan = try store.planBackup(to: directory, reusing: since, copying: copies)
    if dryRun { return try printSummary(of: plan, path: directory, isPlan: true, asJSON: json) }
    Interruption.install()
    let progress = Progress("copying", total: plan.bytes, isQuiet: self.store.quiet)
    defer { progress.clear() }
    let report = try store.backup(to: directory, reusing: since, copying: copy) { progress.goesOn($0) }
    progress.clear()
    if json || !self.store.quiet { try printSummary(of: report, path: directory, asJSON: json) }
  }
}
