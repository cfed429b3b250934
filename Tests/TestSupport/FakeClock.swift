import EskerPlatform
import Synchronization

/// A clock that stands still until the test moves it.
public final class FakeClock: SystemClock {
  private let wall: Atomic<Int64>
  private let monotonic: Atomic<UInt64>

  /// Creates a clock with the given readings; by default the wall clock is in November 2023.
  public init(wallMilliseconds: Int64 = 1_700_000_000_000, monotonicNanoseconds: UInt64 = 1_000_000_000) {
    wall = Atomic(wallMilliseconds)
    monotonic = Atomic(monotonicNanoseconds)
  }

  /// The wall clock's reading.
  public func wallMilliseconds() -> Int64 { wall.load(ordering: .sequentiallyConsistent) }

  /// The monotonic clock's reading.
  public func monotonicNanoseconds() -> UInt64 { monotonic.load(ordering: .sequentiallyConsistent) }

  /// Advances both clocks.
  public func advance(milliseconds: Int64) {
    wall.add(milliseconds, ordering: .sequentiallyConsistent)
    monotonic.add(UInt64(milliseconds) * 1_000_000, ordering: .sequentiallyConsistent)
  }

  /// Sets the wall clock forwards or back, as an administrator would; the monotonic clock is unaffected.
  public func setWall(milliseconds: Int64) {
    wall.store(milliseconds, ordering: .sequentiallyConsistent)
  }
}
