internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// The position of a read-only store in a log that a writer in another process is still writing.
///
/// The index of a read-only store contains complete batches, up to `whole` and nothing beyond; that is the number the
/// store shows. Records are read one by one as long as possible. Where it is not, because they were merged away unread or
/// a recovery skipped numbers, they are loaded from the segments that the newest manifest lists. In both cases the index
/// reaches a state that the writer had before a snapshot can be taken: all of this happens with `following` held.
struct LogPosition {
  /// The segment being read; nil until the one with the next record is found.
  var segment: Segment?
  var offset = SegmentHeader.length
  /// The number of the next record.
  var expected: UInt64
  /// The last write of the last complete batch that was read.
  var whole: UInt64
  /// The records of a batch whose end has not been read.
  var batch: [LogRecord] = []
  /// The generation of the manifest in effect.
  var generation: UInt64
  /// How many edits had been begun or ended when the manifest was last read.
  var edits: UInt64?
  /// When the manifest was last checked, in nanoseconds of monotonic time.
  var lastPoll: UInt64 = 0
  /// Whether there is nothing to apply at the position: a seal, or a record that is still being written.
  var isHeldUp = false
  /// The next number, and the last that had replaced another, at the time when loading from the listed segments found nothing.
  var vainExpected: (next: UInt64, reuse: UInt64)?
  /// The number of consecutive failures.
  var failures = 0

  /// How often a read-only store checks the manifest, in nanoseconds.
  static let pollInterval: UInt64 = 1_000_000

  /// The number of attempts, a millisecond apart, to read files that a writer may be changing.
  static let mostTries = 100

  /// The number of consecutive failures after which the store reports that it no longer follows the writer.
  static let toleratedFailures = 9

  /// The last record that has replaced another in the segment being read.
  var lastReuse: UInt64 { segment?.reuseWords.last ?? 0 }

  /// The place of the next record that is not in the index: an unfinished batch is read again.
  var restart: (offset: Int, expected: UInt64) {
    guard let first = batch.first, let segment else { return (offset, expected) }
    return (Int(first.address &- segment.startUnits) << 3, first.sequence)
  }

  /// Whether the segment certainly contains nothing more.
  var isBehindSegment: Bool {
    segment.map { $0.endsRecords(at: offset) } ?? true
  }

  /// Leaves a segment that gets no more records, and continues at the start of another.
  mutating func goOn(in next: Segment, _ granules: GranuleTable) {
    if let segment { segment.settleRead(to: restart.offset, last: restart.expected &- 1, granules) }
    // A batch without an end in its segment never took effect: its writer was killed.
    batch.removeAll(keepingCapacity: true)
    segment = next
    offset = SegmentHeader.length
    isHeldUp = false
    // The segment may have been listed before it was written to.
    if !next.isSettled, let first = next.firstNumber { next.change { $0.begin(with: first) } }
  }
}

extension LogPosition {
  /// Whether this is where a process has left the log in that segment, its tail, which may be empty.
  func isAt(_ baton: Baton, in tail: Segment) -> Bool {
    guard whole == baton.last, batch.isEmpty else { return false }
    return segment === tail ? offset == Int(clamping: baton.offset) : baton.offset == UInt64(SegmentHeader.length)
  }
}
