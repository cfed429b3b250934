internal import EskerFormat

/// What is known of a segment's records: the number of the first one, where they end, and the number of the last one.
///
/// It is also where the segment's life is written down:
///
///     open ---- seal ---> sealed ---- settle ---> settled <-- settle(as:), settle(cutAt:) -- any
///      ^  \                  |
///      |   '-- close --> closed
///      '------ reopen -------'
///
/// `Segment` holds it under a lock, so that nobody sees half of a change.
struct SegmentFacts: Sendable {
  enum State: Sendable {
    /// Takes records, or may hold more than is known; where they end is not known.
    case open
    /// The tail of a closed store: it ends where it says, and the next writer goes on there.
    case closed
    /// Takes no more records.
    case sealed
    /// The manifest may call it sealed: its records are durable, or recovery has cut it.
    case settled
  }

  private(set) var state = State.open
  /// 0 while the segment is empty.
  private(set) var firstSequence: UInt64 = 0
  private(set) var lastSequence: UInt64 = 0
  /// Offset after the last record, seal excluded; 0 while the segment is open.
  private(set) var recordsEnd = 0
  private(set) var footer = FooterSummary.none
  /// The last write that had returned when the merge that made this segment began; 0 when that is not known. Whatever a write
  /// up to there superseded is not in it.
  private(set) var mergedThrough: UInt64 = 0
  /// True once a record was found that cannot be read: a merge leaves the segment as it is.
  private(set) var isUnmergeable = false

  var isSealed: Bool { state == .sealed || state == .settled }
  var isSettled: Bool { state == .settled }

  /// Notes the number that the segment begins with, or is to begin with; 0 when nothing will be written to it after all.
  mutating func begin(with first: UInt64) {
    assert(!isSettled || firstSequence == 0, "the first number of a settled segment is known")
    firstSequence = first
  }

  /// Notes the last number that a manifest gave a segment it does not call sealed.
  mutating func expect(last: UInt64) {
    assert(state == .open)
    lastSequence = last
  }

  /// The segment takes no more records.
  mutating func seal(at end: Int, last: UInt64) {
    assert(!isSettled, "a settled segment does not change")
    assert(Self.isEnd(end))
    state = .sealed
    recordsEnd = end
    lastSequence = last
  }

  /// The segment ends here as long as the store is closed.
  mutating func close(at end: Int, last: UInt64) {
    assert(state == .open || state == .closed, "a sealed segment takes no more records")
    assert(end == 0 || Self.isEnd(end))
    state = .closed
    recordsEnd = end
    lastSequence = last
  }

  /// The log may go on in the segment.
  mutating func reopen() {
    assert(!isSettled, "a settled segment does not change")
    state = .open
    recordsEnd = 0
  }

  /// The records of a sealed segment are durable.
  mutating func settle(with footer: FooterSummary) {
    assert(state == .sealed, "only what is sealed can be settled")
    state = .settled
    self.footer = footer
  }

  /// Takes over what a manifest says of a segment that it calls sealed.
  mutating func settle(as row: SegmentRow) {
    assert(!isSettled, "a settled segment does not change")
    state = .settled
    if row.firstSequence != 0 { firstSequence = row.firstSequence }
    lastSequence = row.lastSequence
    mergedThrough = row.mergedThrough
    recordsEnd = Int(clamping: row.recordsEnd)
    footer = FooterSummary(
      offset: Int(clamping: row.footerOffset),
      length: Int(clamping: row.footerLength),
      minExpiry: row.minExpiry,
      maxExpiry: row.maxExpiry,
      neverExpiring: row.neverExpiring
    )
  }

  /// Takes over what is known of a segment that was written as a whole, and is durable.
  mutating func settle(as summary: SegmentFooter, recordsEnd end: Int, footerLength: Int) {
    assert(state == .open && recordsEnd == 0, "it was written as a whole")
    assert(Self.isEnd(end))
    state = .settled
    firstSequence = summary.firstSequence
    lastSequence = summary.lastSequence
    recordsEnd = end
    footer = FooterSummary(
      offset: end,
      length: footerLength,
      minExpiry: summary.minExpiry,
      maxExpiry: summary.maxExpiry,
      neverExpiring: summary.neverExpiring
    )
  }

  /// Recovery found, or decided, that the segment ends here, whatever was said of it before. Its footer holds no more.
  mutating func settle(cutAt end: Int, last: UInt64) {
    assert(!isSettled || end <= recordsEnd, "there is nothing behind the end of a settled segment")
    assert(Self.isEnd(end))
    state = .settled
    recordsEnd = end
    lastSequence = last
    footer = .none
  }

  /// Whether records can end here: a manifest that says so of any other place is refused when it is read.
  private static func isEnd(_ offset: Int) -> Bool { offset >= SegmentHeader.length && offset & 7 == 0 }

  /// Notes what the merge that made the segment knew.
  mutating func note(mergedThrough sequence: UInt64) { mergedThrough = sequence }

  /// Keeps merges away.
  mutating func noteUnreadable() { isUnmergeable = true }
}

/// What is kept of a sealed segment's footer.
struct FooterSummary: Sendable, Hashable {
  /// 0: there is no footer.
  var offset = 0
  var length = 0
  var minExpiry = Int64.max
  var maxExpiry = Int64.min
  var neverExpiring: UInt64 = 0

  static let none = FooterSummary()
}
