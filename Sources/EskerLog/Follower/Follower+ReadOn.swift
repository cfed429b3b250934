internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Follower {
  /// Reads complete records with intact bodies, one by one, and applies complete batches. Called with `following` held.
  ///
  /// Incomplete records do not count as damaged here: the writer may be writing them.
  ///
  /// - Parameters:
  ///   - last: Reads at least up to this number, if it is there, but not much further: a writer may be writing on without a pause.
  ///   - acceptsAll: Whether to accept records of keyspaces that no manifest lists.
  /// - Returns: False if a record belongs to a keyspace that was not listed when the manifest was last read.
  @discardableResult
  func readOn(_ follower: inout LogPosition, through last: UInt64, acceptingAll acceptsAll: Bool = false) -> Bool {
    var replay = LogReplay(writer)
    follower.isHeldUp = false
    var isKnown = true
    var known: UInt32?
    // Some are read in any case, should the number be an old one: a lock file that was removed says no more.
    let first = follower.whole
    loop: while follower.whole < last || follower.whole &- first < Self.leastRead {
      switch next(of: &follower) {
      case .record(let record):
        if record.keyspace.id != known, !acceptsAll {
          guard !keydir.keyspaces.isUnknown(record.keyspace.id) else {
            // A keyspace is listed before it is written to.
            isKnown = false
            break loop
          }
          known = record.keyspace.id
        }
        take(record, &follower, &replay)
      case .passed: continue
      case .none:
        if let record = replaced(follower) {
          replay.apply(record)
          catalog.noteReuse(through: record.sequence)
          follower.expected = record.sequence &+ 1
          follower.whole = record.sequence
          continue
        }
        guard let next = segmentWithNext(follower) else { break loop }
        // Before the writer continued there, it may have written more here since the last check.
        if case .record = self.next(of: &follower) { continue }
        follower.goOn(in: next, catalog.granules)
      }
    }
    replay.drain()
    publish(follower)
    return isKnown
  }

  /// How many records a call reads however many there were when it began.
  private static let leastRead: UInt64 = 1024

  /// Publishes what was read. The tail of a read-only store ends after the last complete batch.
  func publish(_ follower: LogPosition) {
    writer.withLock { state in
      if follower.whole > commits.publishedSequence { commits.publish(follower.whole) }
      state.follow(follower.segment, to: follower.restart.offset)
    }
  }

  private enum Next {
    case record(LogRecord)
    /// A record below the next number: a copy of one read before.
    case passed
    case none
  }

  /// Reads the record at the follower's position.
  private func next(of follower: inout LogPosition) -> Next {
    guard let segment = follower.segment, let header = nextHeader(of: segment, at: follower.offset) else {
      return .none
    }
    if header.kind == .filler || header.kind != .seal && header.sequence < follower.expected {
      follower.offset += header.size
      return .passed
    }
    // If a record is written by a system call, its header may become visible before its body.
    guard header.kind != .seal, header.sequence == follower.expected, isWhole(at: follower.offset, of: segment) else {
      follower.isHeldUp = true
      return .none
    }
    return .record(LogRecord(header, at: follower.offset, of: segment))
  }

  private func take(_ record: LogRecord, _ follower: inout LogPosition, _ replay: inout LogReplay) {
    follower.offset += record.size
    follower.expected = record.sequence &+ 1
    follower.batch.append(record)
    guard !record.batchContinues else { return }
    for record in follower.batch { replay.apply(record) }
    follower.batch.removeAll(keepingCapacity: true)
    follower.whole = record.sequence
  }

  /// The next record, if it has taken the room of a dead one in front of the position.
  ///
  /// Only the first one that this reader did not find can have: its writer was stopped while it wrote it, and the reader had waited
  /// long enough; see ``LockFile``.
  private func replaced(_ follower: LogPosition) -> LogRecord? {
    guard let segment = follower.segment, follower.batch.isEmpty else { return nil }
    let words = segment.reuseWords
    guard words.last == follower.expected, words.place <= UInt64(segment.readableEnd >> 3) else { return nil }
    // As long as it is the last record that was announced, there is one place to look at. Afterwards it is there.
    let place = Int(words.place) << 3
    let isLast = place < follower.offset
    var records = RecordCursor(segment, from: isLast ? place : SegmentHeader.length, to: follower.offset)
    while let (offset, header) = records.next() {
      if header.sequence == follower.expected, isWhole(at: offset, of: segment) {
        return LogRecord(header, at: offset, of: segment)
      }
      if isLast { break }
    }
    return nil
  }

  private func isWhole(at offset: Int, of segment: Segment) -> Bool {
    func isIntact() -> Bool { segment.view(at: offset, end: segment.readableEnd)?.bodyIsIntact == true }
    return isIntact() || (catalog.growToFile(segment) && isIntact())
  }

  /// The header of the record at `offset`; nil if none can be read there yet.
  private func nextHeader(of segment: Segment, at offset: Int) -> RecordHeader? {
    if case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd) { return header }
    // The record may extend beyond what was mapped.
    guard catalog.growToFile(segment),
      case .record(let header) = segment.readRecord(at: offset, end: segment.readableEnd)
    else {
      return nil
    }
    return header
  }

  /// The listed segment that contains the next record: it begins with that or, if written after a failed sync, is a copy
  /// of a segment that was partly read.
  private func segmentWithNext(_ follower: LogPosition) -> Segment? {
    catalog.segments.first { segment in
      guard segment !== follower.segment, segment.kind == .log else { return false }
      if segment.isSealed {
        let first = segment.firstSequence
        let last = segment.lastSequence
        return first != 0 && first <= follower.expected && follower.expected <= last
      }
      return catalog.firstNumber(of: segment) == follower.expected
    }
  }

  /// Whether records have replaced others behind the position, as they may while this process is not there: then the numbers ascend no more.
  func isBehindReplaced(_ follower: LogPosition) -> Bool {
    guard let segment = follower.segment, follower.offset < segment.recordsEnd ?? .max,
      follower.lastReuse > follower.expected,
      case .record(let header) = segment.readRecord(at: follower.offset, end: segment.readableEnd)
    else { return false }
    return header.kind != .seal && header.kind != .filler && header.sequence > follower.expected
  }

  /// Whether a listed segment begins with a higher number than the next.
  func hasRecordsBeyond(_ follower: LogPosition) -> Bool {
    catalog.segments.contains { segment in
      segment.kind == .log && (catalog.firstNumber(of: segment) ?? 0) > follower.expected
    }
  }
}
