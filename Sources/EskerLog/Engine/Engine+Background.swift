internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// The jobs that keep ahead of the writer.
  func performAhead(_ jobs: BackgroundWorker.Jobs) {
    if jobs.contains(.growTail) { growTail() }
    if jobs.contains(.growIndex) {
      for _ in 0..<64 where index.needsGrowth { index.prepareGrowth() }
    }
    if jobs.contains(.prepareSegment) { prepareSegment() }
    if jobs.contains(.migrateIndex) { migrateIndex() }
    epochs.collect()
    events.deliver()
  }

  /// The jobs that clean up behind it.
  func performKeeping(_ jobs: BackgroundWorker.Jobs) {
    if jobs.contains(.dispose) { disposePending() }
    if jobs.contains(.checkpoint) { writePeriodicCheckpoint() }
    if jobs.contains(.sweep) { sweepEmptiedKeyspaces() }
    events.deliver()
    if jobs.contains(.seal), awaitCalm() { sealFinished() }
    events.deliver()
  }

  // MARK: Ahead of the tail

  /// Allocates and brings in pages ahead of the tail, so that writers neither fault nor wait for the file system.
  ///
  /// For writers that sync it goes in small steps and syncs each: a page that was written once is overwritten in place,
  /// which spares the file system's journal, and pages brought in are dirty, so the next sync would pay for them. When each
  /// sync covers many records, and so writes pages of its own, that would only write them twice: then it just allocates.
  private func growTail() {
    guard let tail = writer.withLock({ $0.tail }), !tail.isSealed.load(ordering: .relaxed) else { return }
    let offset = tail.reached.load(ordering: .relaxed)
    let isSyncing = isSyncing
    // A small store stays small: never bring in more than the store has.
    let ahead = min(isSyncing ? Self.syncedAhead : Self.bufferedAhead, max(64 << 10, offset))
    let step = isSyncing ? Self.syncedStep : Self.bufferedStep
    let target = min(tail.capacity, offset + ahead)
    var populated = max(tail.populated.load(ordering: .relaxed), offset & ~4095)
    while populated < target, !tail.isSealed.load(ordering: .relaxed) {
      let end = min(target, populated + step)
      do throws(PlatformError) {
        try grow(tail, to: end)
        if tail.isSealed.load(ordering: .acquiring) { return }
        if isSyncing, commits.coversMany {
          populated = end
          continue
        }
        try tail.mapping.populate(populated..<end)
        if isSyncing {
          session?.syncBegan()
          try tail.sync()
          session?.syncEnded()
        }
      } catch {
        commits.noteFailure(error)
        // Writers will find out for themselves, and say so to whoever asked.
        return
      }
      populated = end
      tail.populated.store(populated, ordering: .relaxed)
    }
  }

  /// Moves the index out of the checkpoint's pages, a chunk at a time.
  private func migrateIndex() {
    while index.needsMigration, status.load(ordering: .relaxed) & Status.closed == 0 {
      index.prepareMigration()
      guard writer.withLock({ _ in index.migrateNextChunk() }) else { break }
      epochs.collect()
    }
    if index.isDamaged { forgetCheckpoint() }
  }

  // MARK: Behind the writer

  /// Bytes of full segments that may wait to be sealed while there is a burst of writes.
  private var sealBacklog: Int { 2 * options.segmentSize }
  /// A burst: at least this many writes in this time.
  private static let burst = (writes: 10_000 as UInt64, nanoseconds: 100_000_000 as UInt64)

  /// Lets a burst of writes pass before its segments are sealed: reading and syncing them meanwhile takes memory bandwidth
  /// and a processor from the writer, a quarter of its speed. Not for writers that sync, not beyond a few segments,
  /// and not when there is so much to merge that it cannot wait.
  ///
  /// False when another job was asked for; sealing is asked for again then.
  private func awaitCalm() -> Bool {
    while keeper.isThreaded, !isSyncing, options.capacity == nil, !isCrowded.load(ordering: .relaxed),
      finishedBytes <= sealBacklog
    {
      let before = publishedSequence
      guard keeper.pause(nanoseconds: Self.burst.nanoseconds) else {
        keeper.request(.seal)
        return false
      }
      if publishedSequence &- before < Self.burst.writes { break }
    }
    return true
  }

  /// Segments that are full but not sealed yet, in the order of the log.
  ///
  /// One that the manifest calls sealed may be merged away, and whoever reads the log knows that the numbers go on behind a
  /// sealed segment as the manifest says. So none is sealed before those ahead of it, whenever it was created.
  private var finishedSegments: [Segment] {
    let finished = segments.withLock { list in
      list.filter { $0.isSealed.load(ordering: .acquiring) && !$0.isSettled.load(ordering: .acquiring) }
    }
    return Self.inOrder(finished)
  }

  /// Whether so many full segments wait to be sealed that their descriptors could run out: until then each needs its own.
  var isCrowdedUnsealed: Bool { finishedSegments.count > DescriptorLimit.current / 8 }

  private var finishedBytes: Int {
    finishedSegments.reduce(0) { $0 + $1.recordsEnd.load(ordering: .relaxed) }
  }

  /// Writes the footers of segments that are full, makes them durable, and lists them as sealed.
  func sealFinished() {
    sealing.lock()
    defer { sealing.unlock() }
    for segment in finishedSegments {
      do throws(StoreError) {
        let summary = try writeFooter(segment)
        let last = segment.lastSequence.load(ordering: .relaxed)
        let extent = 0..<segment.recordsEnd.load(ordering: .relaxed)
        segment.mapping.detach(extent)
        defer { segment.mapping.populateForReading(extent) }
        try commits.waitDurable(last, onlyThrough: true)
        do throws(PlatformError) { try segment.sync() } catch {
          commits.noteFailure(error)
          throw StoreError(error)
        }
        segment.footer.withLock { $0 = summary.footer }
        segment.isSettled.store(true, ordering: .releasing)
        segment.file.rest()
        try editManifest(.listed)
        emit(
          .segmentSealed(
            id: segment.id,
            bytes: segment.recordsEnd.load(ordering: .relaxed),
            records: summary.records
          )
        )
        fillReserve()
        merger.request()
      } catch {
        emit(.backgroundFailure(operation: "seal a segment", error))
        return
      }
    }
  }

  /// Appends a segment's footer behind its seal. Without room for it there is none: it only saves time later.
  private func writeFooter(_ segment: Segment) throws(StoreError) -> (footer: FooterSummary, records: Int) {
    let first = segment.firstSequence.load(ordering: .relaxed)
    let expected = Int(clamping: segment.lastSequence.load(ordering: .relaxed) &- first &+ 1)
    var builder = FooterBuilder(
      segmentID: segment.id,
      salt: segment.salt,
      expectedEntries: min(expected, segment.capacity / 32)
    )
    let end = segment.recordsEnd.load(ordering: .relaxed)
    var offset = SegmentHeader.length
    var records = 0
    while case .record(let header) = segment.readRecord(at: offset, end: end) {
      builder.append(header)
      records += 1
      offset += header.size
    }
    guard offset == end else {
      throw .damaged(segment.location(offset), reason: "a record that was just written cannot be read back")
    }
    let summary = builder.summary
    var footer = FooterSummary(
      offset: end + 32,
      length: builder.length,
      minExpiry: summary.minExpiry,
      maxExpiry: summary.maxExpiry,
      neverExpiring: summary.neverExpiring
    )
    let bytes = builder.encoded()
    do throws(PlatformError) {
      guard hasRoom(for: bytes.count) else {
        throw PlatformError("write", path: segment.path, code: PlatformError.noSpace)
      }
      segment.awaitGrowth()
      try segment.file.writeAll(bytes, at: footer.offset)
      bytesWritten.wrappingAdd(bytes.count, ordering: .relaxed)
    } catch {
      guard error.isFull else { throw StoreError(error) }
      footer.offset = 0
      footer.length = 0
    }
    return (footer, records)
  }
}
