import EskerLog
import EskerPlatform
import Synchronization

/// What a task finds, for the thread that waits for it.
final class TaskAnswer: Sendable {
  typealias Found = Result<LogChange?, StoreError>

  private let lock = Lock(.leaf)
  private let isThere = Condition()
  private let found = Mutex<Found?>(nil)

  /// Ends the wait.
  func give(_ answer: Found) {
    lock.lock()
    defer { lock.unlock() }
    found.withLock { $0 = answer }
    isThere.signal()
  }

  /// Waits as long as it takes.
  func wait() -> Found {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let answer = found.withLock({ $0 }) { return answer }
      isThere.wait(lock)
    }
  }

  /// Waits for some time; nil if nothing was found in that.
  func wait(milliseconds: Int64) -> Found? {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let answer = found.withLock({ $0 }) { return answer }
      let left = (end - ContinuousClock.now) / .nanoseconds(1)
      guard left > 0 else { return nil }
      // An hour at a time, which every clock can express.
      _ = isThere.wait(lock, nanoseconds: UInt64(min(left, 3_600e9)))
    }
  }
}
