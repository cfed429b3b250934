internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// One merge: replaces some segments by others that contain only what is still needed of them.
///
/// In this order, so that a crash at any point neither loses nor revives anything:
///
/// 1. Live records are copied to new segments, which are synced, including their names. Nothing refers to them yet.
/// 2. The log is synced up to where it was when the copying ended: whatever made a record dead is then durable, so a crash
///    cannot lose the newer record when the older one is gone.
/// 3. Index entries that still point to the old places are pointed to the new ones. The index must then point to nothing
///    in the old segments except records that have expired or will be evicted.
/// 4. One edit of the manifest lists the new segments instead of the old ones, and saves the store time by which records
///    have expired.
/// 5. Expired and evicted entries are removed from the index. Not earlier: the edit may fail, and removing a key whose
///    entry is missing would log no tombstone, so that its value would reappear after a crash.
/// 6. The old files are removed. Readers that still use them keep them open.
struct MergeRun: ~Copyable {
  private let merger: Merger
  private let inputs: [Segment]
  private let evicts: Bool
  private var survey: MergeSurvey

  /// The number of entries changed each time the writer's lock is held: some tens of microseconds.
  private static let sliceLength = 256

  /// - Parameters:
  ///   - inputs: Settled segments of durable records.
  ///   - evicts: Whether to keep only records that were read lately.
  init(_ merger: Merger, merging inputs: [Segment], evicting evicts: Bool) {
    self.merger = merger
    self.inputs = inputs
    self.evicts = evicts
    survey = MergeSurvey(merger, merging: inputs, now: merger.env.checkedNow, evicting: evicts)
  }

  /// Merges. If it throws, the store is unchanged, and what was written is removed now or at the next opening.
  ///
  /// Called with `merging` held.
  mutating func run(_ pace: borrowing MergePace) throws(StoreError) -> MergeResult {
    let outputs: [Segment]
    do throws(StoreError) {
      for segment in inputs { try survey.take(segment, pace) }
      survey.chooseTombstones()
      // Mostly tombstones that still hide older records: not worth merging until those are gone.
      if !evicts, survey.writer.bytes == 0, survey.shadowBytes * 2 > bytesRead {
        for segment in inputs { segment.wait(for: survey.blockers, bytes: segment.recordsEnd) }
        return MergeResult()
      }
      try survey.takeTombstones()
      try pace.check()
      outputs = try survey.finish()
    } catch {
      survey.writer.discard()
      throw error
    }
    do throws(StoreError) {
      try commits.waitDurable(merger.commits.publishedSequence, onlyThrough: true)
    } catch {
      for segment in outputs { merger.catalog.uninstall(segment) }
      survey.writer.discard()
      throw error
    }
    for segment in outputs where segment.facts.footer.neverExpiring > 0 {
      segment.wait(for: survey.blockers, bytes: survey.shadowBytes / outputs.count)
    }
    let evicted = try replace(by: outputs)
    return MergeResult(
      inputs: inputs.count,
      outputs: outputs.count,
      bytesRead: bytesRead,
      bytesWritten: outputs.reduce(0) { $0 + $1.recordBytes },
      recordsEvicted: evicted.records,
      bytesEvicted: evicted.bytes
    )
  }

  private var commits: CommitQueue { merger.commits }

  /// Bytes of records in the inputs.
  private var bytesRead: Int {
    inputs.reduce(0) { $0 + $1.recordBytes }
  }

  /// Steps 3 to 6. Checkpoints and closing wait meanwhile: the index points to outputs that are not listed yet, and then
  /// to expired or evicted records in inputs that are no longer listed. Snapshots do not wait: see
  /// ``SnapshotState/open(of:)``.
  private borrowing func replace(by outputs: [Segment]) throws(StoreError) -> (records: Int, bytes: Int) {
    let (checkpoint, evicted) = try merger.keeper.holdingImages { () throws(StoreError) in
      let checkpoint = merger.catalog.manifest.checkpointID
      do throws(StoreError) {
        try merger.env.checkWritable()
        merger.catalog.setArriving(outputs)
        move { ($0.from, $0.fromSize, $0.to, $0.toSize) }
        try checkNothingElseIsLeft()
        merger.feeds.hold(through: merger.commits.publishedSequence)
        try merger.catalog.commit(.merged(removing: inputs, adding: outputs))
      } catch {
        move { ($0.to, $0.toSize, $0.from, $0.fromSize) }
        merger.catalog.setArriving([])
        for segment in outputs { merger.catalog.uninstall(segment) }
        // After a failed sync it is unknown which manifest is in effect.
        if merger.commits.failureCode == nil { survey.writer.discard() }
        throw error
      }
      defer { merger.catalog.endLeaving() }
      return (checkpoint, reap())
    }
    if checkpoint != 0 {
      try? merger.env.platform.fileSystem.remove("\(merger.env.path)/\(FileName.checkpoint(checkpoint))")
    }
    for segment in inputs {
      segment.lease.retire(bytes: segment.fileLength)
      commits.forget(segment)
      merger.catalog.uninstall(segment)
      // A file that cannot be removed is not listed, and the next opening removes it.
      try? merger.env.platform.fileSystem.remove(segment.path)
    }
    merger.feeds.checkBounds()
    return evicted
  }

