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
    try checkWritable()
    let now = checkedNow
    guard try countEntries(where: { $0.expiry <= now && (core == nil || $0.keyspace == core?.tag) }) > 0 else {
      return 0
    }
    try opening.withLock { () throws(StoreError) in try editManifest(.listed) }
    return reap { record in record.expiry <= now && (core == nil || record.keyspace == core?.tag) }
  }

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
        if let checkpoint = state.checkpoint {
          for changed in bucket..<bucket + Self.sliceLength { checkpoint.willChange(changed, of: index) }
        }
        return index.removeEntries(inBuckets: bucket..<bucket + Self.sliceLength) { entry in
          guard let place = granules.place(of: entry.address),
            let record = StoredRecord(at: place), condition(record), record.headIsIntact
          else { return false }
          granules.addLive(at: entry.address, bytes: -record.size)
          for snapshot in state.snapshots { snapshot.noteSuperseded(entry.address, record.sequence) }
          state.isReaped = true
          if let core = keyspaces.withLock({ $0.byID[record.keyspace.id] }), core.tag == record.keyspace {
            core.entryCount.subtract(1, ordering: .relaxed)
            // Of the keyspace as it is now, so it is expired and not what an emptying left.
            if core.isWatched.load(ordering: .relaxed) {
              core.tellLoss(record.key, Existing(address: entry.address), .expiry)
            }
          }
          return true
        }
      }
      bucket += Self.sliceLength
    }
    return removed
  }

  private func countEntries(where condition: (StoredRecord) -> Bool) throws(StoreError) -> Int {
    var count = 0
    var bucket = 0
    while bucket < index.bucketCount {
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      writer.withLock { _ in
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
    try checkWritable()
    time.reset()
    try opening.withLock { () throws(StoreError) in
      manifests.withLock { $0.manifest.storeTime = time.now }
      try editManifest(.listed)
    }
  }
}
