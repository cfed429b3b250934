internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Recovery {
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
      if segment.firstSequence == 0, catalog.firstNumber(of: segment) == nil {
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
          let (footer, bytes) = segment.durableFooter(durable: manifest.durableSequence, damage: &damage)
        { scanner.take(footer, bytes, of: segment) } else { false }
      if !isRead {
        let isSettled = segment.isSettled || manifest.state == .clean
        scanner.scan(rest, from: offset, isSettled: isSettled)
      }
      offset = SegmentHeader.length
      isFirst = false
      isBehindSettled = segment.isSettled
      rest.removeFirst()
      // A writer in another process goes on meanwhile, in segments that were empty a moment ago.
      if env.options.readOnly, let next = rest.first, !next.isSettled {
        rest = catalog.ordering(Array(rest))[...]
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
    return min(segment.firstSequence, Self.lastSequence(withoutLog: manifest) &+ 1)
  }

  /// Where a reading of the log ended, for a read-only store to go on there.
  ///
  /// - Parameter log: what was read, in any order.
  func place(behind scanner: borrowing LogScanner, _ log: [Segment]) -> (segment: Segment, offset: Int)? {
    if let cut = scanner.cut, cut.offset > SegmentHeader.length { return (cut.segment, cut.offset) }
    var last: (segment: Segment, offset: Int)?
    for segment in Catalog.inOrder(log) {
      if let end = scanner.ends[segment.id], end.offset > SegmentHeader.length { last = (segment, end.offset) }
    }
    return last
  }

  /// Notes where segments end that were read through, and leaves the one open in which the log may go on.
  func settleRead(_ log: [Segment], _ scanner: borrowing LogScanner, goingOnIn current: Segment?) {
    for segment in log where !segment.isSettled {
      if segment === current {
        segment.change { $0.reopen() }
        catalog.granules.updateLimit(segment)
      } else if let end = scanner.ends[segment.id], end.offset > SegmentHeader.length {
        segment.settleRead(to: end.offset, last: end.last, catalog.granules)
      }
    }
  }
}
