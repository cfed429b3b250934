internal import EskerFormat

/// An erasure under way: what is left to do until all that was dead when it began is gone from the files.
///
/// In two rounds. The first copies what is alive from every segment with anything else. Tombstones whose older values were in a segment
/// that came later are copied too; no such value is left then, so the second round drops them.
///
/// Guarded by the lock of merges.
struct Erasure {
  /// The last write that had returned when it began.
  let through: UInt64
  /// When it began, by the monotonic clock.
  let began: UInt64
  /// The segments that are still to be merged in this round.
  private(set) var pending: Set<UInt64>
  /// Those that could not be merged in the first.
  private var leftBefore: Set<UInt64> = []
  private(set) var merged = Report.Merge()
  private var isSecondRound = false
  /// Segments of both rounds, as far as they are known.
  private var total: Int

  init(through: UInt64, at began: UInt64, pending: Set<UInt64>) {
    self.through = through
    self.began = began
    self.pending = pending
    total = pending.count
  }

  /// The share that is done.
  var share: Double { total == 0 ? 1 : 1 - Double(pending.count) / Double(total) }

  /// Those that could not be merged.
  var left: Set<UInt64> { leftBefore.union(pending) }

  /// Notes that segments were merged.
  mutating func finish(_ ids: some Sequence<UInt64>, _ result: MergeResult) {
    pending.subtract(ids)
    merged.add(result)
  }

  /// Begins with the second round; false if it is over.
  mutating func beginSecondRound(with ids: Set<UInt64>) -> Bool {
    guard !isSecondRound else { return false }
    isSecondRound = true
    total += ids.count
    leftBefore = pending
    pending = ids
    return true
  }
}
