internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Buckets looked at under one hold of the writer's lock: some tens of microseconds.
  private static let sliceLength = 64

  /// Takes every expired entry out of the index; how many there were.
  ///
  /// The records stay in the log, where they shadow what is older. The store time that condemned them is kept first, so
  /// that a wall clock set back does not show them again after the next opening.
  func removeExpired(in core: KeyspaceCore?) throws(StoreError) -> Int {
    defer { events.deliver() }
    try checkWritable()
    let now = checkedNow
    guard try countEntries(where: { $0.expiry <= now && (core == nil || $0.keyspace == core?.tag) }) > 0 else {
      return 0
    }
    try opening.withLock { () throws(StoreError) in try editManifest(.listed) }
    return reap { record in record.expiry <= now && (core == nil || record.keyspace == core?.tag) }
  }

  /// Whether the store is being closed. Asked under the writer's lock, which who closes it takes before records go: whoever gets
  /// false may follow addresses until it gives the lock back.
  var isEnding: Bool { status.load(ordering: .acquiring) & Status.closed != 0 }

  func countExpired(in core: KeyspaceCore) throws(StoreError) -> Int {
    let now = checkedNow
    let tag = core.tag
    return try countEntries { $0.expiry <= now && $0.keyspace == tag }
  }

  /// Takes the entries that a condition picks out of the index, a few buckets at a time; how many there were.
  @discardableResult
  func reap(where condition: (StoredRecord) -> Bool) -> Int {
    var removed = 0
    var bucket = 0
    while bucket < index.bucketCount, status.load(ordering: .relaxed) & Status.closed == 0 {
      removed += writer.withLock { state in
        if isEnding { return 0 }
        let taken = takeOut(inBuckets: bucket..<bucket + Self.sliceLength, &state, where: condition, hear: tellExpiry)
        if taken > 0 { state.isReaped = true }
        return taken
      }
      bucket += Self.sliceLength
    }
    return removed
  }

  /// Of the keyspace as it is now, so it is expired and not what an emptying left.
  private func tellExpiry(_ core: KeyspaceCore, _ record: StoredRecord, _ address: UInt64) {
    if core.isWatched.load(ordering: .relaxed) { core.tellLoss(record.key, Existing(address: address), .expiry) }
  }

  private func countEntries(where condition: (StoredRecord) -> Bool) throws(StoreError) -> Int {
    var count = 0
    var bucket = 0
    while bucket < index.bucketCount {
      try writer.withLock { (_) throws(StoreError) in
        if isEnding { throw .closed }
        _ = index.forEachEntry(inBuckets: bucket..<bucket + Self.sliceLength) { entry in
          guard let place = granules.place(of: entry.address), let record = StoredRecord(at: place) else { return }
          if condition(record) { count += 1 }
        }
      }
      bucket += Self.sliceLength
    }
    return count
  }

  func resetClock() throws(StoreError) {
    defer { events.deliver() }
    try checkWritable()
    try opening.withLock { () throws(StoreError) in
      try checkWritable()
      let before = time.reset()
      do throws(StoreError) { try editManifest(.clockReset, isAll: true) } catch {
        time.restore(before)
        throw error
      }
    }
  }
}
