internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Where a read-only store stands in a log that a writer in another process goes on writing.
struct LogFollower {
  var segment: Segment?
  var offset = SegmentHeader.length
  var expected: UInt64
  /// Records of a batch whose end has not been seen.
  var batch: [LogRecord] = []
  var generation: UInt64
  var lastPoll: UInt64 = 0
  /// Merges that were read of and have not fully taken effect.
  var merged = FollowedMerges()

  /// Leaves a segment that gets no more records, and goes on at the start of another.
  mutating func goOn(in next: Segment, _ granules: GranuleTable) {
    if let segment {
      segment.recordsEnd.store(offset, ordering: .releasing)
      segment.lastSequence.store(expected &- 1, ordering: .relaxed)
      segment.isSealed.store(true, ordering: .releasing)
      granules.updateLimit(segment)
    }
    segment = next
    offset = SegmentHeader.length
    // It may have been listed before it was written to.
    if case .record(let header) = next.readRecord(at: offset, end: next.readableEnd), header.kind != .seal {
      next.firstSequence.store(header.sequence, ordering: .relaxed)
    }
  }

  /// How long a read-only store may go on without looking at the manifest, in nanoseconds.
  static let pollInterval: UInt64 = 1_000_000
}

extension Engine {
  /// Notes where a read-only store stands after it was opened.
  func startFollowing() {
    guard options.readOnly else { return }
    opening.withLock {
      let published = commits.published.load(ordering: .relaxed)
      let generation = manifests.withLock { $0.manifest.generation }
      var follower = LogFollower(expected: published &+ 1, generation: generation)
      if let last = lastLogSegment {
        follower.segment = last
        follower.offset = last.recordsEnd.load(ordering: .relaxed)
        // The writer may go on in this segment, so its end is not settled for a follower.
        last.recordsEnd.store(0, ordering: .relaxed)
        last.isSealed.store(false, ordering: .relaxed)
        granules.updateLimit(last)
      }
      self.follower = follower
    }
  }

  /// Takes in new records if there may be some. Cheap when there are none.
  func followIfBehind() {
    guard opening.tryLock() else { return }
    defer { opening.unlock() }
    guard let follower else { return }
    let hasMore = follower.segment.map { $0.nextWord(at: follower.offset) != 0 } ?? false
    let now = platform.clock.monotonicNanoseconds()
    guard hasMore || now &- follower.lastPoll >= LogFollower.pollInterval else { return }
    self.follower?.lastPoll = now
    follow()
  }

  func refresh() throws(StoreError) {
    let flags = status.load(ordering: .acquiring)
    if flags & Status.closed != 0 { throw .closed }
    guard flags & Status.readOnly != 0 else { return }
    opening.withLock { follow() }
  }

  /// Reads on to the first place that is not a whole record. Called with `opening` held.
  ///
  /// What is not whole is not damage here: the writer may be in the middle of it.
  private func follow() {
    guard var follower else { return }
    // No snapshot can begin meanwhile: that takes `opening` too.
    var replay = Replay(self, notifying: writer.withLock { $0.snapshots })
    // Without a segment, the next record may be in one that was listed empty when this store was opened.
    while let segment = follower.segment ?? nextSegment(&follower, &replay, behindSeal: true) {
      if follower.segment == nil { follower.goOn(in: segment, granules) }
      guard let header = nextRecord(of: segment, at: follower.offset) else {
        // The writer goes on in another segment after a crash, or after a close that left this one full.
        guard let next = nextSegment(&follower, &replay, behindSeal: false) else { break }
        // Before it went on it may have written more here than was seen a moment ago.
        if nextRecord(of: segment, at: follower.offset) != nil { continue }
        // A batch whose end is not in this segment never happened: its writer was killed.
        follower.batch.removeAll(keepingCapacity: true)
        follower.goOn(in: next, granules)
        continue
      }
      if header.kind == .seal {
        guard let next = nextSegment(&follower, &replay, behindSeal: true) else { break }
        follower.goOn(in: next, granules)
        continue
      }
      // A record written by a call may show its header before its body.
      guard header.sequence >= follower.expected,
        segment.view(at: follower.offset, end: segment.readableEnd)?.bodyIsIntact == true
      else { break }
      follower.batch.append(
        LogRecord(
          hash: header.keyHash,
          address: segment.startUnits + UInt64(follower.offset >> 3),
          sequence: header.sequence,
          size: header.size,
          kind: header.kind,
          keyspace: header.keyspace
        )
      )
      follower.expected = header.sequence &+ 1
      follower.offset += header.size
      if !header.batchContinues {
        for record in follower.batch { replay.apply(record) }
        follower.batch.removeAll(keepingCapacity: true)
        if replay.isIdle { commits.published.store(header.sequence, ordering: .releasing) }
      }
    }
    replay.drain()
    endFollowedMerges(&follower)
    if follower.batch.isEmpty { commits.published.store(follower.expected &- 1, ordering: .releasing) }
    self.follower = follower
  }