  /// Points the index entries of all moves from one place to the other, if they still point to the first.
  private borrowing func move(
    _ ends: (MergeMove) -> (from: UInt64, fromSize: UInt32, to: UInt64, toSize: UInt32)
  ) {
    inSlices(survey.moves.count) { range, state in
      for move in survey.moves[range] {
        let (from, fromSize, to, toSize) = ends(move)
        merger.keydir.move(move.hash, from: (from, Int(fromSize)), to: (to, Int(toSize)), state.keys)
      }
    } prefetch: { range in
      for move in survey.moves[range] { merger.keydir.reader.prefetch(move.hash) }
    }
  }

  /// Removes the entries of expired and evicted records and of emptied keyspaces from the index; returns how much was
  /// evicted. The edit is durable, so none of them reappears after a crash.
  private borrowing func reap() -> (records: Int, bytes: Int) {
    var evicted = (records: 0, bytes: 0)
    inSlices(survey.reaps.count) { range, state in
      for reap in survey.reaps[range] {
        let watched = watchedKey(of: reap)
        // Caches in front of the store detect expiry themselves.
        if reap.isEvicted { watched?.tellWillWrite() }
        defer { if reap.isEvicted { watched?.tellDidWrite() } }
        guard merger.keydir.takeOut(reap.hash, at: reap.address, reap.size, of: reap.keyspace, state.keys) else {
          continue
        }
        if reap.isEvicted { evicted = (evicted.records + 1, evicted.bytes + reap.size) }
        watched?.tellLoss(at: reap.address, reap.isEvicted ? .eviction : .expiry)
      }
    } prefetch: { range in
      for reap in survey.reaps[range] { merger.keydir.reader.prefetch(reap.hash) }
    }
    return evicted
  }

  /// The key of a record to be removed, if its keyspace has listeners. Relaxed: they change under the writer's lock,
  /// which the caller holds.
  private borrowing func watchedKey(of reap: MergeReap) -> WatchedKey? {
    guard let core = merger.keydir.keyspaces[reap.keyspace.id], core.tag == reap.keyspace,
      core.isWatched.load(ordering: .relaxed), let place = merger.catalog.granules.place(of: reap.address),
      let record = StoredRecord(at: place)
    else { return nil }
    return WatchedKey(core: core, key: record.key)
  }

  /// Runs a body over a range in slices, under the writer's lock, and lets writers run in between.
  private borrowing func inSlices(
    _ count: Int,
    _ body: (Range<Int>, inout WriterState) -> Void,
    prefetch: (Range<Int>) -> Void
  ) {
    var start = 0
    while start < count {
      let range = start..<min(count, start + Self.sliceLength)
      let pin = merger.env.epochs.enter()
      prefetch(range)
      merger.env.epochs.exit(pin)
      merger.writer.withLock { state in body(range, &state) }
      start = range.upperBound
      // The lock is not fair: without a pause, writers would hardly ever get it.
      if start < count { merger.env.workers.merger.yield() }
    }
  }

  /// Throws if the index still points to a record in the inputs that is neither moved nor to be removed: no merge is
  /// better than a lost record.
  private borrowing func checkNothingElseIsLeft() throws(StoreError) {
    // Writers may supersede entries while they are counted. They note this here, as they do for a snapshot.
    let notes = SnapshotState()
    merger.writer.withLock { state in state.keys.add(notes) }
    var going: [UInt64] = []
    inSlices(survey.reaps.count) { range, _ in
      for reap in survey.reaps[range] where merger.keydir.leads(to: reap.address, hash: reap.hash) {
        going.append(reap.address)
      }
    } prefetch: { range in
      for reap in survey.reaps[range] { merger.keydir.reader.prefetch(reap.hash) }
    }
    let left = merger.writer.withLock { state in
      state.keys.remove(notes)
      return inputs.map { merger.catalog.granules.live($0).records }
    }
    if merger.keydir.isDamaged { throw merger.keydir.indexDamage() }
    going.removeAll { notes.wasSuperseded($0) }
    guard left.reduce(0, +) != going.count else { return }
    for (segment, records) in zip(inputs, left) {
      let known = going.count { segment.lease.granules.contains(GranuleTable.granule(of: $0)) }
      guard records != known else { continue }
      segment.change { $0.noteUnreadable() }
      throw .damaged(segment.location(), reason: "not every live record of the segment was found, so it is not merged")
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

/// The outcome of a merge.
struct MergeResult {
  var inputs = 0
  var outputs = 0
  /// Bytes of records in the inputs.
  var bytesRead = 0
  /// Bytes of records in the outputs.
  var bytesWritten = 0
  /// The number of live records evicted, and their bytes.
  var recordsEvicted = 0
  var bytesEvicted = 0
}

extension Segment {
  /// Bytes of records, including the dictionary of a packed segment.
  fileprivate var recordBytes: Int { recordsEnd - SegmentHeader.length }
}

extension Report.Merge {
  mutating func add(_ result: MergeResult) {
    segmentsRemoved += result.inputs
    segmentsWritten += result.outputs
    bytesRead += result.bytesRead
    bytesWritten += result.bytesWritten
    recordsEvicted += result.recordsEvicted
    bytesEvicted += result.bytesEvicted
  }
}
