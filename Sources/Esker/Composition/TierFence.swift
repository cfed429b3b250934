internal import EskerPlatform
internal import Synchronization

/// Keeps what was read from a back from overwriting what was written meanwhile in front of it.
///
/// A writer *enters before it writes* and *leaves after*. A reader takes a ticket before it asks the back; it may fill the front
/// with what it got only if no writer was in flight then and none has entered since, and counts as a writer while it does. Writers
/// that overlapped cannot know in which order their values reached the two tiers: each of them learns of it, and drops the key from
/// the front before it leaves. So the last thing that any of them does to the front is to drop the key. Until the last has left, the
/// front may show what is older than a write that has returned, so readers pass it over.
///
/// Nobody waits for anybody: a fill or a write may take its time, and may write to the same storage from within.
final class TierFence: Sendable {
  struct Ticket {
    fileprivate let stripe: Int
    fileprivate let generation: UInt64?
  }

  private struct State {
    var writers = 0
    var generation: UInt64 = 0
    /// Whether writers overlapped since the stripe was last without any.
    var didOverlap = false

    /// Whether it is the first to overlap.
    mutating func enter() -> Bool {
      writers += 1
      generation += 1
      defer { if writers > 1 { didOverlap = true } }
      return writers > 1 && !didOverlap
    }
  }

  private final class Stripe: Sendable {
    let state = Guarded<State>(State(), .fence)
  }

  private let stripes: [Stripe]
  /// Stripes whose writers overlapped.
  private let overlaps = Atomic<Int>(0)

  init(stripes: Int) {
    self.stripes = (0..<stripes).map { _ in Stripe() }
  }

  private func index(_ hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(stripes.count)) }

  /// Called before the back is asked.
  func beginRead(_ hash: Int) -> Ticket {
    let stripe = index(hash)
    return stripes[stripe].state.withLock { state in
      Ticket(stripe: stripe, generation: state.writers == 0 ? state.generation : nil)
    }
  }

  /// Called before a fill; false if somebody has written since the ticket was taken. If not, the fill is a write like any other.
  func enterFill(_ ticket: Ticket) -> Bool {
    stripes[ticket.stripe].state.withLock { state in
      guard state.writers == 0, state.generation == ticket.generation else { return false }
      // Nobody is there to overlap with.
      _ = state.enter()
      return true
    }
  }

  /// Whether any writers overlap at present: one load, where keys have to be hashed to know more.
  var hasOverlaps: Bool { overlaps.load(ordering: .acquiring) != 0 }

  /// Called before a write.
  func enterWrite(_ hash: Int) {
    stripes[index(hash)].state.withLock { state in
      if state.enter() { overlaps.add(1, ordering: .releasing) }
    }
  }

  /// Called after a write; whether another one overlapped with it, so that the key has to be dropped from the front before leaving.
  func didOverlap(_ hash: Int) -> Bool { stripes[index(hash)].state.withLock { $0.didOverlap } }

  /// Called last.
  func leaveWrite(_ hash: Int) {
    stripes[index(hash)].state.withLock { state in
      state.writers -= 1
      guard state.writers == 0, state.didOverlap else { return }
      state.didOverlap = false
      overlaps.subtract(1, ordering: .releasing)
    }
  }

  /// Called before a write to all keys.
  func enterWriteOfAll() { for stripe in stripes.indices { enterWrite(stripe) } }

  /// Called after a write to all keys; whether another write overlapped with it.
  func didOverlapWriteOfAll() -> Bool { stripes.indices.contains { didOverlap($0) } }

  /// Called last.
  func leaveWriteOfAll() { for stripe in stripes.indices { leaveWrite(stripe) } }
}
