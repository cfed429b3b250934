import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct ModelTests {
  /// Short histories from one seed until the time is up; each has a seed of its own, so a failure names the history alone.
  @Test(.timeLimit(.minutes(5))) func randomHistoriesAgreeWithADictionary() throws {
    var seeds = SeededGenerator(announcedFor: "randomHistoriesAgreeWithADictionary")
    let clock = OSClock()
    let start = clock.monotonicNanoseconds()
    var count = 0
    var first = seeds.seed
    while count < 2000, clock.monotonicNanoseconds() - start < 25_000_000_000 {
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
