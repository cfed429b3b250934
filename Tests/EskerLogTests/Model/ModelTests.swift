import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite struct ModelTests {
  /// `ESKER_HISTORIES` says how many histories are run however long it takes; without it they end after some seconds.
  private static let wanted = getenv("ESKER_HISTORIES").flatMap { Int(String(cString: $0)) }

  /// Short histories from one seed until the time is up; each has a seed of its own, so a failure names the history alone.
  @Test(.timeLimit(.minutes(60))) func randomHistoriesAgreeWithADictionary() throws {
    var seeds = SeededGenerator(announcedFor: "randomHistoriesAgreeWithADictionary")
    let clock = OSClock()
    let start = clock.monotonicNanoseconds()
    var count = 0
    var first = seeds.seed
    while count < Self.wanted ?? 2000, Self.wanted != nil || clock.monotonicNanoseconds() - start < 25_000_000_000 {
      do {
        var history = try History(seed: first)
        try history.run()
      } catch {
        Issue.record("history \(count), replay with ESKER_SEED=\(first): \(error)")
        return
      }
      count += 1
      // The first history of a run replays with the run's own seed; so does any other, given as ESKER_SEED.
      first = seeds.next() >> 32
    }
    print("randomHistoriesAgreeWithADictionary: \(count) histories")
    #expect(count > 10)
  }
}
