import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// One platform call of a workload fails, each in its turn.
@Suite struct EveryCallFailsCrashTests {
  /// What the store must hold: every acknowledged write, and the one that failed either wholly or not at all.
  private struct Model {
    var state: [String: [UInt8]] = [:]
    var durable: [String: [UInt8]] = [:]
  }

  private static let keys = (0..<8).map { "key \($0)" }

  private static func value(_ number: Int) -> [UInt8] {
    Array("\(number) ".utf8) + [UInt8](repeating: 3, count: number % 7 == 0 ? 30_000 : 200)
  }

  @Test(arguments: [PlatformError.noSpace, PlatformError.inputOutput])
  func anErrorAtAnyCallLosesNothing(code: Int32) throws {
    let (calls, _) = try Self.run(code: code, at: .max)
    let span = 1...calls
    var thrown = 0
    for nth in span where try Self.run(code: code, at: nth).threw { thrown += 1 }
    print("EveryCallFails: error \(code) at each of \(calls) calls; \(thrown) runs saw it thrown")
    #expect(thrown > 10)
  }

  /// Runs the workload with the `nth` call failing, and checks the store before and after it is opened again.
  private static func run(code: Int32, at nth: Int) throws -> (calls: Int, threw: Bool) {
    let bench = FaultBench()
    var model = Model()
    bench.plan.fail(nil, nth: nth, .error(code))
    var threw = false
    var store: LogStore?
    for round in 0..<2 {
      do throws(StoreError) {
        let opened = try bench.open(seed: UInt64(round + 1))
        store = opened
        try check(opened, model, "after opening, call \(nth)")
        for step in 0..<11 {
          let failed = try !take(round * 100 + step, on: opened, &model)
          threw = threw || failed
          if failed { try check(opened, model, "after step \(step), call \(nth)") }
        }
      } catch {
        threw = true
      }
      if let opened = store {
        // A store whose close fails is recovered when it is next opened.
        do throws(StoreError) {
          try opened.close()
          model.durable = model.state
        } catch { threw = true }
      }
      store = nil
    }
    let calls = bench.plan.callCount
    // The fault is over: everything that returned is there.
    try bench.killProcess()
    let reopened = try bench.open(seed: 9)
    try check(reopened, model, "reopened, call \(nth)")
    try reopened.put("x", forKey: "x", durability: .synced)
    reopened.probe.kill()
    try bench.cutPower()
    let again = try bench.open(seed: 10)
    #expect(try again.get("x") == Array("x".utf8))
    #expect(try again.verify().isClean)
    again.probe.kill()
    return (calls, threw)
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
      if case .synced = durability { model.durable = changed }
      return true
    } catch {
      // A write that could not be made durable is in the log all the same, wholly; any other changed nothing.
      if store.lastSequence > before { model.state = changed }
      return false
    }
  }

  private static func check(_ store: LogStore, _ model: Model, _ moment: String) throws(StoreError) {
    for key in keys {
      let found = try store.get(key)
      #expect(found == model.state[key], "\(moment): \(key) \(found?.count ?? -1) \(model.state[key]?.count ?? -1)")
    }
    #expect(try store.count() == model.state.count, "\(moment)")
  }
}
