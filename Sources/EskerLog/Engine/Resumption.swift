internal import EskerPlatform
internal import Synchronization

/// Where writes wait until a suspended store is resumed. Thread safety: any thread.
final class Resumption: Sendable {
  private let lock = Lock(.leaf)
  private let condition = Condition()
  /// Relaxed: whoever begins to wait at that moment may go by the one before.
  private let patience = Atomic<UInt64>(0)

  /// How long a write waits, in nanoseconds.
  var limit: UInt64 { patience.load(ordering: .relaxed) }

  /// Sets how long writes wait from now on.
  func begin(patience: Duration) { self.patience.store(patience.wholeNanoseconds, ordering: .relaxed) }

  /// Wakes those who wait: the store is resumed, or closed.
  func end() {
    // Whoever has found it suspended is waiting by then, and does not miss this.
    lock.withLock {}
    condition.broadcast()
  }

  /// Waits while the store is suspended; false if it still is after the time.
  func wait(while isSuspended: () -> Bool) -> Bool {
    let limit = limit
    lock.lock()
    defer { lock.unlock() }
    while isSuspended() {
      guard limit > 0, condition.wait(lock, nanoseconds: limit) else { return !isSuspended() }
    }
    return true
  }
}
