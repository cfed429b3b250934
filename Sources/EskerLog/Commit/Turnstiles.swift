internal import EskerPlatform

/// The two places where threads wait for a sync: those whom the one under way covers, and those whom the next one will.
///
/// They change places with each sync that ends. So its end wakes those it served and one of the others, to lead the next,
/// instead of everybody.
struct Turnstiles: ~Copyable {
  private let even = Turnstile()
  private let odd = Turnstile()

  /// Names the sync under way. Read it under the commit queue's lock.
  var turn: UInt32 { even.value }

  /// Sleeps until the sync that was under way at `turn` has ended or, if `isNext`, the one after it; may end early.
  func wait(for turn: UInt32, isNext: Bool) {
    if turn.isMultiple(of: 2) != isNext { even.wait(while: turn) } else { odd.wait(while: turn) }
  }

  /// Ends the turn, so that nobody falls asleep for it any more; returns it. Called under the commit queue's lock.
  func endTurn() -> UInt32 {
    let turn = turn
    even.advance()
    odd.advance()
    return turn
  }

  /// Wakes those who waited for the sync of `turn`, and one of those who wait for the next, or all.
  func wake(after turn: UInt32, everybody: Bool) {
    let isEven = turn.isMultiple(of: 2)
    if isEven || everybody { even.wakeAll() } else { even.wakeOne() }
    if !isEven || everybody { odd.wakeAll() } else { odd.wakeOne() }
  }
}
