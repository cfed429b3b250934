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
  private let purpose: MergePurpose
  private var survey: MergeSurvey

  /// - Parameters:
  ///   - inputs: Settled segments of durable records.
  init(_ merger: Merger, merging inputs: [Segment], for purpose: MergePurpose) {
    self.merger = merger
    self.inputs = inputs
    self.purpose = purpose
    survey = MergeSurvey(merger, merging: inputs, now: merger.env.checkedNow, for: purpose)
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
      if purpose == .space, survey.writer.bytes == 0, survey.shadowBytes * 2 > bytesRead {
        for segment in inputs { segment.wait(for: survey.blockers, bytes: segment.recordBytes) }
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
      // Also what was not published yet when the records that it replaces were found dead: a power failure would have neither.
      try commits.waitDurable(merger.writer.lastVisible, onlyThrough: true)
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
    let (checkpoint, evicted) = try merger.maintainer.holdingImages { () throws(StoreError) in
      let checkpoint = merger.catalog.manifest.checkpointID
      let leaving = inputs.map(\.path) + (checkpoint == 0 ? [] : [merger.catalog.checkpointPath(checkpoint)])
      do throws(StoreError) {
        try merger.env.checkWritable()
        merger.catalog.setArriving(outputs)
        move { ($0.from, $0.fromSize, $0.to, $0.toSize) }
        try checkNothingElseIsLeft()
        merger.feeds.hold(through: merger.commits.publishedSequence)
        merger.catalog.note(unlistedFiles: leaving)
        try merger.catalog.commit(.merged(removing: inputs, adding: outputs))
        survey.writer.forgetFiles()
      } catch {
        merger.catalog.forget(unlistedFiles: leaving)
        move { ($0.to, $0.toSize, $0.from, $0.fromSize) }
        merger.catalog.setArriving([])
        for segment in outputs { merger.catalog.uninstall(segment) }
        // After a failed sync it is unknown which manifest is in effect.
        if merger.commits.failureCode == nil { survey.writer.discard() }
        throw error
      }
      defer { merger.catalog.endLeaving() }
      return (checkpoint, merger.purge(survey.purges))
    }
    merger.catalog.removeCheckpoint(checkpoint)
    for segment in inputs {
      segment.lease.retire(bytes: segment.fileLength)
      commits.forget(segment)
      merger.catalog.uninstall(segment)
      // A file that cannot be removed is not listed, and the next opening removes it.
      try? merger.env.platform.fileSystem.remove(segment.path)
    }
    merger.catalog.forget(unlistedFiles: inputs.map(\.path))
    merger.feeds.checkBounds()
    return evicted
  }

  /// Points the index entries of all moves from one place to the other, if they still point to the first.
  private borrowing func move(
    _ ends: (MergeMove) -> (from: UInt64, fromSize: UInt32, to: UInt64, toSize: UInt32)
  ) {
    merger.inSlices(survey.moves.count) { range, state in
      for move in survey.moves[range] {
        let (from, fromSize, to, toSize) = ends(move)
        merger.keydir.move(move.hash, from: (from, Int(fromSize)), to: (to, Int(toSize)), state.keys)
      }
    } prefetch: { range in
      for move in survey.moves[range] { merger.keydir.reader.prefetch(move.hash) }
    }
  }

  /// Throws if the index still points to a record in the inputs that is neither moved nor to be removed: no merge is
  /// better than a lost record.
  private borrowing func checkNothingElseIsLeft() throws(StoreError) {
    // Writers may supersede entries while they are counted. They note this here, as they do for a snapshot.
    let notes = SnapshotState()
    merger.writer.withLock { state in state.keys.add(notes) }
    var going: [UInt64] = []
    merger.inSlices(survey.purges.count) { range, _ in
      for purge in survey.purges[range] where merger.keydir.leads(to: purge.address, hash: purge.hash) {
        going.append(purge.address)
      }
    } prefetch: { range in
      for purge in survey.purges[range] { merger.keydir.reader.prefetch(purge.hash) }
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

/// What a merge is for.
enum MergePurpose {
  /// Reclaims space, if that is worth it.
  case space
  /// Makes room: keeps only records that were read lately.
  case eviction
  /// Leaves nothing that is dead.
  case erasure
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
