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
  _ body: (borrowing Snapshot.Entry) throws -> Bool
) throws -> Bool {
  var isIntact = true
  var done = 0
  try store.snapshot().forEachEntry(in: keyspace) { entry in
    try Interruption.check()
    do {
      guard try body(entry) else { return false }
    } catch StoreError.damaged(let location, let reason) {
      isIntact = false
      progress.clear()
      DamageReports.report(location, reason)
    }
    done += 1
    progress.step(done)
    return true
  }
  return isIntact
}

/// Calls `body` for the entries that a filter takes, in an order if one is asked for.
///
/// Memory does not grow with the entries, except for an order without a limit.
///
/// - Returns: True if no damage was found.
/// - Throws: What `body` throws; ``ToolError/interrupted(signal:)``.
func forEachEntry(
  of store: LogStore,
  in keyspace: String?,
  _ progress: Progress,
  taking filter: EntryFilter,
  in order: EntryOrder? = nil,
  _ body: (borrowing Snapshot.Entry) throws -> Void
) throws -> Bool {
  var filter = filter
  var remaining = filter.limit
  guard remaining > 0 else { return true }
  guard let order, let rank = order.sort else {
    return try forEachEntry(of: store, in: keyspace, progress) { entry in
      guard try filter.takes(entry) else { return true }
      try body(entry)
      remaining -= 1
      return remaining > 0
    }
  }
  var sorted = SortedEntries(by: rank, isReversed: order.reverse, limit: remaining)
  var isIntact = try forEachEntry(of: store, in: keyspace, progress) { entry in
    guard try filter.takes(entry) else { return true }
    if case .field(let path) = rank {
      try sorted.add(entry, by: filter.scalar(at: path, in: entry))
    } else {
      try sorted.add(entry)
    }
    return true
  }
  progress.clear()
  try sorted.forEach { entry in
    try Interruption.check()
    do { try body(entry) } catch StoreError.damaged(let location, let reason) {
      isIntact = false
      DamageReports.report(location, reason)
    }
  }
  return isIntact
}
