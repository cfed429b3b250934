internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Restores the state the store had: opens the segments, and brings the index up to the log.
  func recover(_ manifest: Manifest, _ opened: StoreDirectory.Opened, startedAt start: UInt64) throws(StoreError) {
    var damage = opened.damage
    createKeyspaces(manifest)
    let names = try translating { () throws(PlatformError) in try platform.fileSystem.list(path) }
    // No new segment may take the name of one that a crash left unlisted.
    let highestID = names.compactMap { FileName.segmentID($0) }.max() ?? 0
    manifests.withLock { $0.nextSegmentID = max($0.nextSegmentID, highestID &+ 1) }
    try openSegments(manifest, &damage)
    var report = OpeningReport(
      wasClean: manifest.state == .clean,
      indexSource: .empty,
      replayedRecords: 0,
      rewrittenRecords: 0,
      keys: 0,
      duration: .zero
    )
    var events: [StoreEvent] = []
    if manifest.state == .clean, let checkpoint = loadedCheckpoint,
      checkpoint.header.sequence == manifest.durableSequence
    {
      adopt(checkpoint)
      settle(manifest, published: manifest.durableSequence)
      startFollowingBehindLog()
      report.indexSource = .checkpoint
    } else if !segments.withLock({ $0.isEmpty }) {
      events = try replayLog(manifest, &report, &damage)
    } else {
      settle(manifest, published: Self.lastSequence(withoutLog: manifest))
      startFollowingBehindLog()
    }
    try requirePossibleLog()
    if !options.readOnly { removeStrays(names, manifest, isDurable: opened.isKnownDurable) }
    report.keys = totalCount
    report.duration = .nanoseconds(Int64(clamping: platform.clock.monotonicNanoseconds() &- start))
    keepFindings(damage)
    for event in damage { emit(event) }
    for event in events { emit(event) }
    emit(.opened(report))
  }

  /// The number of the last write when all of the log was merged away. A clean close knows it; otherwise numbers that a cut
  /// skipped may be counted.
  static func lastSequence(withoutLog manifest: Manifest) -> UInt64 {
    manifest.state == .clean ? manifest.durableSequence : max(manifest.durableSequence, manifest.nextSequence &- 1)
  }

  /// Throws if the log holds what no store comes to: it was made up, and could not be written on.
  private func requirePossibleLog() throws(StoreError) {
    let location = DamageLocation(path: lastLogSegment?.path ?? path)
    if isLogMadeUp.load(ordering: .relaxed) {
      throw .damaged(location, reason: "\(Self.tooManyAlike); \(StoreError.remedy)")
    }
    // Writes could run out of numbers.
    let next = writer.withLock { $0.nextSequence }
    guard next > RecordLayout.sequenceLimit else { return }
    let reason = "the log has an impossible sequence number, #\(next - 1); \(StoreError.remedy)"
    throw .damaged(location, reason: reason)
  }

  private func createKeyspaces(_ manifest: Manifest) {
    keyspaces.withLock { table in
      var rows = manifest.keyspaces
      if !rows.contains(where: { $0.id == 0 }) { rows.append(KeyspaceRow(id: 0, name: "")) }
      for row in rows {
        let core = KeyspaceCore(
          engine: self,
          id: row.id,
          incarnation: row.incarnation,
          name: row.name,
          defaultExpiry: row.defaultExpiry
        )
        table.byID[row.id] = core
        table.byName[row.name] = core
      }
    }
  }

  private func openSegments(_ manifest: Manifest, _ damage: inout [StoreEvent]) throws(StoreError) {
    for row in manifest.segments {
      guard Int(row.granule) + Int(row.granules) <= GranuleTable.capacity, row.granules > 0 else {
        throw .damaged(
          DamageLocation(path: path),
          reason: "the manifest assigns segment \(row.id) an impossible address range"
        )
      }
      let segment = try openSegment(row, durable: manifest.durableSequence, damage: &damage)
      // At once, so that it is given up should a later one not open.
      segments.withLock { $0.append(segment) }
      // What an active segment's row says of its end holds only in a store that was closed.
      if row.state == .active, manifest.state == .clean {
        segment.recordsEnd.store(Int(clamping: row.recordsEnd), ordering: .relaxed)
        granules.updateLimit(segment)
        reportIfCutShort(segment, row, &damage)
      }
      if segment.kind == .log, segment.firstSequence.load(ordering: .relaxed) == 0,
        let first = LogScanner.firstSequence(of: segment)
      {
        segment.firstSequence.store(first, ordering: .relaxed)
      }
      // A tail that was passed over for a large record takes later ones than it was listed with.
      if row.state == .active,
        case .record(let header) = segment.readRecord(at: SegmentHeader.length, end: segment.readableEnd),
        header.kind != .seal
      {
        segment.firstSequence.store(header.sequence, ordering: .relaxed)
      }
    }
    segments.withLock { $0 = Self.inOrder($0) }
  }

  /// Notes that a segment's file has fewer bytes than its records took.
  func reportIfCutShort(_ segment: Segment, _ row: SegmentRow, _ damage: inout [StoreEvent]) {
    let length = segment.accessible.load(ordering: .relaxed)
    guard Int(clamping: row.recordsEnd) > length, Int(clamping: row.fileLength) <= length else { return }
    damage.append(.damaged(segment.location(length), reason: segment.cutShort(Int(clamping: row.recordsEnd))))
  }

  /// What merges wrote, then log segments by their first record; those without one last.
  static func inOrder(_ list: [Segment]) -> [Segment] {
    func place(_ segment: Segment) -> (Int, UInt64, UInt64) {
      let first = segment.firstSequence.load(ordering: .relaxed)
      return (segment.kind == .log ? 1 : 0, first == 0 ? .max : first, segment.id)
    }
    return list.sorted { place($0) < place($1) }
  }

  /// Takes over what a checkpoint knows besides the index.
  private func adopt(_ checkpoint: LoadedCheckpoint) {
    let live = checkpoint.liveBySegment
    for segment in segments.withLock({ $0 }) {
      guard let row = live[segment.id] else { continue }
      granules.setLive(segment, bytes: Int(clamping: row.liveBytes), records: Int(clamping: row.liveRecords))
    }
    keyspaces.withLock { table in
      for row in checkpoint.meta.keyspaces {
        guard let core = table.byID[row.tag.id], core.tag == row.tag else { continue }
        core.entryCount.store(Int(clamping: row.count), ordering: .relaxed)
      }
    }
  }

  /// Sets the sequence numbers and the tail of a store whose log needs no cut.
  private func settle(_ manifest: Manifest, published: UInt64) {
    commits.published.store(published, ordering: .relaxed)
    commits.durable.store(max(commits.durable.load(ordering: .relaxed), published), ordering: .relaxed)
    writer.withLock { state in
      state.nextSequence = max(manifest.nextSequence, published &+ 1)
      guard !options.readOnly, let tail = lastLogSegment, !tail.isSealed.load(ordering: .relaxed) else {
        return
      }
      let end = tail.recordsEnd.load(ordering: .relaxed)
      guard end >= SegmentHeader.length, end <= tail.accessible.load(ordering: .relaxed) else { return }
      setTail(tail, offset: end, &state)
    }
  }

  /// Reads what the index does not know yet from the log, and finds where history ends.
  private func replayLog(
    _ manifest: Manifest,
    _ report: inout OpeningReport,
    _ damage: inout [StoreEvent]
  ) throws(StoreError) -> [StoreEvent] {
    let all = segments.withLock { $0 }
    let list = all.filter { $0.kind == .log }
    var first = 0
    var offset = SegmentHeader.length
    var isFromStart = true
    var expected: UInt64 = 0
    if let segment = list.first {
      let listed = manifest.segments.first { $0.id == segment.id }?.firstSequence ?? 0
      expected = listedStart(listed, of: segment, manifest, isFirst: true)
    }
    if expected == 0 { expected = Self.lastSequence(withoutLog: manifest) &+ 1 }
    report.indexSource = .segments
    if let checkpoint = loadedCheckpoint {
      adopt(checkpoint)
      report.indexSource = .checkpointAndReplay
      // The segment may be gone if it was empty. Reading everything again on top of the checkpoint gives the same.
      if let position = list.firstIndex(where: { $0.id == checkpoint.header.replaySegmentID }) {
        expected = checkpoint.header.sequence &+ 1
        first = position
        isFromStart = false
        offset = max(SegmentHeader.length, Int(clamping: checkpoint.header.replayOffset))
      }
    } else {
      makeRoomInIndex(for: all, durable: manifest.durableSequence)
    }
    // A checkpoint is newer than every merge that is listed.
    var merged = MergedReplay(self)
    if isFromStart { for segment in all where segment.kind != .log { merged.take(segment, damage: &damage) } }
    var scanner = LogScanner(self, manifest, expected: expected)
    read(Array(list[first...]), from: offset, manifest, &scanner, &damage)
    scanner.finish()
    merged.finish()
    damage += scanner.damage
    report.replayedRecords = scanner.replayed + merged.count
    if options.readOnly {
      // What a checkpoint knows is read no more: it ends where its records do, sealed in the manifest or not.
      for segment in list[..<first] where !segment.isSettled.load(ordering: .relaxed) {
        let end = segment.endOfRecords()
        if end.offset > SegmentHeader.length { segment.settleRead(to: end.offset, last: end.last, granules) }
      }
      return concludeReading(manifest, list, scanner)
    }
    return try conclude(manifest, scanner, &report)
  }

  /// Notes how far a read-only store has read. It cuts nothing off, and drops no segment: what looked empty or torn a moment
  /// ago may be what the writer is writing.
  private func concludeReading(
    _ manifest: Manifest,
    _ log: [Segment],
    _ scanner: borrowing LogScanner
  ) -> [StoreEvent] {
    // What is durable and not in the log was merged away.
    let published = scanner.cut == nil ? max(scanner.expected &- 1, manifest.durableSequence) : scanner.expected &- 1
    commits.published.store(published, ordering: .relaxed)
    commits.durable.store(min(max(manifest.durableSequence, scanner.durable), published), ordering: .relaxed)
    writer.withLock { $0.nextSequence = max(manifest.nextSequence, published &+ 1, scanner.highest &+ 1) }
    let place = place(behind: scanner, log)
    settleRead(log, scanner, goingOnIn: place?.segment)
    startFollowing(from: place)
    renewMissed()
    // A batch whose end is missing may be one that is being written.
    guard let cut = scanner.cut, cut.isHole, scanner.highest > published else { return [] }
    let hidden = log.drop { $0 !== cut.segment }.dropFirst().count { $0.firstNumber != nil }
    return [Self.cut(cut, behind: published, discarding: hidden)]
  }

  /// Notes where a read-only store stands after it was opened.
  private func startFollowing(from place: (segment: Segment, offset: Int)?) {
    opening.withLock {
      let published = commits.published.load(ordering: .relaxed)
      let generation = manifests.withLock { $0.manifest.generation }
      var follower = LogFollower(expected: published &+ 1, whole: published, generation: generation)
      if let place {
        follower.segment = place.segment
        follower.offset = place.offset
      }
      self.follower = follower
      publish(follower)
    }
  }

  /// Where a read-only store goes on that was closed, or whose log was not read.
  private func startFollowingBehindLog() {
    guard options.readOnly else { return }
    let last = segments.withLock { list in
      list.last { $0.kind == .log && $0.firstSequence.load(ordering: .relaxed) != 0 }
    }
    let end = last?.recordsEnd.load(ordering: .relaxed) ?? 0
    if let last, !last.isSettled.load(ordering: .relaxed) {
      // The writer may go on in this segment.
      last.recordsEnd.store(0, ordering: .relaxed)
      last.isSealed.store(false, ordering: .relaxed)
      granules.updateLimit(last)
    }
    startFollowing(from: last.flatMap { end > SegmentHeader.length ? ($0, end) : nil })
  }

  /// Settles the ends of all segments after a scan.
  private func conclude(
    _ manifest: Manifest,
    _ scanner: borrowing LogScanner,
    _ report: inout OpeningReport
  ) throws(StoreError) -> [StoreEvent] {
    // What is durable and not in the log was merged away.
    let published = scanner.cut == nil ? max(scanner.expected &- 1, manifest.durableSequence) : scanner.expected &- 1
    let isClean = manifest.state == .clean && scanner.cut == nil
    if isClean {
      settle(manifest, published: max(published, manifest.durableSequence))
      return []
    }
    let list = segments.withLock { $0 }
    var kept = list.filter { $0.kind != .log }
    var dropped: [Segment] = []
    var isBehindCut = false
    for segment in list where segment.kind == .log {
      let isCut = scanner.cut.map { $0.segment === segment } ?? false
      // A segment may be listed, with the number it was to begin with, and hold nothing of what was meant for it.
      let isEmpty =
        segment.firstSequence.load(ordering: .relaxed) == 0
        || (isCut ? scanner.cut?.offset : scanner.ends[segment.id]?.offset) == SegmentHeader.length
      if isBehindCut || isEmpty { dropped.append(segment) } else { kept.append(segment) }
      isBehindCut = isBehindCut || isCut
    }
    for segment in kept {
      if let cut = scanner.cut, cut.segment === segment {
        settleEnd(of: segment, at: cut.offset, last: published)
      } else if !segment.isSettled.load(ordering: .relaxed) {
        let end = scanner.ends[segment.id] ?? segment.endOfRecords()
        settleEnd(of: segment, at: end.offset, last: end.last)
      }
    }
    let durable = min(max(manifest.durableSequence, scanner.durable), published)
    commits.published.store(published, ordering: .relaxed)
    commits.durable.store(durable, ordering: .relaxed)
    writer.withLock { state in
      state.nextSequence = max(manifest.nextSequence, published &+ 1, scanner.highest &+ 1)
    }
    segments.withLock { $0 = kept }
    // Before anything is created: a new segment may take their place among the addresses.
    for segment in dropped { uninstall(segment) }
    var events: [StoreEvent] = []
    writer.withLock { _ in discarded = dropped.map(\.path) }
    report.rewrittenRecords = try rewriteUnsynced(durable: durable, published: published)
    let known = commits.durable.load(ordering: .relaxed)
    for segment in segments.withLock({ $0 }) where segment.lastSequence.load(ordering: .relaxed) > known {
      commits.add(segment)
    }
    if let cut = scanner.cut, scanner.highest > published {
      let discarded = dropped.count { $0.firstSequence.load(ordering: .relaxed) != 0 }
      events.append(Self.cut(cut, behind: published, discarding: discarded))
    }
    return events
  }

  private static func cut(_ cut: LogScanner.Cut, behind published: UInt64, discarding discarded: Int) -> StoreEvent {
    .cut(
      segment: cut.segment.id,
      offset: cut.offset,
      sequence: SequenceNumber(rawValue: published &+ 1),
      discardedSegments: discarded
    )
  }

  /// The last segment of the log.
  var lastLogSegment: Segment? { segments.withLock { list in list.last { $0.kind == .log } } }

  func settleEnd(of segment: Segment, at offset: Int, last: UInt64) {
    segment.recordsEnd.store(offset, ordering: .relaxed)
    segment.footer.withLock { $0 = .none }
    segment.lastSequence.store(last, ordering: .relaxed)
    segment.isSealed.store(true, ordering: .relaxed)
    segment.isSettled.store(true, ordering: .releasing)
    granules.updateLimit(segment)
  }

  /// Ends the resolution of a segment's addresses once no reader can follow one. To be called once for each segment, by who
  /// took it off the list, or never put it there.
  func uninstall(_ segment: Segment) {
    guard segment.lease.endResolving() else { return assertionFailure("the segment was given up twice") }
    // A reader that found an address before it went from the index may still follow it. The segment is held until then, and
    // with it the lease: nobody else gets these addresses before they are taken away.
    epochs.retire { [self] in granules.uninstall(segment) }
  }

  /// Removes the files that recovery cut off; the cut is durable.
  func removeDiscarded() throws(StoreError) {
    let paths = discarded
    discarded = []
    for path in paths {
      // What cannot be removed now is not listed, and the next opening removes it.
      try? platform.fileSystem.remove(path)
    }
  }
}
