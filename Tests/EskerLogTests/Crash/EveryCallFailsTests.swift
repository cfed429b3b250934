import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// One platform call of a workload fails, each in its turn.
@Suite struct EveryCallFailsCrashTests {
  /// What the store must hold: every acknowledged write, and the one that failed either wholly or not at all.
  private struct Model {
    /// The store after each write, the newest last.
    private(set) var states: [[String: [UInt8]]] = [[:]]
    /// The place in them of the last that was synced.
    private(set) var durable = 0

    var state: [String: [UInt8]] {
      get { states[states.count - 1] }
      set { states.append(newValue) }
    }

    mutating func sync() { durable = states.count - 1 }
  }

  private static let keys = (0..<8).map { "key \($0)" }

  private static func value(_ number: Int) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: 3, count: number % 7 == 0 ? 30_000 : 200)
  }

  /// What fails.
  enum Fault: CaseIterable {
    /// A call, for want of space, or on the device.
    case full, failing
    /// A write of the manifest that is there all the same.
    case writtenManifest

    fileprivate func plant(on plan: FaultPlan, nth: Int) {
      switch self {
      case .full: plan.fail(nil, nth: nth, .error(PlatformError.noSpace))
      case .failing: plan.fail(nil, nth: nth, .error(PlatformError.inputOutput))
      case .writtenManifest:
        plan.fail(.write, on: .prefix("manifest"), nth: nth, .partial(bytes: 1 << 20, code: PlatformError.inputOutput))
      }
    }

    fileprivate func isOf(_ call: FaultCall) -> Bool {
      self != .writtenManifest || call.operation == .write && call.path.contains("manifest")
    }
  }

  @Test(arguments: Fault.allCases) func anErrorAtAnyCallLosesNothing(fault: Fault) throws {
    let (calls, _) = try Self.run(fault, at: .max)
    var thrown = 0
    for nth in 1...calls where try Self.run(fault, at: nth).threw { thrown += 1 }
    print("EveryCallFails: \(fault) at each of \(calls) calls; \(thrown) runs saw it thrown")
    #expect(thrown > 10)
  }

  /// Runs the workload with the `nth` call failing, and checks the store before and after it is opened again.
  private static func run(_ fault: Fault, at nth: Int) throws -> (calls: Int, threw: Bool) {
    let bench = FaultBench()
    var model = Model()
    fault.plant(on: bench.plan, nth: nth)
    let calls = SharedCounter()
    let edits = SharedCounter()
    bench.plan.onCall { call in
      if fault.isOf(call) { calls.add() }
      if Fault.writtenManifest.isOf(call) { edits.add() }
    }
    // What a kill would leave, as late as no edit since the fault has made good for one that is missing.
    var left: (disk: SimulatedDisk, model: Model, edits: Int)?
    var threw = false
    var store: LogStore?
    for round in 0..<2 {
      do {
        let opened = try bench.open(seed: UInt64(round + 1))
        store = opened
        try check(opened, model, "after opening, call \(nth)")
        for step in 0..<11 {
          let failed = try !take(round * 100 + step, on: opened, &model)
          threw = threw || failed
          if failed { try check(opened, model, "after step \(step), call \(nth)") }
          if calls.value >= nth, left.map({ $0.edits == edits.value }) ?? true {
            left = (try bench.disk.processKilled(), model, edits.value)
          }
        }
      } catch is StoreError {
        threw = true
      }
      if let opened = store {
        // Whoever closes a store lists what is there once more, so not twice.
        if round == 0 {
          // A store whose close fails is recovered when it is next opened.
          do throws(StoreError) {
            try opened.close()
            model.sync()
          } catch { threw = true }
        } else {
          opened.probe.kill()
        }
      }
      store = nil
    }
    bench.plan.onCall(nil)
    if let left {
      let other = FaultBench()
      other.disk = left.disk
      let killed = try other.open(seed: 12)
      try check(killed, left.model, "killed after call \(nth)")
      killed.probe.kill()
    }
    try cutPower(on: bench, model, nth)
    // The fault is over: everything that returned is there.
    try bench.killProcess()
    let reopened = try bench.open(seed: 9)
    try check(reopened, model, "reopened, call \(nth)")
    let number = 1_000 * keys.count
    #expect(try take(number + 7, on: reopened, &model))
    #expect(try take(number + 8, on: reopened, &model))
    reopened.probe.kill()
    // The last of them was synced, and so all before it.
    try bench.cutPower()
    let again = try bench.open(seed: 10)
    try check(again, model, "after the power failed, call \(nth)")
    #expect(try again.verify().isClean)
    again.probe.kill()
    return (calls.value, threw)
  }

  /// Were the power cut now, the store would be as it was after one of the writes since the last that was synced.
  private static func cutPower(on bench: FaultBench, _ model: Model, _ nth: Int) throws {
    let other = FaultBench()
    other.disk = try bench.disk.processKilled()
    try other.cutPower()
    let store = try other.open(seed: 11)
    let found = try contents(store)
    #expect(model.states[model.durable...].contains(found), "power cut after call \(nth): \(found.keys.sorted())")
    store.probe.kill()
  }

  /// False when the step threw.
  private static func take(_ number: Int, on store: LogStore, _ model: inout Model) throws(StoreError) -> Bool {
    let key = keys[number % keys.count]
    let other = keys[(number * 3 + 1) % keys.count]
    var changed = model.state
    let durability: Durability = number % 4 == 0 ? .synced : .buffered
    let before = store.lastSequence
    do throws(StoreError) {
      switch number % 6 {
      case 0:
        changed[key] = nil
        try store.remove(key, durability: durability)
      case 1:
        changed[key] = value(number)
        changed[other] = value(number + 1_000)
        try store.write(durability: durability) { (batch) throws(StoreError) in
          try batch.put(value(number), forKey: key)
          try batch.put(value(number + 1_000), forKey: other)
        }
      case 2 where number % 100 == 8:
        store.probe.writeCheckpoint()
      default:
        changed[key] = value(number)
        try store.put(value(number), forKey: key, durability: durability)
      }
      model.state = changed
      if case .synced = durability { model.sync() }
      return true
    } catch {
      // A write that could not be made durable is in the log all the same, wholly; any other changed nothing.
      if store.lastSequence > before { model.state = changed }
      return false
    }
  }

  private static func check(_ store: LogStore, _ model: Model, _ moment: String) throws(StoreError) {
    let found = try contents(store)
    for key in keys where found[key] != model.state[key] {
      Issue.record("\(moment): \(key) \(found[key]?.count ?? -1) \(model.state[key]?.count ?? -1)")
    }
    #expect(try store.count() == model.state.count, "\(moment)")
  }

  private static func contents(_ store: LogStore) throws(StoreError) -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for key in keys { contents[key] = try store.get(key) }
    return contents
  }
}
