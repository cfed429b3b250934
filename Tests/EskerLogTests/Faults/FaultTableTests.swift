import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Every call of a store with every platform call in it failing in its turn; then a kill or a power cut, and a comparison with
/// what the errors promised.
@Suite struct FaultTableCrashTests {
  /// How often the fault comes back.
  enum Extent: CaseIterable {
    case once, tenTimes, always

    func plant(_ plan: FaultPlan, code: Int32, from nth: Int) {
      switch self {
      case .once: plan.fail(nil, nth: nth, .error(code))
      case .tenTimes: for offset in 0..<10 { plan.fail(nil, nth: nth + offset, .error(code)) }
      case .always: plan.fail(nil, nth: nth, sticky: true, .error(code))
      }
    }
  }

  /// Where the first call finds the log.
  enum Beginning: CaseIterable {
    /// The store has not been written to since it was opened.
    case fresh
    /// There is room at the tail.
    case amid
    /// The next record needs another segment.
    case atTheBrim

    private static let past = Expiry.at(WallTime(millisecondsSince1970: 1))

    func prepare(_ store: LogStore, _ host: StoreHost, _ states: inout StateSet) throws {
      guard self != .fresh else { return }
      // Something that is not durable yet.
      try StoreCall.put.perform(100, on: store, host)
      states.returned(.put, 100)
      guard self == .atTheBrim else { return }
      // What a record and the end of a segment take, but for a few bytes.
      let rest = store.probe.tailRoom - 40 - 32
      let filler = [UInt8](repeating: 1, count: max(0, rest - rest % 8))
      try store.put(filler, forKey: "filler", expiry: Self.past)
    }
  }

  /// A disk with a store of some segments that was left open, and a closed one beside it; and what the former holds.
  private struct Start {
    var disk: SimulatedDisk
    var state: StoreState

    init() throws {
      let bench = FaultBench()
      let machine = StoreHost(platform: bench.disk.platform(clock: bench.clock, seed: 5), background: .inline)
      let closed = try LogStore(at: "/closed", options: FaultTableCrashTests.options(bench.clock), host: machine)
      for number in 0..<10 { try closed.put(StoreCall.value(number), forKey: "\(number)") }
      try closed.close()
      let store = try bench.open()
      _ = try store.keyspace("other")
      for number in 0..<12 {
        try StoreCall.put.perform(number, on: store, machine)
        try StoreCall.batch.perform(number, on: store, machine)
      }
      store.probe.writeCheckpoint()
      try store.put("gone", forKey: "expired", expiry: .at(WallTime(millisecondsSince1970: 1)))
      try store.sync()
      state = try StoreState(of: store)
      disk = try bench.disk.processKilled()
      store.probe.kill()
    }
  }

  private static func options(_ clock: FakeClock) -> Options {
    var options = Options()
    options.segmentSize = 64 << 10
    options.clock = .fake(clock)
    return options
  }

  private struct Tally {
    var runs = 0
    var thrown: [String: Int] = [:]

    mutating func count(_ error: StoreError) {
      let text = "\(error)"
      let name =
        switch error {
        case .outcomeUnknown: "outcomeUnknown"
        case .syncFailed: "syncFailed"
        case .noSpace: "noSpace"
        case .failed: "failed"
        case .damaged: "damaged"
        default: text
        }
      thrown[name, default: 0] += 1
    }
  }

