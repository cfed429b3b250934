internal import EskerFormat

/// What is known of a segment's records: the number of the first one, where they end, and the number of the last one.
///
/// Where they end belongs to the state, so that there is no end without a reason, and no state without its end:
///
///     open ---- seal ---> sealed ---- settle ---> settled <-- settle(as:), settle(cutAt:) -- any
///      ^  \                  |
///      |   '-- close --> closed
///      '------ reopen -------'
///
/// `Segment` holds it under a lock, so that nobody sees half of a change.
struct SegmentFacts: Sendable {
  /// With the offset behind the last record, seal excluded.
  enum State: Sendable, Hashable {
    /// Takes records, or may hold more than is known; where they end is not known.
    case open
    /// The tail of a closed store: it ends where it says, and the next writer goes on there.
    case closed(end: Int)
    /// Takes no more records.
    case sealed(end: Int)
    /// The manifest may call it sealed: its records are durable, or recovery has cut it.
    case settled(end: Int)
  }

  private(set) var state = State.open
  /// 0 while the segment is empty.
  private(set) var firstSequence: UInt64 = 0
  private(set) var lastSequence: UInt64 = 0
  private(set) var footer = FooterSummary.none
  /// The last write that had returned when the merge that made this segment began; 0 when that is not known. Whatever a write
  /// up to there superseded is not in it.
  private(set) var mergedThrough: UInt64 = 0
  /// True once a record was found that cannot be read: a merge leaves the segment as it is.
  private(set) var isUnmergeable = false

  /// The offset behind the last record, seal excluded; nil while the segment is open.
  var recordsEnd: Int? {
    switch state {
    case .open: nil
    case .closed(let end), .sealed(let end), .settled(let end): end
    }
  }

  var isSealed: Bool { if case .sealed = state { true } else { isSettled } }
  var isSettled: Bool { if case .settled = state { true } else { false } }
  /// Whether it takes no more records, and no manifest may call it sealed yet.
  var awaitsSettling: Bool { isSealed && !isSettled }

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
    state = .sealed(end: end)
    lastSequence = last
  }

  /// The segment ends here as long as the store is closed.
  mutating func close(at end: Int, last: UInt64) {
    assert(!isSealed, "a sealed segment takes no more records")
    assert(Self.isEnd(end))
    state = .closed(end: end)
    lastSequence = last
  }

  /// The log may go on in the segment.
  mutating func reopen() {
    assert(!isSettled, "a settled segment does not change")
    state = .open
  }

  /// The records of a sealed segment are durable.
  mutating func settle(with footer: FooterSummary) {
    guard case .sealed(let end) = state else { return assertionFailure("only what is sealed can be settled") }
    state = .settled(end: end)
    self.footer = footer
  }

  /// Takes over what a manifest says of a segment that it calls sealed.
  mutating func settle(as row: SegmentRow) {
    assert(!isSettled, "a settled segment does not change")
    state = .settled(end: Int(clamping: row.recordsEnd))
    if row.firstSequence != 0 { firstSequence = row.firstSequence }
    lastSequence = row.lastSequence
    mergedThrough = row.mergedThrough
    takeFooter(of: row)
  }

  /// Takes over what a manifest says of the footer: another process may have cut off one that was not listed yet.
  mutating func takeFooter(of row: SegmentRow) {
    assert(isSettled, "only what is settled has a footer")
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
    assert(state == .open, "it was written as a whole")
    assert(Self.isEnd(end))
    state = .settled(end: end)
    firstSequence = summary.firstSequence
    lastSequence = summary.lastSequence
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
    assert(!isSettled || end <= recordsEnd ?? 0, "there is nothing behind the end of a settled segment")
    assert(Self.isEnd(end))
    state = .settled(end: end)
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
