internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Merger {
  /// The number of entries changed each time the writer's lock is held: some tens of microseconds.
  private static let sliceLength = 256

  /// Removes the entries of expired and evicted records and of emptied keyspaces from the index; returns how much was
  /// evicted. None of them reappears after a crash: an edit without their segments is durable, or the file is gone.
  func purge(_ purges: [PurgedEntry]) -> (records: Int, bytes: Int) {
    var evicted = (records: 0, bytes: 0)
    inSlices(purges.count) { range, state in
      for purge in purges[range] {
        let watched = watchedKey(of: purge)
        // Caches in front of the store detect expiry themselves.
        if purge.isEvicted { watched?.notifyWillWrite() }
        defer { if purge.isEvicted { watched?.notifyDidWrite() } }
        guard keydir.removeEntry(purge.hash, at: purge.address, purge.size, of: purge.keyspace, state.keys) else {
          continue
        }
        if purge.isEvicted { evicted = (evicted.records + 1, evicted.bytes + purge.size) }
        watched?.notifyLoss(at: purge.address, purge.isEvicted ? .eviction : .expiry)
      }
    } prefetch: { range in
      for purge in purges[range] { keydir.reader.prefetch(purge.hash) }
    }
    return evicted
  }

  /// The key of a record to be removed, if its keyspace has listeners. Relaxed: they change under the writer's lock,
  /// which the caller holds.
  private func watchedKey(of purge: PurgedEntry) -> WatchedKey? {
    guard let core = keydir.keyspaces[purge.keyspace.id], core.tag == purge.keyspace,
      core.isWatched.load(ordering: .relaxed), let place = catalog.granules.place(of: purge.address),
      let record = StoredRecord(at: place)
    else { return nil }
    return WatchedKey(core: core, key: record.key)
  }

  /// Runs a body over a range in slices, under the writer's lock, and lets writers run in between.
  func inSlices(
    _ count: Int,
    _ body: (Range<Int>, inout WriterState) -> Void,
    prefetch: (Range<Int>) -> Void
  ) {
    var start = 0
    while start < count {
      let range = start..<min(count, start + Self.sliceLength)
      let pin = env.epochs.enter()
      prefetch(range)
      env.epochs.exit(pin)
      writer.withLock { state in body(range, &state) }
      start = range.upperBound
      if start < count { writer.letOthersIn() }
    }
  }
}

/// A key whose keyspace has watchers or listeners.
///
/// Safety: the array outlives the closures.
private struct WatchedKey {
  var core: KeyspaceCore
  var key: [UInt8]

  func notifyWillWrite() { unsafe key.withUnsafeBytes { unsafe core.notifyWillWrite($0) } }
  func notifyDidWrite() { unsafe key.withUnsafeBytes { unsafe core.notifyDidWrite($0, nil) } }

  func notifyLoss(at address: UInt64, _ cause: KeyspaceChange.Cause) {
    core.notifyLoss(key, CurrentRecord(address: address), cause)
  }
}
