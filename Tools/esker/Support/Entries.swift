import Esker

/// Calls `body` for each visible entry of a store as it is now, or of one keyspace, until `body` answers false.
///
/// An entry whose record is damaged is reported and passed over, so that one bad byte does not hide all others.
///
/// - Parameter keyspace: the keyspace's name, empty for the default one; nil: all.
/// - Returns: true when no damage was met.
/// - Throws: what `body` throws; ``ToolError/interrupted(signal:)``.
func forEachEntry(
  of store: LogStore,
  in keyspace: String?,
  _ progress: Progress,
  _ body: (LogEntry) throws -> Bool
) throws -> Bool {
  var isIntact = true
  var done = 0
  for entry in try store.snapshot() {
    try Interruption.check()
    // Nothing is known of an entry without a version: it may belong to any keyspace.
    guard keyspace == nil || entry.keyspace == keyspace || entry.version.rawValue == 0 else { continue }
    do {
      guard try body(entry) else { break }
    } catch StoreError.damaged(let location, let reason) {
      isIntact = false
      progress.clear()
      StandardError.report(StoreError.damaged(location, reason: reason).description)
    }
    done += 1
    progress.step(done)
  }
  return isIntact
}
