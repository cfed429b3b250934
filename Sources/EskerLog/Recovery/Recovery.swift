internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Restores the state of a store from its files: opens the segments, loads the index, reads the rest from the log, and
/// finds where history ends.
///
/// Used for writers and for read-only stores, which cut nothing off and drop no segment. Calls the writer, the keydir,
/// the catalog, commits and the environment.
///
/// Relaxed: no other thread uses a store while it is being opened.
struct Recovery {
  let env: Environment
  let commits: CommitQueue
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  /// Where a read-only store continues reading.
  private(set) var place: (segment: Segment, offset: Int)?
  /// The damage to segments that was found.
  private(set) var findings: [Report.Verification.Damage] = []

  /// Whether the store is being opened; if not, it goes on after other processes.
  private var isOpening = true

  init(_ writer: Writer) {
    env = writer.env
    commits = writer.commits
    catalog = writer.catalog
    keydir = writer.keydir
    self.writer = writer
  }
}

extension Recovery {
  /// Opens the segments, and brings the index up to date with the log.
  mutating func recover(_ listed: Manifest, _ opened: StoreDirectory.Opened, startedAt start: UInt64)
    throws(StoreError)
  {
    var damage = opened.damage
    let names = try translating { () throws(PlatformError) in try env.platform.fileSystem.list(env.path) }
    let manifest = try listed.withoutEvicted(in: env.path, env.platform.fileSystem)
    // No new segment may get the name of one that a crash left unlisted.
    let highestID = names.compactMap { FileName.segmentID($0) }.max() ?? 0
    catalog.passSegmentIDs(through: highestID)
    try openSegments(manifest, &damage)
    try requireReadable()
    let kind: Report.Opening.Kind = opened.isNew ? .created : manifest.state == .clean ? .clean : .afterCrash
    var report = Report.Opening(kind: kind, time: env.options.clock.now())
    if let session = env.session, session.distrustsCache {
      report.lastSync = session.knowsOfFailure ? .failed : .interrupted
    }
    if manifest.state == .clean, let checkpoint = keydir.loadedCheckpoint,
      checkpoint.header.sequence == manifest.durableSequence
    {
      keydir.adopt(checkpoint)
      settle(manifest, published: manifest.durableSequence)
      goOnBehindLog()
      report.indexSource = .checkpoint
    } else if !catalog.segments.isEmpty {
      let before = replacements
      try replayLog(manifest, &report, &damage)
      if before != replacements { throw .overtaken(at: env.path) }
    } else {
      settle(manifest, published: Self.lastSequence(withoutLog: manifest))
      goOnBehindLog()
    }
    try requirePossibleLog()
    if !env.isFollowing { catalog.removeStrays(names, manifest, isDurable: opened.isKnownDurable) }
    report.duration = .nanoseconds(Int64(clamping: env.platform.clock.monotonicNanoseconds() &- start))
    report.isComplete = true
    note(&report, damage)
    for damage in report.damage { env.emit(damage.event) }
    findings = report.damage.filter { $0.location.segment != nil }
    if let cut = report.cut { env.emit(.cut(cut)) }
    env.emit(.opened(report))
  }

