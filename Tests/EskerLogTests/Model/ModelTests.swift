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
  /// How many histories are run.
  private static let count = Rounds.count(1_000, thorough: 30_000)

  /// Short histories from one seed; each has a seed of its own, so a failure names the history alone.
  @Test(.timeLimit(.minutes(600))) func randomHistoriesAgreeWithADictionary() throws {
    var seeds = SeededGenerator(announcedFor: "randomHistoriesAgreeWithADictionary")
    var first = seeds.seed
    for number in 0..<Self.count {
      do {
        var history = try History(seed: first)
        try history.run()
      } catch {
        Issue.record("history \(number), replay with ESKER_SEED=\(first): \(error)")
        return
      }
      // The first history of a run replays with the run's own seed; so does any other, given as ESKER_SEED.
      first = seeds.next() >> 32
    }
  }
}
