internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// The usual way of making room costs neither an edit nor a sync: some of the oldest segments are listed ahead, by one edit, as those that
// make room next. Each stays in use until its room is needed; then its file is removed, and with it what the index still finds there.
//
// Nothing older comes back: a segment is listed only if nothing in the segments that stay is older than its records, which those would
// hide. That is so for the oldest part of the log, and for what merges have copied from there. After a power failure, files of these
// segments may be back, or records behind them missing that were never synced. `Manifest.withoutEvicted` drops what is back too early.
//
// What was read since it was written has to be copied first; that is a merge, and takes an edit and some syncs.

extension Merger {
  /// How many segments one edit lists: the fewest, so that what is read meanwhile is spared, and the most, in a cache that is written
  /// faster than edits are.
  static let listed = 4...32

  /// Removes the segment that makes room next; false if none is listed. Called with `merging` held.
  func removeEvicted() throws(StoreError) -> Bool {
    guard let segment = catalog.evictions.first else { return false }
    guard !keydir.isDamaged else { throw keydir.indexDamage() }
    // While its footer can be read.
    let purges = purges(in: segment)
    feeds.hold(through: commits.publishedSequence)
    // First the file: a key that the index finds no more must not be back after a crash. If it stays, so does its place among what is to be
    // synced, and no sync may end meanwhile without it.
    commits.note(removing: segment)
    defer { commits.note(removing: nil) }
    do throws(PlatformError) { try env.platform.fileSystem.remove(segment.path) } catch {
      if error.code != PlatformError.notFound { throw StoreError(error) }
    }
    catalog.noteRemoval()
    commits.forget(segment)
    let evicted = purge(purges)
    if catalog.granules.live(segment).records != 0 {
      // Damage hid them from the walk.
      writer.withLock { state in keydir.removeEntries(from: segment, state.keys) }
    }
    catalog.removeEvicted(segment)
    segment.lease.retire(bytes: segment.fileLength)
    catalog.uninstall(segment)
    feeds.checkBounds()
    note(evicted, bytesRead: segment.recordBytes)
    env.epochs.collect()
    return true
  }

  /// Lists the oldest segments as those that make room next; false if there are none that may go as they are. Called with `merging`
  /// held.
  func listEvictions() throws(StoreError) -> Bool {
    guard !keydir.isDamaged else { throw keydir.indexDamage() }
    try keydir.checkWhole()
    let full = full
    let count = min(listing, max(1, full.count / 2), SegmentRow.mostEvictionPlaces - catalog.evictions.count)
    var chosen: [Segment] = []
    for segment in full {
      guard chosen.count < count, hidesNothing(segment, but: chosen), !hasSurvivors(segment) else { break }
      chosen.append(segment)
    }
    guard !chosen.isEmpty else { return false }
    // The manifest is to name what these began: their records may go.
    try commits.waitDurable(catalog.resets.last, onlyThrough: true)
    try writer.open()
    let checkpoint = try maintainer.holdingImages { () throws(StoreError) in
      let checkpoint = catalog.manifest.checkpointID
      if checkpoint != 0 { catalog.note(unlistedFiles: [catalog.checkpointPath(checkpoint)]) }
      try catalog.queueEvictions(chosen)
      return checkpoint
    }
    catalog.removeCheckpoint(checkpoint)
    return true
  }

  /// The segments that take no more records and are not listed to make room yet, the oldest first.
  var full: [Segment] {
    let listed = Set(catalog.evictions.map(ObjectIdentifier.init))
    // A copy is as old as the merge that made it, whatever it copied.
    func age(_ segment: Segment) -> (UInt64, UInt64) {
      let facts = segment.facts
      return (segment.kind == .log ? facts.firstSequence : max(facts.mergedThrough, facts.lastSequence), segment.id)
    }
    return catalog.segments
      .filter { $0.isSealed && $0.firstSequence != 0 && !listed.contains(ObjectIdentifier($0)) }
      .map { (age($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Whether no other segment has a record that is older than one in this, except for those that go before.
  private func hidesNothing(_ segment: Segment, but before: [Segment]) -> Bool {
    TombstoneRule(catalog, merging: catalog.evictions + before + [segment]).floor >= segment.lastSequence
  }

  /// Whether a segment has records that were read since they were written, and that eviction spares. One that cannot be read has none.
  private func hasSurvivors(_ segment: Segment) -> Bool {
    guard let marks = keydir.readMarks else { return false }
    var ignored: [StoreEvent] = []
    var walk = SegmentWalk(segment, env.seed, damage: &ignored)
    while let entry = try? walk.next() {
      guard entry.kind == .put, marks.has(entry.keyHash) else { continue }
      if keydir.leads(to: segment.startUnits + entry.offset >> 3, hash: entry.keyHash) { return true }
    }
    return false
  }

  /// What the index may find in a segment.
  private func purges(in segment: Segment) -> [PurgedEntry] {
    let now = env.checkedNow
    var ignored: [StoreEvent] = []
    var walk = SegmentWalk(segment, env.seed, damage: &ignored)
    var purges: [PurgedEntry] = []
    while let entry = try? walk.next() {
      guard entry.kind == .put else { continue }
      let hasExpired = entry.expires && segment.storedRecord(at: Int(entry.offset)).map { $0.expiry <= now } ?? false
      let isCurrent = keydir.keyspaces[entry.keyspace.id]?.tag == entry.keyspace
      purges.append(
        PurgedEntry(
          hash: entry.keyHash,
          address: segment.startUnits + entry.offset >> 3,
          size: Int(entry.size),
          keyspace: entry.keyspace,
          isEvicted: isCurrent && !hasExpired
        )
      )
    }
    return purges
  }

  private func note(_ evicted: (records: Int, bytes: Int), bytesRead: Int) {
    count(
      MergeResult(inputs: 1, bytesRead: bytesRead, recordsEvicted: evicted.records, bytesEvicted: evicted.bytes),
      isMerge: false
    )
    if evicted.records > 0 { env.emit(.evicted(records: evicted.records, bytes: evicted.bytes)) }
  }
}
