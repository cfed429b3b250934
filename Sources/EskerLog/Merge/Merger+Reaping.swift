internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Merger {
  /// The number of entries changed each time the writer's lock is held: some tens of microseconds.
  private static let sliceLength = 256

  /// Removes the entries of expired and evicted records and of emptied keyspaces from the index; returns how much was
  /// evicted. None of them reappears after a crash: an edit without their segments is durable, or the file is gone.
  func reap(_ reaps: [MergeReap]) -> (records: Int, bytes: Int) {
    var evicted = (records: 0, bytes: 0)
    inSlices(reaps.count) { range, state in
      for reap in reaps[range] {
        let watched = watchedKey(of: reap)
        // Caches in front of the store detect expiry themselves.
        if reap.isEvicted { watched?.tellWillWrite() }
        defer { if reap.isEvicted { watched?.tellDidWrite() } }
        guard keydir.takeOut(reap.hash, at: reap.address, reap.size, of: reap.keyspace, state.keys) else {
          continue
        }
        if reap.isEvicted { evicted = (evicted.records + 1, evicted.bytes + reap.size) }
        watched?.tellLoss(at: reap.address, reap.isEvicted ? .eviction : .expiry)
      }
    } prefetch: { range in
      for reap in reaps[range] { keydir.reader.prefetch(reap.hash) }
    }
    return evicted
  }

  /// The key of a record to be removed, if its keyspace has listeners. Relaxed: they change under the writer's lock,
  /// which the caller holds.
  private func watchedKey(of reap: MergeReap) -> WatchedKey? {
    guard let core = keydir.keyspaces[reap.keyspace.id], core.tag == reap.keyspace,
      core.isWatched.load(ordering: .relaxed), let place = catalog.granules.place(of: reap.address),
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

  func tellWillWrite() { unsafe key.withUnsafeBytes { unsafe core.tellWillWrite($0) } }
  func tellDidWrite() { unsafe key.withUnsafeBytes { unsafe core.tellDidWrite($0, nil) } }

  func tellLoss(at address: UInt64, _ cause: KeyspaceChange.Cause) {
    core.tellLoss(key, Existing(address: address), cause)
  }
}