  /// Performs a call some times with the fault, and looks what is there afterwards.
  private static func run(
    _ call: StoreCall,
    _ start: Start,
    _ beginning: Beginning,
    code: Int32,
    _ extent: Extent,
    at nth: Int,
    _ generator: inout SeededGenerator,
    _ tally: inout Tally
  ) throws -> Int {
    let moment = "\(call) \(beginning), error \(code) \(extent) at call \(nth), seed \(generator.seed)"
    let bench = FaultBench()
    bench.disk = try start.disk.processKilled()
    let store = try bench.open(seed: 2)
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(bench.disk, plan: bench.plan), clock: bench.clock)
    let host = StoreHost(platform: platform, background: .inline)
    var states = StateSet(start.state)
    try beginning.prepare(store, host, &states)
    let first = bench.plan.callCount
    extent.plant(bench.plan, code: code, from: nth)
    for number in 101..<113 {
      do {
        try call.perform(number, on: store, host)
        states.returned(call, number)
      } catch let error as StoreError {
        tally.count(error)
        states.threw(Promise(of: error, thrownBy: call), call, number)
      }
    }
    let calls = bench.plan.callCount - first
    let seen = try StoreState(of: store)
    #expect(states.afterKill.contains(seen), "\(moment): in the process, \(seen)")
    // Some end in order, or try to.
    if generator.oneIn(3) {
      if (try? store.close()) != nil { states.settled() }
    } else {
      store.probe.kill()
    }
    tally.runs += 1
    try check(bench, states, isKill: true, moment, &generator)
    try check(bench, states, isKill: false, moment, &generator)
    return calls
  }

  /// Looks at the store after a kill or a power cut, then writes to it and looks again after another.
  static func check(
    _ bench: FaultBench,
    _ states: StateSet,
    isKill: Bool,
    _ moment: String,
    _ generator: inout SeededGenerator
  ) throws {
    let other = FaultBench()
    let policy = [CrashPolicy.drop, .tear, .reorder, .keep][Int.random(in: 0..<4, using: &generator)]
    other.disk = isKill ? try bench.disk.processKilled() : try bench.disk.crashImage(policy, using: &generator)
    let moment = "\(moment), then \(isKill ? "a kill" : "a power cut (\(policy))")"
    let store: LogStore
    do { store = try other.open(seed: 3) } catch {
      Issue.record("\(moment): does not open: \(error)")
      return
    }
    var found = try StoreState(of: store)
    let allowed = isKill ? states.afterKill : states.afterPowerCut
    #expect(allowed.contains(found), "\(moment): found \(found), and \(allowed) were possible")
    try store.put("1 ", forKey: "after", durability: .synced)
    found.entries["/after"] = 1
    #expect(try store.verify().isClean, "\(moment)")
    store.probe.kill()
    try other.cutPower(.drop, seed: generator.next())
    let again = try other.open(seed: 4)
    #expect(try StoreState(of: again) == found, "\(moment), and another")
    again.probe.kill()
  }

  @Test(arguments: StoreCall.allCases)
  func whatACallThrowsIsTrue(of call: StoreCall) throws {
    var sweep = Sweep(announcedFor: "FaultTableCrashTests, \(call)")
    let start = try Start()
    var tally = Tally()
    var generator = sweep.split()
    var total = 0
    for beginning in Beginning.allCases {
      let calls = try Self.run(call, start, beginning, code: 5, .once, at: .max / 2, &generator, &tally)
      #expect(tally.runs > 1 || tally.thrown == [:])
      total += calls
      for code in [PlatformError.inputOutput, PlatformError.noSpace] {
        for extent in Extent.allCases {
          for nth in sweep.points(of: max(1, calls), atMost: 3) {
            var generator = sweep.split()
            _ = try Self.run(call, start, beginning, code: code, extent, at: nth, &generator, &tally)
          }
        }
      }
    }
    print("FaultTable: \(call), \(total) platform calls, \(tally.runs) runs: \(tally.thrown)")
    // An export and a verification report what they cannot read, or need no call that can fail.
    #expect(total > 0 || call == .export)
  }

  @Test func whatAnOpeningOrAClosingThrowsIsTrue() throws {
    var sweep = Sweep(announcedFor: "FaultTableCrashTests, opening and closing")
    let start = try Start()
    var (openings, closings) = (0, 0)
    for code in [PlatformError.inputOutput, PlatformError.noSpace] {
      for extent in Extent.allCases {
        for nth in sweep.points(of: 160, atMost: 16) {
          var generator = sweep.split()
          let bench = FaultBench()
          bench.disk = try start.disk.processKilled()
          extent.plant(bench.plan, code: code, from: nth)
          var states = StateSet(start.state)
          do throws(StoreError) {
            let store = try bench.open(seed: 2)
            defer { store.probe.kill() }
            do throws(StoreError) {
              try store.put(StoreCall.value(100), forKey: "key 0")
              states.returned(.put, 100)
            } catch { states.threw(Promise(of: error, thrownBy: .put), .put, 100) }
            do throws(StoreError) {
              try store.close()
              states.settled()
            } catch { closings += 1 }
          } catch { openings += 1 }
          let moment = "error \(code) \(extent) at call \(nth), seed \(generator.seed)"
          try Self.check(bench, states, isKill: true, moment, &generator)
          try Self.check(bench, states, isKill: false, moment, &generator)
        }
      }
    }
    print("FaultTable: \(openings) openings and \(closings) closings failed")
    #expect(openings > 0 && closings > 0)
  }
}
