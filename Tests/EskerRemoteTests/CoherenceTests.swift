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
    .pingLease: 3_336, .counterVersion: 3_717, .leaseAtReceipt: 4_872, .noRecheck: 1_212, .persistTrust: 104,
    .unusedReply: 1_821, .forgetOnTimeout: 365, .fillWhileSuspended: 1_782, .keepEpoch: 115, .noKill: 184,
  ]

  /// A server stops between a write and the end of its event loop. When it goes on it answers a question that was asked meanwhile, and
  /// tells of the write behind that.
  @Test(arguments: [Plant.none, .leaseFromQuestion])
  func whatAStoppedServerDidNotTellIsServedForOneLease(_ plant: Plant) throws {
    let world = try #require((0..<100).lazy.map { World(seed: $0, plant: plant) }.first { $0.processes.count == 2 })
    let (reader, writer) = (world.processes[0], world.processes[1])
    world.calm()
    writer.write(0, isScript: false, isRemoval: false)
    world.calm()
    reader.read(0)
    world.calm()
    let node = world.authority[0]
    let toReader = try #require(reader.store.connections[node])
    reader.store.heartbeat(toReader)
    world.calm()
    world.flush(node)
    #expect(reader.trusted(0) != nil)

    writer.write(0, isScript: false, isRemoval: false)
    let toWriter = try #require(writer.store.connections[node])
    while world.connections[toWriter]?.out.isEmpty == false { world.execute(toWriter) }
    world.nodes[node].isStopped = true
    world.pass(1_000)
    reader.store.heartbeat(toReader)
    world.nodes[node].isStopped = false
    world.exchange(toReader)
    #expect(reader.trusted(0) != nil, "by the lease before")
    world.pass(600)
    reader.read(0)
    #expect((world.violation == nil) == (plant == .none), "\(world.violation ?? "kept")")
  }

  /// All but two, which take tests of their own: they need several events in an order that is rarely met.
  @Test(arguments: Plant.allCases.filter { ![.none, .noOrder, .leaseFromQuestion].contains($0) })
  func plantedErrorsAreFound(_ plant: Plant) {
    let found = Self.firstViolation(plant, from: Self.hints[plant] ?? 1, 6_000)
    print("\(plant.rawValue): found by seed \(found?.seed ?? 0): \(found?.text ?? "never")")
    #expect(found != nil)
  }
}
