import EskerTestSupport
import Testing

@testable import EskerRemote

@Suite struct VersionClockTests {
  @Test func versionsAreUniqueAndNeverGoBackWhateverTheTime() {
    var random = SeededGenerator(announcedFor: "versionsAreUniqueAndNeverGoBackWhateverTheTime")
    let clock = VersionClock(writer: random.next())
    var last = clock.next(at: 0)
    for _ in 0..<200_000 {
      let next = clock.next(at: UInt64.random(in: 0...50, using: &random))
      #expect(next.isLater(than: last))
      last = next
    }
    // More than a count can tell apart: the time was advanced instead.
    #expect(last.time > 50)
  }

  @Test func whatIsWrittenAfterAReadIsLater() {
    let clock = VersionClock(writer: 1)
    let read = RemoteVersion(time: 10_500, count: 7, writer: 99)
    clock.follow(read, at: 10_000)
    let next = clock.next(at: 10_000)
    #expect(next.time == 10_500 && next.count == 8 && next.writer == 1)
  }

  @Test func aTimeFarAheadIsNotFollowed() {
    let clock = VersionClock(writer: 1)
    clock.follow(RemoteVersion(time: 10_000_000, count: 0, writer: 9), at: 10_000)
    #expect(clock.next(at: 10_000).time == 10_000)
  }

  @Test func serverTimeFollowsTheMonotonicClock() {
    let time = ServerTime(milliseconds: 5_000, at: RemoteInstant(nanoseconds: 1_000_000_000), error: .zero)
    #expect(time.milliseconds(at: RemoteInstant(nanoseconds: 1_250_000_000)) == 5_250)
    #expect(time.milliseconds(at: RemoteInstant(nanoseconds: 750_000_000)) == 4_750)
    #expect(time.milliseconds(at: RemoteInstant(nanoseconds: 0)) == 4_000)
    let end = RemoteInstant(nanoseconds: 5).advanced(by: .seconds(Int64.max))
    #expect(end == .distantFuture)
  }
}