  /// Brings a store up to date that was suspended, while other processes wrote: it has their lock, and has read all that they logged up to
  /// a number. What the last of them left is taken as an opening takes it, but for the index, which is there.
  ///
  /// - Throws: What an opening throws. Then nothing was changed on disk that the next opening would not change.
  mutating func takeOver(through last: UInt64) throws(StoreError) {
    isOpening = false
    var damage: [StoreEvent] = []
    let names = try translating { () throws(PlatformError) in try env.platform.fileSystem.list(env.path) }
    let manifest = try catalog.manifest.withoutEvicted(in: env.path, env.platform.fileSystem)
    catalog.passSegmentIDs(through: names.compactMap { FileName.segmentID($0) }.max() ?? 0)
    catalog.renewMissed()
    let rows = Dictionary(manifest.segments.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for segment in catalog.segments where !segment.isSealed {
      if let row = rows[segment.id] { close(segment, as: row, manifest) }
    }
    catalog.order()
    try requireReadable()
    var report = Report.Opening(kind: manifest.state == .clean ? .clean : .afterCrash, time: env.options.clock.now())
    if manifest.state == .clean, last == manifest.durableSequence {
      settleClean(manifest, published: last)
    } else if !catalog.segments.isEmpty {
      try replayLog(manifest, above: last, &report, &damage)
    } else {
      settle(manifest, published: max(last, Self.lastSequence(withoutLog: manifest)))
    }
    try requirePossibleLog()
    catalog.removeStrays(names, manifest, isDurable: false)
    report.isComplete = true
    note(&report, damage)
    for damage in report.damage { env.emit(damage.event) }
    if let cut = report.cut { env.emit(.cut(cut)) }
  }

  /// Notes what is known so far, for the history that the next edit of the manifest writes.
  ///
  /// The edit that makes a cut take effect, whichever that is, so says in the same moment what was cut off; until then, another opening
  /// would find the same again.
  private func note(_ report: inout Report.Opening, _ damage: [StoreEvent]) {
    report.damage =
      damage.compactMap { event in
        guard case .damaged(let location, let reason) = event else { return nil }
        return .init(location: location, length: 0, reason: reason)
      } + findings
    report.damageCount = report.damage.count
    report.keys = keydir.keyspaces.count
    report.lastSequence = SequenceNumber(rawValue: commits.publishedSequence)
    // That a store goes on where another process has stopped is no opening, unless something was lost.
    if !isOpening, report.cut == nil, report.damage.isEmpty { return }
    catalog.note(report)
  }

  /// The number of the last write if the whole log was merged away. Exact after a clean close; otherwise it may include
  /// numbers that a cut skipped.
  static func lastSequence(withoutLog manifest: Manifest) -> UInt64 {
    manifest.state == .clean ? manifest.durableSequence : max(manifest.durableSequence, manifest.nextSequence &- 1)
  }

  /// Throws if the log contains something that no real store reaches: then it was forged, and could not be continued.
  private func requirePossibleLog() throws(StoreError) {
    let location = StoreError.Location(path: catalog.lastLogSegment?.path ?? env.path)
    if keydir.isLogForged {
      throw .damaged(location, reason: "\(Keydir.tooManyAlike); \(StoreError.remedy)")
    }
    // Writes could run out of numbers.
    let next = writer.withLock { $0.nextSequence }
    guard next > RecordLayout.sequenceLimit else { return }
    let reason = "the log has an impossible sequence number, #\(next - 1); \(StoreError.remedy)"
    throw .damaged(location, reason: reason)
  }

  /// Throws if the system refuses a segment, of which zeros were read instead. Before anything is changed on the strength of these.
  private func requireReadable() throws(StoreError) {
    for segment in catalog.segments {
      if let refusal = segment.refusal { throw StoreError(refusal) }
    }
  }

  private func openSegments(_ manifest: Manifest, _ damage: inout [StoreEvent]) throws(StoreError) {
    for row in manifest.segments {
      guard Int(row.granule) + Int(row.granules) <= GranuleTable.capacity, row.granules > 0 else {
        throw .damaged(
          StoreError.Location(path: env.path),
          reason: "the manifest assigns segment \(row.id) an impossible address range"
        )
      }
      let segment = try catalog.openSegment(row, of: manifest, damage: &damage)
      // At once, so that it is released if a later one cannot be opened.
      catalog.add(segment)
      close(segment, as: row, manifest)
      if segment.kind == .log, segment.firstSequence == 0,
        let first = LogScanner.firstSequence(of: segment)
      {
        segment.change { $0.begin(with: first) }
      }
      // A tail that was skipped because a record was too large begins with a later record than its row says.
      if row.state == .active,
        case .record(let header) = segment.readRecord(at: SegmentHeader.length, end: segment.readableEnd),
        header.kind != .seal
      {
        segment.change { $0.begin(with: header.sequence) }
      }
    }
    catalog.order()
  }

  /// Notes where a segment ends that takes records, if the manifest says so.
  private func close(_ segment: Segment, as row: SegmentRow, _ manifest: Manifest) {
    guard row.state == .active, let end = row.trustedEnd(in: manifest) else { return }
    segment.change { $0.close(at: end, last: row.lastSequence) }
    catalog.granules.updateLimit(segment)
  }

  /// Sets the sequence numbers and the tail of a store whose log needs no cut.
  private func settle(_ manifest: Manifest, published: UInt64) {
    commits.begin(published: published, durable: max(commits.durableSequence, published))
    writer.withLock { state in
      state.jump(to: max(manifest.nextSequence, published &+ 1))
      guard !env.isFollowing, let tail = catalog.lastLogSegment, !tail.isSealed else {
        return
      }
      guard let end = tail.recordsEnd, end <= tail.accessible.load(ordering: .relaxed) else { return }
      writer.setTail(tail, offset: end, &state)
    }
  }

  /// The same for a store that goes on after another process has closed it. Its tail is not continued: the file may have been cut to what
  /// was used of it, and is mapped here as it was.
  private func settleClean(_ manifest: Manifest, published: UInt64) {
    commits.begin(published: published, durable: max(commits.durableSequence, published))
    writer.withLock { $0.jump(to: max($0.nextSequence, manifest.nextSequence, published &+ 1)) }
    for segment in catalog.segments where !segment.isSettled {
      guard let end = segment.recordsEnd else { continue }
      settleEnd(of: segment, at: LogScanner.End(offset: end, last: segment.lastSequence))
    }
  }

  /// Reads what the index lacks from the log, and finds where history ends.
  ///
  /// - Parameter held: The number up to which the index of a store that goes on has everything; nil in an opening.
  private mutating func replayLog(
    _ manifest: Manifest,
    above held: UInt64? = nil,
    _ report: inout Report.Opening,
    _ damage: inout [StoreEvent]
  ) throws(StoreError) {
    let all = catalog.segments
    let list = all.filter { $0.kind == .log }
    let starts = ListedStarts(manifest)
    var first = 0
    var offset = SegmentHeader.length
    var known: UInt64?
    var expected = starts.start(of: list[...], isFirst: true)
    if expected == 0 { expected = Self.lastSequence(withoutLog: manifest) &+ 1 }
    report.indexSource = .segments
    if let held {
      // As behind a checkpoint with that number.
      known = held
      first = list.firstIndex { !$0.isSettled || $0.lastSequence > held } ?? list.count
      // What this process knows of it: a manifest may say less.
      let begins = first < list.count ? list[first].firstSequence : 0
      expected = begins == 0 ? held &+ 1 : begins
    } else if let checkpoint = keydir.loadedCheckpoint {
      keydir.adopt(checkpoint)
      report.indexSource = .checkpointAndReplay
      // The segment may be gone if it was empty. Reading everything on top of the checkpoint gives the same result.
      if let start = CheckpointPlace(checkpoint.header).start(in: list) {
        known = checkpoint.header.sequence
        // Only a settled segment is known to end where its row says, so any other is read, although the checkpoint has its records.
        if let open = list[..<start.index].firstIndex(where: { !$0.isSettled }) {
          first = open
          expected = starts.start(of: list[open...], isFirst: true)
        } else {
          first = start.index
          expected = checkpoint.header.sequence &+ 1
          // A file may have been cut anywhere, and records begin at multiples of eight bytes.
          offset = max(SegmentHeader.length, min(start.offset, list[first].readableEnd & ~7))
        }
      }
    } else {
      keydir.makeRoomInIndex(for: all, durable: manifest.durableSequence)
    }
    // A checkpoint is newer than every merge that is listed.
    var merged = MergedReplay(writer)
    if known == nil { for segment in all where segment.kind != .log { merged.take(segment, damage: &damage) } }
    let sought = env.presence?.publishedByWriter ?? .max
    var scanner = LogScanner(writer, manifest, expected: expected, above: known ?? 0, through: sought)
    read(Array(list[first...]), from: offset, manifest, &scanner, &damage)
    scanner.finish()
    merged.finish()
    try requireReadable()
    // Before anything is changed on the strength of what the index has.
    if !keydir.isDamaged { try keydir.checkWhole() }
    findings = scanner.damage
    if let held, scanner.cut != nil, scanner.expected <= held {
      let reason = "the log ends in front of what was read of it: writes of another process were lost; reopen the store"
      throw .damaged(StoreError.Location(path: env.path), reason: reason)
    }
    report.replayedRecords = scanner.replayed + merged.count
    if env.isFollowing { return concludeReading(manifest, list, scanner, &report) }
    try conclude(manifest, scanner, &report, damage)
  }

  /// Notes how far a read-only store has read. It cuts nothing off, and drops no segment that may be the one that a writer is writing,
  /// however empty or torn it looked.
  private mutating func concludeReading(
    _ manifest: Manifest,
    _ log: [Segment],
    _ scanner: borrowing LogScanner,
    _ report: inout Report.Opening
  ) {
    // What is durable and not in the log was merged away.
    let published = scanner.cut == nil ? max(scanner.expected &- 1, manifest.durableSequence) : scanner.expected &- 1
    commits.begin(published: published, durable: min(max(manifest.durableSequence, scanner.durable), published))
    writer.withLock { $0.jump(to: max(manifest.nextSequence, published &+ 1, scanner.highest &+ 1)) }
    let place = place(behind: scanner, log)
    settleRead(log, scanner, goingOnIn: place?.segment)
    self.place = place
    catalog.renewMissed()
    // A batch without an end may be one that is being written.
    guard let cut = scanner.cut, cut.isFinal else { return }
    let behind = log.drop { $0 !== cut.segment }.dropFirst(cut.offset > SegmentHeader.length ? 1 : 0)
    let hidden = log.drop { $0 !== cut.segment }.dropFirst().count { $0.firstNumber != nil }
    if cut.isHole, scanner.highest > published { report.cut = Self.describe(cut, in: log, scanner, discarding: hidden) }
    // As the next opening for writing drops them. Nothing was read of them, and of what they hold anything may be missing.
    let dropped = behind.filter(\.isSettled)
    catalog.remove(dropped)
    for segment in dropped { catalog.uninstall(segment) }
  }

  /// Determines where a read-only store continues if it was closed, or its log was not read.
  private mutating func goOnBehindLog() {
    guard env.isFollowing else { return }
    let last = catalog.segments.last { $0.kind == .log && $0.firstSequence != 0 }
    let end = last?.recordsEnd ?? SegmentHeader.length
    if let last, !last.isSettled {
      // The writer may continue in this segment.
      last.change { $0.reopen() }
      catalog.granules.updateLimit(last)
    }
    place = last.flatMap { end > SegmentHeader.length ? ($0, end) : nil }
  }

  /// Settles the ends of all segments after a scan.
  private func conclude(
    _ manifest: Manifest,
    _ scanner: borrowing LogScanner,
    _ report: inout Report.Opening,
    _ damage: [StoreEvent]
  ) throws(StoreError) {
    // What is durable and not in the log was merged away.
    let published =
      scanner.cut == nil
      ? max(scanner.expected &- 1, manifest.durableSequence, commits.publishedSequence) : scanner.expected &- 1
    let isClean = manifest.state == .clean && scanner.cut == nil
    if isClean {
      return settle(manifest, published: max(published, manifest.durableSequence))
    }
    let list = catalog.segments
    var kept = list.filter { $0.kind != .log }
    var dropped: [Segment] = []
    var isBehindCut = false
    for segment in list where segment.kind == .log {
      let end = scanner.ends[segment.id]
      // A segment may be listed with its first number and yet contain no records. What is damaged may be all that it has.
      let isEmpty = segment.firstSequence == 0 || end.map { !$0.hasRecords && !$0.lacksRecords } ?? false
      if isBehindCut || isEmpty { dropped.append(segment) } else { kept.append(segment) }
      isBehindCut = isBehindCut || scanner.cut.map { $0.segment === segment } ?? false
    }
    if let cut = scanner.cut, scanner.highest > published {
      let discarded = dropped.count { $0.firstSequence != 0 }
      report.cut = Self.describe(cut, in: list.filter { $0.kind == .log }, scanner, discarding: discarded)
    }
    for segment in kept {
      let end = scanner.correctedEnd(of: segment)
      assert(segment.isSettled || end != nil, "whatever says nowhere for certain where it ends was read")
      if let end { settleEnd(of: segment, at: end) }
    }
    let durable = min(max(manifest.durableSequence, scanner.durable, commits.durableSequence), published)
    commits.begin(published: published, durable: durable)
    writer.withLock { state in
      state.jump(to: max(state.nextSequence, manifest.nextSequence, published &+ 1, scanner.highest &+ 1))
    }
    catalog.remove(dropped)
    // Before anything is created: a new segment may reuse their addresses.
    for segment in dropped { catalog.uninstall(segment) }
    catalog.discardLater(dropped.map(\.path))
    note(&report, damage)
    report.rewrittenRecords = try rewriteUnsynced(durable: durable, published: published)
    let known = commits.durableSequence
    for segment in catalog.segments where segment.lastSequence > known {
      commits.add(segment)
    }
  }

  /// What is known of a cut, before the segments get their ends.
  ///
  /// - Parameter log: The segments in the order of history.
  private static func describe(
    _ cut: LogScanner.Cut,
    in log: [Segment],
    _ scanner: borrowing LogScanner,
    discarding discarded: Int
  ) -> Report.Cut {
    var bytes = 0
    var start = cut.offset
    for segment in log.drop(while: { $0 !== cut.segment }) {
      var end = start
      var records = RecordCursor(segment, from: start, to: segment.readableEnd)
      records.seek()
      while let (offset, header) = records.next() {
        if header.kind != .seal { end = offset + header.size }
        records.seek()
      }
      bytes += end - start
      start = SegmentHeader.length
    }
    return Report.Cut(
      segment: cut.segment.id,
      offset: cut.offset,
      sequence: SequenceNumber(rawValue: scanner.expected),
      records: Int(clamping: scanner.highest &- (scanner.expected &- 1)),
      bytes: bytes,
      discardedSegments: discarded
    )
  }

  func settleEnd(of segment: Segment, at end: LogScanner.End) {
    segment.change { $0.settle(cutAt: end.offset, last: end.last) }
    catalog.granules.updateLimit(segment)
  }
}
