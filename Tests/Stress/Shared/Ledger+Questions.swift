extension Ledger {
  /// Whether everybody is to come to rest, and the writer to stand still.
  var isResting: Bool { self[.restAsked] != self[.restOver] }

  /// Writes of all threads that were acknowledged so far.
  func writes(_ threads: Int) -> Int {
    (0..<threads).reduce(0) { $0 + Int(done($1)) }
  }

  /// A number in the store that is acknowledged: whoever looks from now on must see everything up to it.
  func acknowledged(_ threads: Int) -> UInt64 {
    (0..<threads).reduce(0) { max($0, sequence(of: done($1), $1).number) }
  }

  /// The writes of a thread that a state of the store may show last.
  ///
  /// Asked after the state was taken; the thread has one write under way at a time.
  ///
  /// - Parameter sequences: the state's number is one of these.
  func lastWrites(shownAt sequences: ClosedRange<UInt64>, _ thread: Int) -> ClosedRange<UInt64> {
    let begun = begun(thread)
    let done = done(thread)
    // The last whose number is surely low enough.
    var sure = (low: UInt64(0), high: done)
    while sure.low < sure.high {
      let middle = (sure.low + sure.high + 1) / 2
      if sequence(of: middle, thread).number <= sequences.lowerBound {
        sure.low = middle
      } else {
        sure.high = middle - 1
      }
    }
    var last = sure.low
    while last < done, lowest(of: last + 1, thread) <= sequences.upperBound { last += 1 }
    if last == done, begun > done { last = begun }
    return sure.low...last
  }

  /// A number in the store that a write is not below.
  func lowest(of number: UInt64, _ thread: Int) -> UInt64 {
    guard number > 0 else { return 0 }
    let found = sequence(of: number, thread)
    return found.isExact ? found.number : sequence(of: number - 1, thread).number + 1
  }
}
