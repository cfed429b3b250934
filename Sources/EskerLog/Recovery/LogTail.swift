internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Reads whole records with intact bodies, one after the other, and lets whole batches take effect. Called with `opening`
  /// held.
  ///
  /// What is not whole is not damage here: the writer may be in the middle of it.
  ///
  /// - Parameter acceptsAll: also records of a keyspace that no manifest lists.
  /// - Returns: false where a record is of a keyspace that was not listed when the manifest was last read.
  @discardableResult
  func readOn(_ follower: inout LogFollower, acceptingAll acceptsAll: Bool = false) -> Bool {
    var replay = Replay(self)
    follower.isHeldUp = false
    var isKnown = true
    var known: UInt32?
    loop: while true {
      switch next(of: &follower) {
      case .record(let record):
        if record.keyspace.id != known, !acceptsAll {
          guard keyspaces.withLock({ $0.byID[record.keyspace.id] != nil }) else {
            // It was listed before it was written to.
            isKnown = false
            break loop
          }
          known = record.keyspace.id
        }
        take(record, &follower, &replay)
      case .passed: continue
      case .none:
        guard let next = segmentWithNext(follower) else { break loop }
        // Before the writer went on there it may have written more here than was seen a moment ago.
        if case .record = self.next(of: &follower) { continue }
        follower.goOn(in: next, granules)
      }
    }
    replay.drain()
    publish(follower)
    return isKnown
  }

  /// Shows what was read. The tail of a read-only store ends behind the last whole batch.
  func publish(_ follower: LogFollower) {
    writer.withLock { state in
      if follower.whole > commits.published.load(ordering: .relaxed) {
        commits.published.store(follower.whole, ordering: .releasing)
      }
      state.tail = follower.segment
      state.offset = follower.restart.offset
    }
  }

  private enum Next {
    case record(LogRecord)
    /// A record below the next number: one of a copy.
    case passed
    case none
  }

  /// What stands at the follower's place.
  private func next(of follower: inout LogFollower) -> Next {
    guard let segment = follower.segment, let header = nextHeader(of: segment, at: follower.offset) else {
      return .none
    }
    if header.kind != .seal, header.sequence < follower.expected {
      follower.offset += header.size
      return .passed
    }
    // A record written by a call may show its header before its body.
    guard header.kind != .seal, header.sequence == follower.expected, isWhole(at: follower.offset, of: segment) else {
      follower.isHeldUp = true
      return .none
    }
    return .record(
      LogRecord(
        hash: header.keyHash,
        address: segment.startUnits + UInt64(follower.offset >> 3),
        sequence: header.sequence,
        size: header.size,
        kind: header.kind,
        keyspace: header.keyspace,
        batchContinues: header.batchContinues
      )
    )
  }

  private func take(_ record: LogRecord, _ follower: inout LogFollower, _ replay: inout Replay) {
    follower.offset += record.size
    follower.expected = record.sequence &+ 1
    follower.batch.append(record)
    guard !record.batchContinues else { return }
    for record in follower.batch { replay.apply(record) }
    follower.batch.removeAll(keepingCapacity: true)
    follower.whole = record.sequence
  }

  private func isWhole(at offset: Int, of segment: Segment) -> Bool {
    func isIntact() -> Bool { segment.view(at: offset, end: segment.readableEnd)?.bodyIsIntact == true }
    return isIntact() || (growToFile(segment) && isIntact())
  }

  /// The header of the record at `offset`; nil when none is readable there yet.
  private func nextHeader(of segment: Segment, at offset: Int) -> RecordHeader? {
    if case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd) { return header }
    // It may reach beyond what was mapped.
    guard growToFile(segment), case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd)
    else {
      return nil
    }
    return header
  }

  /// Maps what a writer in another process has added to a segment; false when there is nothing new.
  func growToFile(_ segment: Segment) -> Bool {
    let before = segment.readableEnd
    let hadNone = segment.renewMissed()
    try? segment.growToFile()
    guard segment.readableEnd > before else { return hadNone }
    granules.updateLimit(segment)
    return true
  }

  /// Looks again at pages that could not be had. To be called once a manifest was read: what is sealed by it is there by now.
  func renewMissed() {
    for segment in segments.withLock({ $0 }) { segment.renewMissed() }
  }

  /// The listed segment that holds the next record: it begins with it or, written after a failed sync, is a copy of what was
  /// partly read.
  private func segmentWithNext(_ follower: LogFollower) -> Segment? {
    segments.withLock { $0 }.first { segment in
      guard segment !== follower.segment, segment.kind == .log else { return false }
      if segment.isSealed.load(ordering: .acquiring) {
        let first = segment.firstSequence.load(ordering: .relaxed)
        let last = segment.lastSequence.load(ordering: .relaxed)
        return first != 0 && first <= follower.expected && follower.expected <= last
      }
      return firstNumber(of: segment) == follower.expected
    }
  }

  /// Whether a listed segment begins above the next number.
  func hasRecordsBeyond(_ follower: LogFollower) -> Bool {
    segments.withLock { $0 }.contains { segment in
      segment.kind == .log && (firstNumber(of: segment) ?? 0) > follower.expected
    }
  }

  /// The number of the record that a segment begins with, which may reach beyond what was mapped so far.
  func firstNumber(of segment: Segment) -> UInt64? {
    if let number = segment.firstNumber { return number }
    let isSeen = segment.readableEnd >= SegmentHeader.length + 8 && !segment.mapping.isFaulted
    let isEmpty = isSeen && segment.nextWord(at: SegmentHeader.length) == 0
    return !isEmpty && growToFile(segment) ? segment.firstNumber : nil
  }

  /// Orders log segments by their first records, which a writer in another process may just be writing.
  ///
  /// Numbers are published in order. So once two looks at all segments agree, each segment that begins below one that was
  /// seen was seen too.
  func ordering(_ list: [Segment]) -> [Segment] {
    var before: [UInt64?] = []
    while true {
      let firsts = list.map { firstNumber(of: $0) }
      if firsts == before { break }
      before = firsts
    }
    for (segment, first) in zip(list, before) where !segment.isSettled.load(ordering: .relaxed) {
      if let first { segment.firstSequence.store(first, ordering: .relaxed) }
    }
    return Self.inOrder(list)
  }
}

extension Segment {
  /// Maps pages again that could not be had; true if there were some.
  ///
  /// A writer in another process cuts off what it has not used when it closes. Whoever looks there right then is given zeros,
  /// which stay while the next writer goes on in the file.
  @discardableResult
  func renewMissed() -> Bool {
    guard mapping.isFaulted else { return false }
    try? mapping.renew()
    return true
  }

  /// The word at `offset`, as another process may have published it; 0 beyond the end.
  func nextWord(at offset: Int) -> UInt64 {
    guard offset + 8 <= readableEnd else { return 0 }
    return unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
  }

  /// The number of the record that the segment begins with; nil when there is none, or it cannot be read: see
  /// `firstNumber(of:)` for a segment that may have grown.
  var firstNumber: UInt64? {
    guard case .record(let header) = readRecord(at: SegmentHeader.length, end: readableEnd), header.kind != .seal else {
      return nil
    }
    return header.sequence
  }

  /// Notes where a log segment ends that was read and gets no more records, unless the manifest has said so.
  func settleRead(to end: Int, last: UInt64, _ granules: GranuleTable) {
    guard !isSettled.load(ordering: .relaxed) else { return }
    recordsEnd.store(end, ordering: .releasing)
    lastSequence.store(last, ordering: .relaxed)
    isSealed.store(true, ordering: .releasing)
    granules.updateLimit(self)
  }
}
