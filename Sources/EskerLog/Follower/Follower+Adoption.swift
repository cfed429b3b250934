internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// How a read-only store adopts a newer manifest. Everything here runs with `following` held.

extension Follower {
  /// Opens the segments that a manifest lists and that are not open yet: all of them, or none.
  ///
  /// - Returns: Nil if a segment was merged away meanwhile: a newer manifest lists its replacement.
  /// - Throws: If a segment is really missing, or cannot be opened.
  func openListed(_ manifest: Manifest, _ events: inout [StoreEvent]) throws(StoreError) -> [Segment]? {
    let known = Set(catalog.segments.map(\.id))
    var opened: [Segment] = []
    var damage: [StoreEvent] = []
    do throws(StoreError) {
      for row in manifest.segments where !known.contains(row.id) {
        opened.append(try catalog.openSegment(row, of: manifest, damage: &damage))
      }
    } catch {
      for segment in opened { catalog.uninstall(segment) }
      if error == StoreError.overtaken(at: env.path) { return nil }
      guard case .damaged = error else { throw error }
      let newest = try catalog.readCopies().newest
      if newest?.generation == manifest.generation { throw error }
      return nil
    }
    events += damage
    return opened
  }

  /// Adds segments to the list, so that reading the log can continue in them, and keyspaces.
  func enter(_ opened: [Segment], _ manifest: Manifest) {
    keydir.keyspaces.add(manifest)
    let rows = Dictionary(manifest.segments.lazy.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for segment in catalog.segments where !segment.isSettled {
      // A segment left empty no longer has the number that it was to begin with: it has no place in the log.
      guard catalog.firstNumber(of: segment) == nil, let row = rows[segment.id], row.state == .active else { continue }
      segment.change { $0.begin(with: row.firstSequence) }
    }
    catalog.enter(opened, manifest)
    catalog.renewMissed()
  }

  /// Points the index to a segment's records where it points to the same ones elsewhere: these are alive, and were
  /// copied.
  func follow(_ segment: Segment, through last: UInt64, _ events: inout [StoreEvent]) {
    var replay = LogReplay(writer, onlyMoving: true)
    var walk = SegmentWalk(segment, env.seed, damage: &events)
    while let entry = walk.nextReadable(reporting: &events) {
      if entry.kind == .put, entry.sequence <= last { replay.apply(LogRecord(entry, of: segment)) }
    }
    replay.drain()
  }

  /// Adopts a manifest. The index must already point to all live records in the segments that it lists.
  func adopt(_ manifest: Manifest, _ follower: inout LogPosition, _ events: inout [StoreEvent]) {
    let listed = Set(manifest.segments.map(\.id))
    let leaving = catalog.segments.filter { !listed.contains($0.id) }
    // What the index still points to in them is dead: everything alive has been copied.
    for segment in leaving where catalog.granules.live(segment).records != 0 {
      clear(segment, SegmentHeader.length..<readEnd(of: segment, follower))
    }
    settle(manifest.segments, follower, &events)
    feeds.hold(through: follower.whole)
    catalog.adopt(manifest, without: leaving)
    for segment in leaving {
      commits.forget(segment)
      segment.lease.retire(bytes: segment.fileLength)
      catalog.uninstall(segment)
    }
    if let segment = follower.segment, !listed.contains(segment.id) {
      // It contained nothing more than an unfinished batch.
      follower.expected = max(follower.expected, follower.whole &+ 1)
      follower.batch = []
      follower.segment = nil
    }
    if follower.generation != manifest.generation { follower.vainExpected = nil }
    follower.generation = manifest.generation
    // First what is visible: only that can be durable.
    publish(follower)
    commits.noteDurable(min(manifest.durableSequence, follower.whole))
    feeds.checkBounds()
    env.epochs.collect()
  }

  /// The offset up to which a segment's records were read.
  private func readEnd(of segment: Segment, _ follower: LogPosition) -> Int {
    max(
      segment === follower.segment ? follower.offset : 0,
      segment.recordsEnd ?? 0,
      SegmentHeader.length
    )
  }

  /// Notes the ends of segments that the manifest calls sealed.
  private func settle(_ rows: [SegmentRow], _ follower: LogPosition, _ events: inout [StoreEvent]) {
    let known = Dictionary(catalog.segments.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for row in rows where row.state == .sealed {
      guard let segment = known[row.id] else { continue }
      if segment.isSettled {
        // By this process itself, in its turn.
        if segment.facts.footer.offset != Int(clamping: row.footerOffset) { segment.change { $0.takeFooter(of: row) } }
        continue
      }
      let end = Int(clamping: row.recordsEnd)
      let read = readEnd(of: segment, follower)
      // A recovery cut off what follows: it was copied to another segment, to which the index points now.
      if read > end, clear(segment, end..<read) > 0 {
        let reason = "a failed sync discarded writes that readers had already seen"
        events.append(.damaged(segment.location(end), reason: reason))
      }
      // Its footer may be all that is read of it, and it has grown since it was opened.
      _ = catalog.growToFile(segment)
      segment.change { $0.settle(as: row) }
      segment.file.rest()
      catalog.granules.updateLimit(segment)
    }
  }

  /// Notes the ends of segments that the manifest calls sealed, except where more was read. The manifest determines at
  /// which numbers the log continues after them.
  func settleBeforeLoading(_ manifest: Manifest, _ follower: LogPosition) {
    var ignored: [StoreEvent] = []
    let (segment, end) = (follower.segment, follower.restart.offset)
    settle(
      manifest.segments.filter { $0.id != segment?.id || end <= Int(clamping: $0.recordsEnd) },
      follower,
      &ignored
    )
  }

  /// Removes the index entries that point into a range of a segment; returns how many there were.
  @discardableResult
  private func clear(_ segment: Segment, _ range: Range<Int>) -> Int {
    var count = 0
    var ignored: [StoreEvent] = []
    var walk = SegmentWalk(segment, env.seed, to: range.upperBound, damage: &ignored)
    while let entry = walk.nextReadable(reporting: &ignored) {
      guard entry.kind == .put, entry.offset >= UInt64(range.lowerBound) else { continue }
      let record = LogRecord(entry, of: segment)
      let isTaken = writer.withLock { state in
        keydir.removeEntry(record.hash, at: record.address, record.size, of: record.keyspace, state.keys)
      }
      if isTaken { count += 1 }
    }
    // Records with damaged headers were missed: their entries are found by address.
    if range.lowerBound == SegmentHeader.length, catalog.granules.live(segment).records != 0 {
      writer.withLock { state in keydir.removeEntries(from: segment, state.keys) }
    }
    return count
  }
}
