import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct CrashSweepTests {
  /// How many workloads are run. Where the manifest's first copy was not synced before the second was written, two of four found it.
  private static let seedCount = Rounds.count(6, thorough: 30)
  private static let stepCount = 36

  @Test func everyCrashPointLeavesAPrefixThatHoldsAllThatWasAcknowledged() throws {
    try Self.sweep(announcedFor: "CrashSweepTests", Self.seedCount)
  }

  /// The store evicts: what is there is the newest, and nothing else is wrong.
  /// The larger one has spares.
  @Test(arguments: [256 << 10, 1 << 20]) func everyCrashPointOfACacheLeavesTheNewestOrNothing(capacity: Int) throws {
    try Self.sweep(announcedFor: "CrashSweepTests of a cache", Rounds.count(1, thorough: 5), capacity: capacity)
  }

  private static func sweep(announcedFor name: String, _ count: Int, capacity: Int? = nil) throws {
    var seeds = SeededGenerator(announcedFor: name)
    let tally = CrashRun.Tally()
    let start = ContinuousClock.now
    for number in 0..<count {
      let generator = number == 0 ? seeds : seeds.split()
      do { try Self.sweep(generator, tally, capacity) } catch {
        Issue.record("seed \(generator.seed): \(error)")
        break
      }
    }
    print(
      "\(name): \(count) workloads, \(tally.points) crash points, \(tally.images) images, "
        + "\(tally.replaced) records replaced, \(tally.evicted) evicted, "
        + "\(tally.secondCrashes) went on, at most \(tally.deepest) crashes in a row, \(ContinuousClock.now - start)"
    )
    #expect(tally.points > 100)
  }

  private static func sweep(_ generator: SeededGenerator, _ tally: CrashRun.Tally, _ capacity: Int?) throws {
    let clock = FakeClock()
    let run = CrashRun(
      disk: SimulatedDisk(),
      clock: clock,
      history: CrashHistory(),
      generator: generator,
      points: .all,
      tally: tally,
      capacity: capacity,
      trail: "",
      depth: 0
    )
    var workload = CrashWorkload(generator: run.generator.split(), clock: clock, capacity: capacity)
    // A store that is to become full does so sooner if no record takes the room of another.
    var store = try run.open(reusesSpace: capacity == nil ? nil : false)
    if capacity != nil {
      // Not worth a look before it is full. Some workloads write so little that lasts that they never fill it.
      try run.withoutLooking {
        var steps = 0
        while store.statistics.merged.recordsEvicted == 0, steps < 20_000 {
          try run.take(workload.next(), on: &store)
          steps += 1
        }
        try run.take(.reopen, on: &store)
      }
    }
    for _ in 0..<(capacity == nil ? stepCount : 2 * stepCount) {
      let before = store.statistics.merged.recordsEvicted
      try run.take(workload.next(), on: &store)
      tally.evicted += max(0, store.statistics.merged.recordsEvicted - before)
    }
    try run.compare(store, with: run.history, "at the end")
    try store.close()
    if let failure = run.failure { throw failure }
  }
}
