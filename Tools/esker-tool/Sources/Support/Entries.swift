import Esker

/// Calls `body` for each visible entry in a snapshot of a store, or of one keyspace, until it returns false.
///
/// An entry with a damaged record is reported and skipped, so that one bad byte does not hide all others.
///
/// - Parameter keyspace: The keyspace's name, empty for the default one; nil for all.
/// - Returns: True if no damage was found.
/// - Throws: What `body` throws; ``ToolError/interrupted(signal:)``.
func forEachEntry(
  of store: LogStore,
  in keyspace: String?,
  _ progress: Progress,
  _ body: (Snapshot.Entry) throws -> Bool
) throws -> Bool {
  var isIntact = true
  var done = 0
  for entry in try store.snapshot() {
    try Interruption.check()
    // An entry without a version could belong to any keyspace.
    guard keyspace == nil || entry.keyspace == keyspace || entry.version.rawValue == 0 else { continue }
    do {
      guard try body(entry) else { break }
    } catch StoreError.damaged(let location, let reason) {
      isIntact = false
      progress.clear()
      DamageReports.report(location, reason)
    }
    done += 1
    progress.step(done)
  }
  return isIntact
}
