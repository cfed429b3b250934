/// The lines of one bucket, for structural changes by the writer.
///
/// Positions run through the lines: position p is slot p % 7 of line p / 7.
struct Chain {
  private let head: Line
  private var overflow: [(number: UInt64, line: Line)] = []

  /// Follows a bucket's chain; nil if it is damaged.
  init?(bucket: UInt64, in state: IndexState) {
    guard let head = state.bucketLine(bucket) else { return nil }
    self.head = head
    // Five of six chains end here, without an allocation.
    var next = Control.nextLine(head.control)
    while next != 0 {
      guard overflow.count < IndexState.longestChain, let line = state.overflowLine(next, of: bucket) else {
        _ = state.reportDamage()
        return nil
      }
      overflow.append((next, line))
      next = Control.nextLine(line.control)
    }
  }

  var capacity: Int { (1 + overflow.count) * Line.slotCount }
  var overflowNumbers: [UInt64] { overflow.map { $0.number } }
  var overflowCount: Int { overflow.count }

  func line(_ index: Int) -> Line {
    index == 0 ? head : overflow[index - 1].line
  }

  subscript(position: Int) -> UInt64 {
    get { position < Line.slotCount ? head[position] : line(position / Line.slotCount)[position % Line.slotCount] }
    nonmutating set {
      if position < Line.slotCount {
        head[position] = newValue
      } else {
        line(position / Line.slotCount)[position % Line.slotCount] = newValue
      }
    }
  }

  /// One more than the last position with an entry.
  func end() -> Int {
    var end = capacity
    while end > 0 && self[end - 1] == 0 { end -= 1 }
    return end
  }

  /// Makes readers in progress start again. Called between storing an entry in its new place and emptying the old one.
  func bumpVersion() {
    head.control = Control.bumped(head.control)
  }

  /// Unlinks the lines after the first `count` positions, which must be empty.
  mutating func truncate(to count: Int, _ pool: OverflowPool) {
    let kept = Swift.max(0, (count + Line.slotCount - 1) / Line.slotCount - 1)
    guard kept < overflow.count else { return }
    let last = line(kept)
    last.control = Control.withNextLine(last.control, 0)
    for index in kept..<overflow.count { pool.retire(overflow[index].number) }
    overflow.removeLast(overflow.count - kept)
  }
}
