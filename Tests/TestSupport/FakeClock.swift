import EskerPlatform
import Synchronization

/// A clock that stands still until the test moves it.
public final class FakeClock: SystemClock {
  private let wall: Atomic<Int64>
  private let monotonic: Atomic<UInt64>

  /// Starts at the given readings; the wall clock by default in November 2023.
  public init(wallMilliseconds: Int64 = 1_700_000_000_000, monotonicNanoseconds: UInt64 = 1_000_000_000) {
    wall = Atomic(wallMilliseconds)
    monotonic = Atomic(monotonicNanoseconds)
  }

  /// What the wall clock shows.
  public func wallMilliseconds() -> Int64 { wall.load(ordering: .sequentiallyConsistent) }

  /// What the monotonic clock shows.
  public func monotonicNanoseconds() -> UInt64 { monotonic.load(ordering: .sequentiallyConsistent) }

  /// Lets time pass on both clocks.
  public func advance(milliseconds: Int64) {
    wall.add(milliseconds, ordering: .sequentiallyConsistent)
    monotonic.add(UInt64(milliseconds) * 1_000_000, ordering: .sequentiallyConsistent)
  }

  /// Sets the wall clock, as an administrator would: forwards or back, while the monotonic clock stays.
  public func setWall(milliseconds: Int64) {
    wall.store(milliseconds, ordering: .sequentiallyConsistent)
  }
}
