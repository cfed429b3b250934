internal import EskerFormat
internal import EskerLog

/// The part of a log segment that was read.
struct LogRun {
  /// The number of the first record read, and its offset.
  var first: UInt64
  var start: Int
  /// The number of the last record in the segment, according to its seal if there is one; and where the last one read
  /// ends.
  var last: UInt64
  var end: Int
  /// The numbers of all that were read.
  var numbers: RecordNumbers
}

/// Finds numbers that are missing between the segments of a log.
///
/// Numbers continue from one segment to the next, with two exceptions that the manifest tells: a merge has removed
/// segments in between (`mergedThrough`), or recovery has cut the log off and continued with higher numbers (the segment
/// before is sealed, with its last number, and the next one is listed with its first). Any other missing numbers are
/// lost.
struct LogGaps {
  /// A range of missing numbers.
  struct Gap {
    var numbers: ClosedRange<UInt64>
    /// The segment in which, or after which, they should be.
    var segment: UInt64
    /// Whether they are missing before the part that was read of it, not after.
    var isAhead: Bool
  }

  private(set) var gaps: [Gap] = []

  init(_ manifest: Manifest, _ runs: [UInt64: LogRun]) {
    let rows = manifest.segments.filter { $0.kind == .log && (runs[$0.id] != nil || $0.firstSequence != 0) }
    func first(_ row: SegmentRow) -> UInt64 { runs[row.id]?.first ?? row.firstSequence }
    var expected: UInt64?
    var before: SegmentRow?
    for row in rows.sorted(by: { (first($0), $0.id) < (first($1), $1.id) }) {
      let run = runs[row.id]
      if let known = expected, let before {
        // A segment listed with its own first number may begin with it, if the one before is known to have ended earlier.
        let mayJump = before.state == .sealed && row.firstSequence >= known
        let start = mayJump ? row.firstSequence : known
        if let run {
          // If the manifest gives its first number, what is missing before that was in the segment before.
          let own = run.first < start ? start : min(max(start, row.firstSequence), run.first)
          // Behind a segment that still took records, no merge has taken any either.
          note(start, own, in: before.id, isAhead: false, before.state == .active ? nil : manifest)
          note(own, run.first, in: row.id, isAhead: true, manifest)
        }
        expected = max(known, start)
      } else {
        expected = row.firstSequence == 0 ? run?.first : row.firstSequence
        if let run, let start = expected { note(start, run.first, in: row.id, isAhead: true, manifest) }
      }
      let claimed = row.trustedEnd(in: manifest) == nil ? 0 : row.lastSequence
      if let run { expected = max(expected ?? 0, run.last &+ 1) }
      if let end = expected, claimed >= end {
        // They were in this segment, so no merge has taken them.
        note(end, claimed &+ 1, in: row.id, isAhead: false)
        expected = claimed &+ 1
      }
      before = row
    }
    guard let before, let expected else { return }
    note(expected, manifest.durableSequence &+ 1, in: before.id, isAhead: false, manifest)
  }

  /// Notes that the numbers from `start` up to but not including `end` are missing, unless they were merged.
  ///
  /// - Parameter manifest: Tells which were merged; nil if none can have been.
  private mutating func note(
    _ start: UInt64,
    _ end: UInt64,
    in segment: UInt64,
    isAhead: Bool,
    _ manifest: Manifest? = nil
  ) {
    let start = max(start, manifest.map { $0.mergedThrough &+ 1 } ?? 0)
    guard start < end else { return }
    gaps.append(Gap(numbers: start...end - 1, segment: segment, isAhead: isAhead))
  }
}
