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

@Suite(.serialized) struct CrashSweepTests {
  /// `ESKER_CRASH_SEEDS` says how many workloads are run, `ESKER_SEED` from which number on.
  private static let seedCount = getenv("ESKER_CRASH_SEEDS").flatMap { Int(String(cString: $0)) } ?? 2
  private static let stepCount = 36

  @Test func everyCrashPointLeavesAPrefixThatHoldsAllThatWasAcknowledged() throws {
    var seeds = SeededGenerator(announcedFor: "CrashSweepTests")
    let tally = CrashRun.Tally()
    let start = ContinuousClock.now
    for number in 0..<Self.seedCount {
      let generator = number == 0 ? seeds : seeds.split()
      do { try Self.sweep(generator, tally) } catch {
        Issue.record("seed \(generator.seed): \(error)")
        break
      }
    }
    print(
      "CrashSweepTests: \(Self.seedCount) workloads, \(tally.points) crash points, \(tally.images) images, "
        + "\(tally.secondCrashes) went on, at most \(tally.deepest) crashes in a row, \(ContinuousClock.now - start)"
    )
    #expect(tally.points > 100)
  }

  private static func sweep(_ generator: SeededGenerator, _ tally: CrashRun.Tally) throws {
    let clock = FakeClock()
    let run = CrashRun(
      disk: SimulatedDisk(),
      clock: clock,
      history: CrashHistory(),
      generator: generator,
      points: .all,
      tally: tally,
      trail: "",
      depth: 0
    )
    var workload = CrashWorkload(generator: run.generator.split(), clock: clock)
    var store = try run.open()
    for _ in 0..<stepCount { try run.take(workload.next(), on: &store) }
    try run.compare(store, with: run.history, "at the end")
    try store.close()
    if let failure = run.failure { throw failure }
  }
}
