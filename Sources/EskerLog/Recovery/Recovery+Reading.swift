internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Recovery {
  /// Reads log segments in the order of history, starting at an offset in the first one.
  func read(
    _ log: [Segment],
    from start: Int = SegmentHeader.length,
    _ manifest: Manifest,
    _ scanner: inout LogScanner,
    _ damage: inout [StoreEvent]
  ) {
    let starts = ListedStarts(manifest)
    var rest = log[...]
    var offset = start
    var isFirst = true
    var isBehindWhole = false
    while let segment = rest.first, scanner.cut == nil {
      // Listed but never written to, so it has no place in the log. If it had durable records, the manifest would have
      // its first number, or a record would be found.
      if segment.firstSequence == 0, catalog.firstNumber(of: segment) == nil {
        offset = SegmentHeader.length
        rest.removeFirst()
        // A writer in another process may use this one a moment later, and then one behind it. So they are looked at together: the one that
        // it used first comes first, or all are empty.
        if env.isFollowing {
          rest = catalog.ordering([segment] + rest)[...]
          if rest.first?.firstSequence == 0 { break }
        }
        continue
      }
      // The writer began with it since the others were looked at, and may have begun with one of them before.
      if env.isFollowing, segment.firstSequence == 0, !segment.isSettled {
        rest = catalog.ordering(Array(rest))[...]
        continue
      }
      // After a recorded cut, the manifest gives the number at which the log continues. What came before the first
      // segment was merged away.
      if isFirst || isBehindWhole,
        case let first = starts.start(of: rest, isFirst: isFirst),
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
      // A writer in another process may have begun with it since it was opened: who copies the segment goes by its number.
      if segment.firstSequence == 0, scanner.ends[segment.id]?.hasRecords == true, let first = segment.firstNumber {
        segment.change { $0.begin(with: first) }
      }
      offset = SegmentHeader.length
      isFirst = false
      // Whether all is read that the manifest says of it: what it says of the next one is then all there is in between.
      let last = segment.lastSequence
      let isSealed = scanner.ends[segment.id]?.isSealed ?? false
      isBehindWhole = segment.isSettled || isSealed || last != 0 && scanner.expected > last
      rest.removeFirst()
      // A writer in another process may meanwhile continue in segments that were empty a moment ago.
      if env.isFollowing, let next = rest.first, !next.isSettled {
        rest = catalog.ordering(Array(rest))[...]
      }
    }
  }

  /// Where reading the log ended, so that a read-only store can continue there.
  ///
  /// - Parameter log: The segments that were read, in any order.
  func place(behind scanner: borrowing LogScanner, _ log: [Segment]) -> (segment: Segment, offset: Int)? {
    var last: (segment: Segment, offset: Int)?
    for segment in Catalog.inOrder(log) {
      if let end = scanner.ends[segment.id], end.hasRecords { last = (segment, end.offset) }
    }
    return last
  }

  /// What is said of the last record that has replaced another, in each segment, and what stands there, if it may still change.
  ///
  /// A reader that has given up waiting for a writer which was stopped amid a replacement reads the log as if the writer had been killed.
  /// If it goes on meanwhile, half of what was read is from before, and half from after.
  var replacements: [[UInt64]] {
    guard env.presence?.gaveUpWaiting == true else { return [] }
    return catalog.segments.filter { $0.kind == .log && !$0.isSettled }.map { segment in
      let words = segment.reuseWords
      let isInside = words.last != 0 && words.place < UInt64(segment.readableEnd >> 3)
      return [words.last, words.place, isInside ? segment.nextWord(at: Int(words.place) << 3) : 0]
    }
  }

  /// Notes the ends of segments that were read completely, and leaves the one open in which the log may continue.
  func settleRead(_ log: [Segment], _ scanner: borrowing LogScanner, goingOnIn current: Segment?) {
    for segment in log {
      if segment === current, !segment.isSettled {
        segment.change { $0.reopen() }
        catalog.granules.updateLimit(segment)
      } else if let end = scanner.correctedEnd(of: segment) {
        if segment.isSettled {
          settleEnd(of: segment, at: end)
        } else if end.hasRecords {
          segment.settleRead(to: end.offset, last: end.last, catalog.granules)
        }
      }
    }
  }
}
