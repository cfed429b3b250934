internal import EskerPlatform

/// The two places where threads wait for a sync: one for threads that the current sync covers, one for threads that the
/// next will cover.
///
/// The two swap roles when a sync ends. So its end wakes the threads it served and one of the others, to lead the next
/// sync, instead of all.
struct Turnstiles: ~Copyable {
  private let even = Turnstile()
  private let odd = Turnstile()

  /// Identifies the current sync. Read it under the commit queue's lock.
  var turn: UInt32 { even.value }

  /// Sleeps until the sync of `turn` has ended or, if `isNext`, the one after it; may return early.
  func wait(for turn: UInt32, isNext: Bool) {
    if turn.isMultiple(of: 2) != isNext { even.wait(while: turn) } else { odd.wait(while: turn) }
  }

  /// Ends the turn and returns it; no thread goes to sleep for it any more. Called under the commit queue's lock.
  func endTurn() -> UInt32 {
    let turn = turn
    even.advance()
    odd.advance()
    return turn
  }

  /// Wakes the threads that waited for the sync of `turn`, and one of those that wait for the next, or all.
  func wake(after turn: UInt32, everybody: Bool) {
    let isEven = turn.isMultiple(of: 2)
    if isEven || everybody { even.wakeAll() } else { even.wakeOne() }
    if !isEven || everybody { odd.wakeAll() } else { odd.wakeOne() }
  }
}