  /// The header of the record at `offset`; nil when none is readable there yet.
  private func nextRecord(of segment: Segment, at offset: Int) -> RecordHeader? {
    if case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd) { return header }
    // It may reach beyond what was mapped.
    let before = segment.readableEnd
    try? segment.growToFile()
    guard segment.readableEnd > before else { return nil }
    granules.updateLimit(segment)
    guard case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd) else { return nil }
    return header
  }

  /// The segment whose first record is the next one, after another look at the manifest if need be.
  private func nextSegment(_ follower: inout LogFollower, _ replay: inout Replay, behindSeal: Bool) -> Segment? {
    func find() -> Segment? {
      segments.withLock { list in
        list.first { segment in
          guard segment !== follower.segment, segment.kind == .log,
            case .record(let header) = segment.readRecord(at: SegmentHeader.length, end: segment.readableEnd)
          else { return false }
          return header.kind != .seal && header.sequence >= follower.expected
        }
      }
    }
    if let segment = find() { return segment }
    // What was read is in the index before merges move it.
    replay.drain()
    reloadManifest(&follower, behindSeal: behindSeal)
    return find()
  }

  /// Opens segments and keyspaces that were listed since the manifest was last read.
  ///
  /// - Parameter behindSeal: the writer has gone on in a segment that is listed already. It may have been listed empty, when
  ///   this store was opened and had no use for it.
  private func reloadManifest(_ follower: inout LogFollower, behindSeal: Bool) {
    let reading = manifests.withLock { try? $0.files.read() }
    guard let manifest = reading?.newest else { return }
    let isNew = manifest.generation != follower.generation
    guard isNew || behindSeal else { return }
    let known = Set(segments.withLock { $0.map(\.id) })
    var opened: [Segment] = []
    var damage: [StoreEvent] = []
    for var row in manifest.segments where !known.contains(row.id) {
      // Its end is found by reading it.
      if row.kind == .log { row.state = .active }
      guard let segment = try? openSegment(row, durable: manifest.durableSequence, damage: &damage) else {
        // It was merged away since: the next look finds by what.
        for segment in opened { uninstall(segment) }
        return
      }
      let first = row.kind == .log ? LogScanner.firstSequence(of: segment) : nil
      // In a manifest that was read before, what stands behind a hole must not be taken for what comes next.
      guard isNew || (first != nil && first == follower.expected) else {
        uninstall(segment)
        continue
      }
      if row.firstSequence == 0, let first { segment.firstSequence.store(first, ordering: .relaxed) }
      opened.append(segment)
    }
    guard isNew || !opened.isEmpty else { return }
    addKeyspaces(manifest.keyspaces)
    if isNew { beginFollowing(manifest, opened, &follower) }
    segments.withLock { $0 = Self.inOrder($0 + opened) }
    manifests.withLock { $0.manifest = manifest }
    follower.generation = manifest.generation
  }
}

extension Segment {
  /// The word at `offset`, as another process may have published it; 0 beyond the end.
  func nextWord(at offset: Int) -> UInt64 {
    guard offset + 8 <= readableEnd else { return 0 }
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
  }
}
