internal import EskerPlatform

/// Keeps what was read from a back from overwriting what was written meanwhile in front of it.
///
/// A writer *enters before it writes* and *leaves after*. A reader takes a ticket before it asks the back; it may fill the front
/// with what it got only if no writer was in flight then and none has entered since. Writers that overlapped cannot know in
/// which order their values reached the two tiers: each of them is told so, and drops the key from the front.
///
/// No lock is held while a writer writes. A fill holds its stripe's, so that no writer enters during it; a fill that finds the
/// stripe taken is dropped, as it may be.
final class Fence: Sendable {
  struct Ticket {
    let stripe: Int
    let generation: UInt64?
  }

  private struct Stripe: ~Copyable {
    let lock = Lock(.fence)
    let state = Guarded<State>(State(), .fenceState)
  }

  private struct State {
    var writers = 0
    var generation: UInt64 = 0
    /// Whether writers overlapped since the stripe was last without any.
    var didOverlap = false
  }

  private final class Box: Sendable {
    let stripe = Stripe()
  }

  private let boxes: [Box]

  init(stripes: Int) {
    boxes = (0..<stripes).map { _ in Box() }
  }

  private func index(_ hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(boxes.count)) }

  /// Called before the back is asked.
  func beginRead(_ hash: Int) -> Ticket {
    let stripe = index(hash)
    return boxes[stripe].stripe.state.withLock { state in
      Ticket(stripe: stripe, generation: state.writers == 0 ? state.generation : nil)
    }
  }

  /// Runs `fill` if nobody has written since the ticket was taken.
  func fill<R>(_ ticket: Ticket, _ fill: () throws(StorageError) -> R) throws(StorageError) -> R? {
    let box = boxes[ticket.stripe]
    guard let generation = ticket.generation, box.stripe.lock.tryLock() else { return nil }
    defer { box.stripe.lock.unlock() }
    guard box.stripe.state.withLock({ $0.writers == 0 && $0.generation == generation }) else { return nil }
    // The front may have a fence of its own.
    return try LockRank.apart { () throws(StorageError) in try fill() }
  }

  /// Called before a write; waits for a fill of the stripe.
  func enterWrite(_ hash: Int) {
    let box = boxes[index(hash)]
    box.stripe.lock.withLock {
      box.stripe.state.withLock { state in
        state.writers += 1
        state.generation += 1
        if state.writers > 1 { state.didOverlap = true }
      }
    }
  }

  /// Called before a write to all keys; waits for the fills of all stripes.
  func enterWriteOfAll() { for stripe in boxes.indices { enterWrite(stripe) } }

  /// Called after a write to all keys; whether another write overlapped with it.
  func didOverlapWriteOfAll() -> Bool { boxes.indices.contains { didOverlap($0) } }

  /// Called last.
  func leaveWriteOfAll() { for stripe in boxes.indices { leaveWrite(stripe) } }

  /// Called after a write; whether another one overlapped with it, so that the key has to be dropped from the front before leaving.
  func didOverlap(_ hash: Int) -> Bool {
    boxes[index(hash)].stripe.state.withLock { $0.didOverlap }
  }

  /// Called last.
  func leaveWrite(_ hash: Int) {
    boxes[index(hash)].stripe.state.withLock { state in
      state.writers -= 1
      if state.writers == 0 { state.didOverlap = false }
    }
  }
}
