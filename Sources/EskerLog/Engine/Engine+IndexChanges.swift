internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// Nothing else changes where the index leads. All of these are called under the writer's lock, which `state` proves, and take
// what was found under the same hold of it; each does the same, in this order:
//
// 1. A checkpoint under way saves the bucket as it was.
// 2. Open snapshots note the place that the index leads to no more. An iterator asks the index first and the notes second, so
//    it finds in one of them whatever it shows. Noted is only what the index leads to: a place that it left before a snapshot
//    was taken is not the snapshot's.
// 3. The index changes.
// 4. The figures of live records and of entries follow.

extension Engine {
  /// Leads the index to the newest record of a key. Inlined into every put: it pays one comparison for checkpoints and one
  /// for snapshots.
  ///
  /// - Parameters:
  ///   - existing: the record it led to, if any, as a search has just found it.
  ///   - probe: where that search ended.
  @inline(__always)
  func lead(
    _ hash: UInt64,
    to address: UInt64,
    _ size: Int,
    replacing existing: Existing,
    at probe: WriteProbe,
    _ core: KeyspaceCore?,
    _ state: inout WriterState
  ) {
    saveForCheckpoint(hash, state)
    if existing.address == 0 {
      // Fails for want of memory, if nobody has reserved it, and in a damaged bucket.
      guard index.insert(hash, address: address, after: probe) else {
        isIndexIncomplete.store(true, ordering: .relaxed)
        return
      }
      if let core { core.countEntries(1) }
    } else {
      note(existing.address, existing.sequence, state)
      probe.replaceCurrent(with: address)
      granules.countDead(at: existing.address, bytes: existing.size)
    }
    granules.countLive(at: address, bytes: size)
  }

  /// Takes a record that has just been found out of the index.
  func takeOut(_ hash: UInt64, _ existing: Existing, _ core: KeyspaceCore?, _ state: inout WriterState) {
    saveForCheckpoint(hash, state)
    note(existing.address, existing.sequence, state)
    // False in a damaged bucket, where the entry stays.
    guard index.remove(hash, address: existing.address) else { return }
    granules.countDead(at: existing.address, bytes: existing.size)
    core?.countEntries(-1)
  }

  /// Takes a record out of the index if that leads to it; false if it does not.
  func takeOut(
    _ hash: UInt64,
    at address: UInt64,
    _ size: Int,
    of keyspace: KeyspaceTag,
    _ state: inout WriterState
  ) -> Bool {
    guard find(hash, at: address) != nil else { return false }
    saveForCheckpoint(hash, state)
    note(address, state)
    guard index.remove(hash, address: address) else { return false }
    granules.countDead(at: address, bytes: size)
    core(in: keyspace)?.countEntries(-1)
    return true
  }

  /// Leads the index from one place of a record to another; false if it does not lead to the first.
  @discardableResult
  func move(
    _ hash: UInt64,
    from old: (address: UInt64, size: Int),
    to new: (address: UInt64, size: Int),
    _ state: inout WriterState
  ) -> Bool {
    guard let probe = find(hash, at: old.address) else { return false }
    saveForCheckpoint(hash, state)
    note(old.address, state)
    probe.replaceCurrent(with: new.address)
    granules.countDead(at: old.address, bytes: old.size)
    granules.countLive(at: new.address, bytes: new.size)
    return true
  }

  /// Takes the intact records that a condition picks out of some buckets; how many there were.
  ///
  /// - Parameter hear: told of each whose keyspace was not emptied since.
  func takeOut(
    inBuckets buckets: Range<Int>,
    _ state: inout WriterState,
    where condition: (StoredRecord) -> Bool,
    hear: (KeyspaceCore, StoredRecord, UInt64) -> Void
  ) -> Int {
    // A closure must not capture what is `inout`.
    let (checkpoint, snapshots) = (state.checkpoint, state.snapshots)
    return index.removeEntries(inBuckets: buckets) { entry in
      guard let place = granules.place(of: entry.address), let record = StoredRecord(at: place), condition(record),
        record.headIsIntact
      else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      for snapshot in snapshots { snapshot.noteSuperseded(entry.address, record.sequence) }
      granules.countDead(at: entry.address, bytes: record.size)
      if let core = core(in: record.keyspace) {
        core.countEntries(-1)
        hear(core, record, entry.address)
      }
      return true
    }
  }

  /// Takes all that leads into a segment out of the index, damaged or not.
  ///
  /// - Complexity: O(index).
  func takeOut(from segment: Segment, _ state: inout WriterState) {
    let addresses =
      segment.startUnits..<segment.startUnits + UInt64(segment.granuleCount) << UInt64(GranuleTable.granuleShift)
    let (checkpoint, snapshots) = (state.checkpoint, state.snapshots)
    _ = index.removeEntries(inBuckets: 0..<index.bucketCount) { entry in
      guard addresses.contains(entry.address) else { return false }
      checkpoint?.willChange(entry.bucket, of: index)
      let record = granules.place(of: entry.address).flatMap { StoredRecord(at: $0) }
      // One that cannot be read is every snapshot's, as damage.
      for snapshot in snapshots { snapshot.noteSuperseded(entry.address, record?.sequence ?? 0) }
      granules.countDead(at: entry.address, bytes: record?.size ?? 0)
      if let record { core(in: record.keyspace)?.countEntries(-1) }
      return true
    }
  }

  // MARK: Before a change

  /// The slot that leads to a place; nil when none does.
  @inline(__always)
  private func find(_ hash: UInt64, at address: UInt64) -> WriteProbe? {
    var probe = index.writeProbe(hash)
    while let found = probe.next() {
      if found == address { return probe }
    }
    return nil
  }

  /// Lets a checkpoint under way keep the bucket as it was.
  @inline(__always)
  private func saveForCheckpoint(_ hash: UInt64, _ state: borrowing WriterState) {
    if let checkpoint = state.checkpoint { checkpoint.willChange(index.bucket(of: hash), of: index) }
  }

  /// Lets open snapshots know that a record was alive until now.
  @inline(__always)
  private func note(_ address: UInt64, _ sequence: UInt64, _ state: borrowing WriterState) {
    if !state.snapshots.isEmpty {
      for snapshot in state.snapshots { snapshot.noteSuperseded(address, sequence) }
    }
  }

  /// As above, of a record whose number is not at hand.
  private func note(_ address: UInt64, _ state: borrowing WriterState) {
    guard !state.snapshots.isEmpty else { return }
    // One that cannot be read is every snapshot's, as damage.
    note(address, granules.place(of: address).flatMap { StoredRecord(at: $0) }?.sequence ?? 0, state)
  }

  /// The keyspace that counts a record; nil for one that nobody knows, or that was emptied since.
  private func core(in keyspace: KeyspaceTag) -> KeyspaceCore? {
    guard let core = keyspaces.withLock({ $0.byID[keyspace.id] }), core.tag == keyspace else { return nil }
    return core
  }
}

extension KeyspaceCore {
  /// Called under the writer's lock, so nobody else changes it meanwhile.
  @inline(__always)
  fileprivate func countEntries(_ change: Int) {
    entryCount.store(entryCount.load(ordering: .relaxed) &+ change, ordering: .relaxed)
  }
}
