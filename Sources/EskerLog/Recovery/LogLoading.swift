internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Reads log segments in the order of history, from a place in the first of them on.
  func read(
    _ log: [Segment],
    from start: Int = SegmentHeader.length,
    _ manifest: Manifest,
    _ scanner: inout LogScanner,
    _ damage: inout [StoreEvent]
  ) {
    let starts = Dictionary(
      manifest.segments.lazy.map { ($0.id, $0.firstSequence) },
      uniquingKeysWith: { first, _ in first }
    )
    var rest = log[...]
    var offset = start
    var isFirst = true
    var isBehindSettled = false
    while let segment = rest.first, scanner.cut == nil {
      // Listed before anything was written to it, and nothing was: it is nowhere in the log. What was durable in it would have a
      // number in the manifest, or a record that is found.
      if segment.firstSequence.load(ordering: .relaxed) == 0, firstNumber(of: segment) == nil {
        rest.removeFirst()
        offset = SegmentHeader.length
        continue
      }
      // Behind a recorded cut the numbers go on where the manifest says. What came before the first segment was merged away.
      if isFirst || isBehindSettled,
        case let first = listedStart(starts[segment.id] ?? 0, of: segment, manifest, isFirst: isFirst),
        first > scanner.expected
      {
        scanner.jump(to: first)
      }
      let isRead =
        if offset == SegmentHeader.length,
          let (footer, bytes) = durableFooter(of: segment, durable: manifest.durableSequence, damage: &damage)
        { scanner.take(footer, bytes, of: segment) } else { false }
      if !isRead {
        let isSettled = segment.isSettled.load(ordering: .relaxed) || manifest.state == .clean
        scanner.scan(rest, from: offset, isSettled: isSettled)
      }
      offset = SegmentHeader.length
      isFirst = false
      isBehindSettled = segment.isSettled.load(ordering: .relaxed)
      rest.removeFirst()
      // A writer in another process goes on meanwhile, in segments that were empty a moment ago.
      if options.readOnly, let next = rest.first, !next.isSettled.load(ordering: .relaxed) {
        rest = ordering(Array(rest))[...]
      }
    }
  }

  /// The number with which the log goes on in a segment by what the manifest knows; 0 when it says nothing of that.
  ///
  /// The segment may begin with a later one by now: a tail that was listed empty is passed over for a record that is too large
  /// for it, and what is written meanwhile stands in segments that only a newer manifest lists.
  ///
  /// - Parameters:
  ///   - listed: the number that the manifest gives the segment.
  ///   - isFirst: Whatever came before the segment was merged away.
  func listedStart(_ listed: UInt64, of segment: Segment, _ manifest: Manifest, isFirst: Bool) -> UInt64 {
    if listed != 0 || !isFirst { return listed }
    return min(segment.firstSequence.load(ordering: .relaxed), Self.lastSequence(withoutLog: manifest) &+ 1)
  }

  /// Where a reading of the log ended, for a read-only store to go on there.
  ///
  /// - Parameter log: what was read, in any order.
  func place(behind scanner: borrowing LogScanner, _ log: [Segment]) -> (segment: Segment, offset: Int)? {
    if let cut = scanner.cut, cut.offset > SegmentHeader.length { return (cut.segment, cut.offset) }
    var last: (segment: Segment, offset: Int)?
    for segment in Self.inOrder(log) {
      if let end = scanner.ends[segment.id], end.offset > SegmentHeader.length { last = (segment, end.offset) }
    }
    return last
  }

  /// Notes where segments end that were read through, and leaves the one open in which the log may go on.
  func settleRead(_ log: [Segment], _ scanner: borrowing LogScanner, goingOnIn current: Segment?) {
    for segment in log where !segment.isSettled.load(ordering: .relaxed) {
      if segment === current {
        segment.recordsEnd.store(0, ordering: .relaxed)
        segment.isSealed.store(false, ordering: .relaxed)
        granules.updateLimit(segment)
      } else if let end = scanner.ends[segment.id], end.offset > SegmentHeader.length {
        segment.settleRead(to: end.offset, last: end.last, granules)
      }
    }
  }

  /// Takes in at once what a manifest lists and the index does not hold, where records cannot be read one after the other: a
  /// part of the log was merged away unread, is damaged, or has numbers that a recovery skipped.
  ///
  /// In between the index is no state that the writer had, so who comes waits: snapshots for `opening`, and reads because of
  /// the status. Called with `opening` held.
  ///
  /// - Parameter opened: segments that are new.
  func load(
    _ manifest: Manifest,
    _ opened: [Segment],
    _ follower: inout LogFollower,
    _ events: inout [StoreEvent]
  ) {
    status.bitwiseOr(Status.loading, ordering: .sequentiallyConsistent)
    defer { status.bitwiseAnd(~Status.loading, ordering: .sequentiallyConsistent) }
    // The record that emptied a keyspace may be among what was merged away.
    for row in manifest.keyspaces where row.incarnation > 0 {
      applyReset(
        LogRecord(hash: 0, address: 0, sequence: manifest.durableSequence, size: 0, kind: .reset, keyspace: row.tag)
      )
    }
    var merged = MergedReplay(self, upTo: follower.whole)
    for segment in opened where segment.kind != .log { merged.take(segment, damage: &events) }
    settleBeforeLoading(manifest, follower)
    let (offset, expected) = follower.restart
    let listed = Set(manifest.segments.map(\.id))
    let log = ordering(segments.withLock { $0 }.filter { listed.contains($0.id) && $0.mayHold(expected) })
    // The rest of the segment that is being read comes first.
    let isGoingOn = log.first.map { $0 === follower.segment } ?? false
    var scanner = LogScanner(self, manifest, expected: expected)
    let start = isGoingOn ? offset : log.first.map { firstOffset(after: expected &- 1, in: $0) }
    read(log, from: start ?? SegmentHeader.length, manifest, &scanner, &events)
    scanner.finish()
    merged.finish()
    events += scanner.damage
    let place = place(behind: scanner, log)
    if let (segment, offset) = place {
      if let current = follower.segment, current !== segment {
        current.settleRead(to: follower.restart.offset, last: follower.restart.expected &- 1, granules)
      }
      follower.segment = segment
      follower.offset = offset
      follower.isHeldUp = false
    } else {
      follower.offset = follower.restart.offset
    }
    settleRead(log, scanner, goingOnIn: follower.segment)
    follower.batch = []
    follower.whole = max(follower.whole, scanner.expected &- 1)
    // What is durable and not in the log was merged away.
    if scanner.cut == nil { follower.whole = max(follower.whole, manifest.durableSequence) }
    assert(follower.whole >= manifest.durableSequence, "a manifest takes effect before all that was durable is read")
    follower.expected = follower.whole &+ 1
    adopt(manifest, &follower, &events)
    publish(follower)
  }
}

extension Segment {
  /// Whether records from a number on may be in a log segment.
  fileprivate func mayHold(_ sequence: UInt64) -> Bool {
    kind == .log && (!isSealed.load(ordering: .acquiring) || lastSequence.load(ordering: .relaxed) >= sequence)
  }
}
