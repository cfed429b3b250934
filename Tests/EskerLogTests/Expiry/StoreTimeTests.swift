import Synchronization
import Testing

@testable import EskerLog

/// Store time against clocks that go on between two readings, as they do for a thread that is held up there.
@Suite struct StoreTimeTests {
  /// Clocks of which each reading may take a while.
  private final class SlowClocks: Sendable {
    private let milliseconds = Atomic<Int64>(1_000_000)
    /// What passes after the next reading.
    private let pause = Atomic<Int64>(0)

    var clock: Options.Clock {
      Options.Clock {
        WallTime(millisecondsSince1970: self.read())
      } uptimeNanoseconds: {
        UInt64(self.read()) * 1_000_000
      }
    }

    var now: Int64 { milliseconds.load(ordering: .relaxed) }

    func pauseAfterNextReading() { pause.store(10_000, ordering: .relaxed) }

    private func read() -> Int64 {
      let passing = pause.exchange(0, ordering: .relaxed)
      return milliseconds.add(passing, ordering: .relaxed).oldValue
    }
  }

  @Test func aPauseBetweenTwoReadingsDoesNotBringStoreTimeAhead() {
    let clocks = SlowClocks()
    clocks.pauseAfterNextReading()
    let time = StoreTime(clock: clocks.clock, atLeast: 0)
    #expect(time.now == clocks.now)
    clocks.pauseAfterNextReading()
    #expect(time.now <= clocks.now)
    #expect(time.now == clocks.now)
    #expect(time.takeJump() == nil)
  }

  @Test func aPauseDuringAResetDoesNotBringStoreTimeAhead() {
    let clocks = SlowClocks()
    let time = StoreTime(clock: clocks.clock, atLeast: clocks.now + 1_000_000)
    clocks.pauseAfterNextReading()
    _ = time.reset()
    #expect(time.now == clocks.now)
  }
}
