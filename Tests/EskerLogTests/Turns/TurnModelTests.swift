import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Several stores on the same files, of which one may write at a time: they are suspended, resumed, killed, closed and opened at random,
/// and do anything in their turn. Each shows what all of them have written, and a crash at any moment leaves no less than one of a store
/// that has its files to itself.
@Suite struct TurnModelTests {
  @Test(arguments: [nil, 512 << 10], [Options.Sharing.exclusive, .inTurn()])
  func whoeverHasTheTurnGoesOnWhereTheLastOneStopped(capacity: Int?, sharing: Options.Sharing) throws {
    var seeds = SeededGenerator(announcedFor: "TurnModelTests, capacity \(capacity ?? 0), \(sharing)")
    var quick = 0
    for number in 0..<Rounds.count(6, thorough: 1_000) {
      let generator = number == 0 ? seeds : seeds.split()
      let session = Session(generator, capacity, sharing)
      do { try session.run() } catch {
        Issue.record("seed \(generator.seed): \(error)")
        return
      }
      quick += session.quick
    }
    // Without a look for the end of the log, and without an edit of the manifest.
    if sharing != .exclusive { #expect(quick > 0) }
  }

  /// A segment that another process had begun with, and left empty.
  @Test(arguments: [3_764_943_821 as UInt64])
  func historiesThatFoundMistakes(seed: UInt64) throws {
    try Session(SeededGenerator(seed: seed), nil, .inTurn()).run()
  }
}

extension TurnModelTests {
  private final class Session {
    private static let stepCount = 200
    private static let mostStores = 3

    private let bench: CrashRun
    private let isTold: Bool
    /// How many turns went on in the tail that another one had left.
    private(set) var quick = 0
    private var workload: CrashWorkload
    private var generator: SeededGenerator
    /// Those that are suspended.
    private var resting: [LogStore] = []
    /// Snapshots, what they showed when they were taken, and when that was.
    private var snapshots: [(snapshot: Snapshot, contents: [String: [[UInt8]: [UInt8]]], step: Int)] = []
    /// What was done, for a message.
    private var trail: [String] = []

    init(_ generator: SeededGenerator, _ capacity: Int?, _ sharing: Options.Sharing) {
      var generator = generator
      let clock = FakeClock()
      isTold = sharing == .exclusive
      bench = CrashRun(
        disk: SimulatedDisk(),
        clock: clock,
        history: CrashHistory(),
        generator: generator.split(),
        points: .one(after: Int.random(in: 0..<4_000, using: &generator)),
        tally: CrashRun.Tally(),
        capacity: capacity,
        trail: "",
        depth: 0
      )
      bench.sharing = sharing
      workload = CrashWorkload(generator: generator.split(), clock: clock, capacity: capacity)
      self.generator = generator
    }

    func run() throws {
      var writer = try bench.open()
      defer {
        // They refer to the bench.
        for store in resting + [writer] { store.probe.kill() }
      }
      for step in 0..<Self.stepCount {
        let next = workload.next()
        trail.append("\(next)".prefix(40).description)
        do { try bench.take(next, on: &writer) } catch { throw wrong("\(error)") }
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<3: try restAndGoOn(&writer)
        case 3..<9: try handOver(&writer)
        case 9: try kill(&writer)
        case 10: try close(&writer)
        case 11: try endOne()
        case 20 where !isTold && resting.count < Self.mostStores:
          trail.append("open beside")
          resting.append(try bench.open())
          try compare(resting[resting.count - 1], "opened beside a writer")
        case 12..<16: try look(writer)
        case 16:
          trail.append("snapshot")
          let store = resting.randomElement(using: &generator) ?? writer
          let snapshot = try store.snapshot()
          snapshots.append((snapshot, try contents(of: snapshot), step))
        case 17: try checkSnapshots()
        case 18:
          trail.append("spare")
          writer.probe.prepareSpare()
        case 19:
          trail.append("crash")
          try bench.crashNow(CrashRun.Crash.allCases[Int.random(in: 0..<5, using: &generator)])
        default: break
        }
      }
      try checkSnapshots()
      snapshots = []
      for store in resting { try store.close() }
      try bench.compare(writer, with: bench.history, "at the end")
      try writer.close()
      if let failure = bench.failure { throw failure }
    }

