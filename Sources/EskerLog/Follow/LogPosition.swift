internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Where a read-only store stands in a log that a writer in another process goes on writing.
///
/// The index of a read-only store holds whole batches, up to `whole` and nothing beyond; that is the number the store shows.
/// Records are read one after the other as long as they can be. What cannot be read so, because it was merged away unread or
/// a recovery skipped numbers, is loaded from the segments that the newest manifest lists. In both cases the index is a state
/// that the writer had before anybody may take a snapshot: all of this happens with `following` held.
struct LogPosition {
  /// The segment that is being read; nil until one is found that holds the next record.
  var segment: Segment?
  var offset = SegmentHeader.length
  /// The number of the next record.
  var expected: UInt64
  /// The last write of the last whole batch that was read.
  var whole: UInt64
  /// Records of a batch whose end has not been seen.
  var batch: [LogRecord] = []
  /// The manifest that is in effect.
  var generation: UInt64
  /// When the manifest was last looked at.
  var lastPoll: UInt64 = 0
  /// True while what stands at the place is nothing to take: a seal, or a record that is being written.
  var isHeldUp = false
  /// The next number when loading what the manifest lists found nothing.
  var vainExpected: UInt64?
  /// Looks in a row that failed.
  var failures = 0

  /// How long a read-only store may go on without looking at the manifest, in nanoseconds.
  static let pollInterval: UInt64 = 1_000_000

  /// Looks at files that a writer may just be changing, a millisecond apart.
  static let mostTries = 100

  /// Failures in a row after which the store says that it does not follow the writer any more.
  static let toleratedFailures = 9

  /// Where the next record that is not in the index stands: that of an unfinished batch is read again.
  var restart: (offset: Int, expected: UInt64) {
    guard let first = batch.first, let segment else { return (offset, expected) }
    return (Int(first.address &- segment.startUnits) << 3, first.sequence)
  }

  /// Whether the segment is known to hold nothing more.
  var isBehindSegment: Bool {
    guard let segment else { return true }
    return segment.isSettled && offset >= segment.recordsEnd
  }

  /// Leaves a segment that gets no more records, and goes on at the start of another.
  mutating func goOn(in next: Segment, _ granules: GranuleTable) {
    if let segment { segment.settleRead(to: restart.offset, last: restart.expected &- 1, granules) }
    // A batch that has no end in its segment never happened: its writer was killed.
    batch.removeAll(keepingCapacity: true)
    segment = next
    offset = SegmentHeader.length
    isHeldUp = false
    // It may have been listed before it was written to.
    if !next.isSettled, let first = next.firstNumber { next.change { $0.begin(with: first) } }
  }
}
