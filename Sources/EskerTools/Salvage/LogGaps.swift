internal import EskerFormat

/// What was read of a segment of the log.
struct LogRun {
  /// The number of its first record, and where that stands.
  var first: UInt64
  var start: Int
  /// The number of the last record that it has or, by its seal, had; and where the last that was read ends.
  var last: UInt64
  var end: Int
}

/// Finds numbers that are missing between the segments of a log.
///
/// Numbers go on from one segment to the next, but for two reasons: a merge took segments away in between, which the manifest
/// says (`mergedThrough`), or recovery cut history off and went on with higher numbers, which it says too: the segment before
/// is sealed, with its last number, and the next one is listed with its first. Whatever else is missing is lost.
struct LogGaps {
  /// Numbers that are nowhere.
  struct Gap {
    var numbers: ClosedRange<UInt64>
    /// The segment in which, or behind which, they should be.
    var segment: UInt64
    /// Whether they are missing ahead of what was read of it, and not behind.
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
        // What was listed with a number of its own may begin with it behind a segment that is known to have ended before.
        let mayJump = before.state == .sealed && row.firstSequence >= known
        let start = mayJump ? row.firstSequence : known
        if let run {
          // Where the manifest says with which number it begins, what is missing before stood in the one before.
          let own = run.first < start ? start : min(max(start, row.firstSequence), run.first)
          note(start, own, in: before.id, isAhead: false, manifest)
          note(own, run.first, in: row.id, isAhead: true, manifest)
        }
        expected = max(known, start)
      } else {
        expected = row.firstSequence == 0 ? run?.first : row.firstSequence
        if let run, let start = expected { note(start, run.first, in: row.id, isAhead: true, manifest) }
      }
      let claimed = row.state == .sealed || row.recordsEnd != 0 ? row.lastSequence : 0
      if let run { expected = max(expected ?? 0, run.last &+ 1) }
      if let end = expected, claimed >= end {
        note(end, claimed &+ 1, in: row.id, isAhead: false, manifest)
        expected = claimed &+ 1
      }
      before = row
    }
    guard let before, let expected else { return }
    note(expected, manifest.durableSequence &+ 1, in: before.id, isAhead: false, manifest)
  }

  /// Notes that the numbers from one to another, that one not included, are missing, unless merges had them.
  private mutating func note(_ start: UInt64, _ end: UInt64, in segment: UInt64, isAhead: Bool, _ manifest: Manifest) {
    let start = max(start, manifest.mergedThrough &+ 1)
    guard start < end else { return }
    gaps.append(Gap(numbers: start...end - 1, segment: segment, isAhead: isAhead))
  }
}

extension ClosedRange<UInt64> {
  /// The numbers of records, in words.
  var records: String {
    lowerBound == upperBound ? "record #\(lowerBound)" : "records #\(lowerBound) to #\(upperBound)"
  }
}
