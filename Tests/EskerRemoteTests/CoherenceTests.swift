import EskerTestSupport
import Testing

@testable import EskerRemote

/// The core against a simulated cluster. `ESKER_SEED` says with which history to begin.
@Suite struct CoherenceTests {
  /// The first seed whose history breaks a promise.
  static func firstViolation(
    _ plant: Plant,
    from first: UInt64,
    _ count: Int,
    _ change: (inout Budget) -> Void = { _ in }
  ) -> (seed: UInt64, text: String)? {
    for offset in 0..<UInt64(count) {
      let world = World(seed: first &+ offset, plant: plant)
      change(&world.budget)
      if !world.run(steps: 120) { return (first &+ offset, world.violation ?? "") }
    }
    return nil
  }

  static func trace(_ plant: Plant, _ seed: UInt64, _ change: (inout Budget) -> Void = { _ in }) -> String {
    let world = World(seed: seed, plant: plant)
    change(&world.budget)
    world.isTracing = true
    _ = world.run(steps: 120)
    return world.trace.prefix(220).joined(separator: "\n")
  }

  @Test func promisesAreKept() {
    let first = SeededGenerator(announcedFor: "promisesAreKept").seed
    let count = Rounds.count(3_000, thorough: 30_000)
    if let found = Self.firstViolation(.none, from: first, count) {
      Issue.record("\(Self.trace(.none, found.seed))\nESKER_SEED=\(found.seed): \(found.text)")
    }
  }

  @Test func ownWritesAreReadWhateverIsServed() {
    let first = SeededGenerator(announcedFor: "ownWritesAreReadWhateverIsServed").seed
    let change: (inout Budget) -> Void = { $0.readsBounded = true }
    if let found = Self.firstViolation(.none, from: first, Rounds.count(2_000, thorough: 20_000), change) {
      Issue.record("\(Self.trace(.none, found.seed, change))\nESKER_SEED=\(found.seed): \(found.text)")
    }
  }

  /// Where to begin, so that it takes little time: where the error was found when this was written.
  static let hints: [Plant: UInt64] = [
    .pingLease: 2_815, .counterVersion: 1_435, .leaseAtReceipt: 4_872, .noRecheck: 466, .persistTrust: 104,
    .unusedReply: 189,
    .forgetOnTimeout: 121, .fillWhileSuspended: 163,
  ]

  /// All but one, which takes a test of its own: it needs five events in an order that is rarely met.
  @Test(arguments: Plant.allCases.filter { $0 != .none && $0 != .noOrder })
  func plantedErrorsAreFound(_ plant: Plant) {
    let found = Self.firstViolation(plant, from: Self.hints[plant] ?? 1, 6_000)
    print("\(plant.rawValue): found by seed \(found?.seed ?? 0): \(found?.text ?? "never")")
    #expect(found != nil)
  }
}
