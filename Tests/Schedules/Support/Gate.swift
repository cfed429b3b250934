import EskerPlatform

/// Where threads stop until it is opened.
///
/// Safety: what changes is guarded by `lock`.
final class Gate: @unchecked Sendable {
  private let lock = Lock(.unranked)
  private let condition = Condition()
  private var isReached = false
  private var isOpen = false

  /// Waits until the gate is open.
  func pass() {
    change { isReached = true }
    wait { isOpen }
  }

  func open() { change { isOpen = true } }

  /// Waits until somebody has come to the gate.
  func awaitReached() { wait { isReached } }

  private func change(_ body: () -> Void) {
    lock.lock()
    body()
    lock.unlock()
    condition.broadcast()
  }

  private func wait(until isSo: () -> Bool) {
    lock.lock()
    while !isSo() { condition.wait(lock) }
    lock.unlock()
  }
}

extension Platform {
  /// Stops the calling thread, as a debugger would: until nobody else can go on any more, or an order says so.
  static func stopForLong() {
    let lock = Lock(.unranked)
    let condition = Condition()
    lock.lock()
    _ = condition.wait(lock, nanoseconds: 3_600_000_000_000)
    lock.unlock()
  }
}