    // MARK: Turns

    /// The writer lets go, and nobody else comes.
    private func restAndGoOn(_ writer: inout LogStore) throws {
      trail.append("rest")
      try letGo(writer)
      if generator.oneIn(3) { try look(writer) }
      try isTold ? writer.resume() : writer.probe.takeTurn()
      try compare(writer, "after a rest")
    }

    /// The writer lets go, and another one writes.
    private func handOver(_ writer: inout LogStore) throws {
      try letGo(writer)
      resting.append(writer)
      let (generation, segments) = (writer.probe.generation, writer.probe.tailID)
      try takeTurn(&writer)
      if writer.probe.generation == generation, segments != nil, writer.probe.tailID == segments { quick += 1 }
    }

    private func letGo(_ store: LogStore) throws {
      guard isTold else { return store.probe.handOver() }
      try store.suspend()
      try expectRefusal(store)
    }

    private func takeTurn(_ writer: inout LogStore) throws {
      if resting.count < Self.mostStores, resting.isEmpty || generator.oneIn(4) {
        trail.append("open")
        writer = try bench.open()
      } else {
        let number = Int.random(in: 0..<resting.count, using: &generator)
        trail.append("resume \(number)")
        writer = resting.remove(at: number)
        try isTold ? writer.resume() : writer.probe.takeTurn()
      }
      try compare(writer, "in its turn")
    }

    private func kill(_ writer: inout LogStore) throws {
      trail.append("kill")
      snapshots = []
      writer.probe.kill()
      try takeTurn(&writer)
    }

    private func close(_ writer: inout LogStore) throws {
      trail.append("close")
      snapshots = []
      try writer.close()
      bench.history.settle(0, isDurable: true)
      try takeTurn(&writer)
    }

    /// A suspended store ends, in one way or the other.
    private func endOne() throws {
      guard let number = resting.indices.randomElement(using: &generator) else { return }
      trail.append("end \(number)")
      snapshots = []
      let store = resting.remove(at: number)
      if generator.oneIn(2) { store.probe.kill() } else { try store.close() }
    }

    // MARK: What they show

    /// A suspended store, or one of them, reads what the others wrote.
    private func look(_ store: LogStore) throws {
      let store = resting.randomElement(using: &generator) ?? store
      trail.append("look")
      if generator.oneIn(2) {
        try store.refresh()
      } else {
        // As reads do, once in a while.
        bench.clock.advance(milliseconds: 2)
        _ = try store.get("")
      }
      try compare(store, "while it looks")
    }

    private func compare(_ store: LogStore, _ moment: String) throws {
      do { try bench.compare(store, with: bench.history, moment, verifies: generator.oneIn(5)) } catch {
        throw wrong("\(error)")
      }
    }

    private func expectRefusal(_ store: LogStore) throws {
      do throws(StoreError) { try store.put("refused", forKey: "refused") } catch {
        guard error == .suspended(path: bench.path) else { throw wrong("a write while suspended: \(error)") }
        return
      }
      throw wrong("a suspended store was written to")
    }

    private func contents(of snapshot: Snapshot) throws -> [String: [[UInt8]: [UInt8]]] {
      var contents: [String: [[UInt8]: [UInt8]]] = [:]
      for name in CrashHistory.keyspaces { contents[name] = try snapshot.contents(of: name) }
      return contents
    }

    private func checkSnapshots() throws {
      for (snapshot, before, step) in snapshots where try contents(of: snapshot) != before {
        throw wrong("a snapshot of step \(step) shows something else")
      }
      if snapshots.count > 3 { snapshots.removeFirst() }
    }

    private func wrong(_ what: String) -> CrashFailure {
      CrashFailure(description: "\(what) after \(trail.suffix(60).joined(separator: ", "))")
    }
  }
}
