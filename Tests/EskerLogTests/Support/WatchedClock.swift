import EskerPlatform
import EskerTestSupport

/// A clock that tells a test when it is read: a moment within a call, in which others may do something.
final class WatchedClock: SystemClock {
  private let clock: FakeClock
  private let hook = Guarded<(@Sendable () -> Void)?>(nil)

  init(_ clock: FakeClock) {
    self.clock = clock
  }

  /// Sets or clears what happens before each reading of the monotonic clock, on the thread that reads it.
  func onReading(_ body: (@Sendable () -> Void)?) { hook.withLock { $0 = body } }

  func wallMilliseconds() -> Int64 { clock.wallMilliseconds() }

  func monotonicNanoseconds() -> UInt64 {
    if let body = hook.withLock({ $0 }) { LockRank.apart(body) }
    return clock.monotonicNanoseconds()
  }

  /// Is not watched: it is read wherever a write goes on.
  func coarseNanoseconds() -> UInt64 { clock.monotonicNanoseconds() }
}
