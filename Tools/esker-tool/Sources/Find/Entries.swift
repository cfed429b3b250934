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
  var visit = Visit(progress)
  try store.snapshot().forEachEntry(in: keyspace) { entry in try visit.take(entry, body) }
  return visit.isIntact
}

/// Calls `body` for the entries that a filter takes, in an order if one is asked for.
///
/// Memory does not grow with the entries, except for an order without a limit that the store does not have.
///
/// - Returns: True if no damage was found.
/// - Throws: What `body` throws; ``ToolError/interrupted(signal:)``.
func forEachEntry(
  of store: LogStore,
  in keyspace: String?,
  _ progress: Progress,
  taking filter: EntryFilter,
  in order: EntryOrder.Order? = nil,
  _ body: (borrowing Snapshot.Entry) throws -> Void
) throws -> Bool {
  var filter = filter
  var remaining = filter.limit
  guard remaining > 0 else { return true }
  func takeNext(_ entry: borrowing Snapshot.Entry) throws -> Bool {
    guard try filter.takes(entry) else { return true }
    try body(entry)
    remaining -= 1
    return remaining > 0
  }
  if let ranges = try ranges(of: store, in: keyspace, taking: filter, in: order) {
    var visit = Visit(progress)
    let snapshot = try store.snapshot()
    for (keyspace, range) in ranges {
      let entries = snapshot.entries(in: keyspace, range, order: order?.isReversed == true ? .descending : .ascending)
      for entry in entries where try !visit.take(entry, takeNext) { return visit.isIntact }
    }
    return visit.isIntact
  }
  guard let order else { return try forEachEntry(of: store, in: keyspace, progress, takeNext) }
  var sorted = SortedEntries(by: order.rank, isReversed: order.isReversed, limit: remaining)
  var isIntact = try forEachEntry(of: store, in: keyspace, progress) { entry in
    guard try filter.takes(entry) else { return true }
    if case .field(let path) = order.rank {
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

/// Whether entries have to be read, all of them, to know their order: unless it is that of keys which are kept in it.
func sorts(_ store: LogStore, in keyspace: String?, by order: EntryOrder.Order) throws -> Bool {
  try order.rank != .key || !store.hasOrder(store.keyspaces(keyspace))
}

/// The keys of each keyspace among which those are that a filter takes, in the order in which they are wanted; nil if all entries have
/// to be read, since a keyspace has no order, or because that is faster.
private func ranges(
  of store: LogStore,
  in keyspace: String?,
  taking filter: EntryFilter,
  in order: EntryOrder.Order?
) throws -> [(Keyspace, KeyRange)]? {
  guard order.map({ $0.rank == .key }) ?? filter.hasRange else { return nil }
  let names = try store.keyspaces(keyspace).sorted()
  guard store.hasOrder(names) else { return nil }
  var filter = filter
  var ranges: [(Keyspace, KeyRange)] = []
  for name in names {
    let range = filter.range(in: name)
    // The log is read faster from one end to the other.
    if order == nil, range == .all { return nil }
    if let keyspace = try store.remaining(name) { ranges.append((keyspace, range)) }
  }
  return order?.isReversed == true ? ranges.reversed() : ranges
}

extension LogStore {
  /// A keyspace that was listed; nil if its writer has just removed it.
  fileprivate func remaining(_ keyspace: String) throws(StoreError) -> Keyspace? {
    do throws(StoreError) {
      return try self.keyspace(keyspace)
    } catch .noSuchKeyspace, .keyspaceRemoved {
      return nil
    }
  }

  /// Whether the keys of keyspaces are at hand in order, or there are none: otherwise they would have to be gathered.
  func hasOrder(_ keyspaces: [String]) -> Bool {
    let statistics = statistics
    return keyspaces.allSatisfy { name in
      let keyspace = statistics.keyspaces[name]
      return keyspace?.orderBytes != nil || keyspace?.keys == 0
    }
  }
}

/// What surrounds each look at an entry.
private struct Visit {
  private let progress: Progress
  private var done = 0
  private(set) var isIntact = true

  init(_ progress: Progress) { self.progress = progress }

  /// Whether there is to be another one.
  mutating func take(
    _ entry: borrowing Snapshot.Entry,
    _ body: (borrowing Snapshot.Entry) throws -> Bool
  ) throws -> Bool {
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
}
