import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A device that fails one sync, takes the pages for written, and heals.
@Suite struct FailedSyncCrashTests {
  private static let lie = FaultEffect.failedSync(code: 5, marksPagesClean: true)

  enum Target: String, CaseIterable {
    case log = "segment"
    case manifest
    case checkpoint
    case directory

    func fail(_ plan: FaultPlan, nth: Int) {
      switch self {
      case .log: plan.fail(.sync, on: .suffix(".segment"), nth: nth, FailedSyncCrashTests.lie)
      case .manifest: plan.fail(.sync, on: .prefix("manifest"), nth: nth, FailedSyncCrashTests.lie)
      case .checkpoint: plan.fail(.sync, on: .prefix("checkpoint"), nth: nth, FailedSyncCrashTests.lie)
      case .directory: plan.fail(.syncDirectory, nth: nth, FailedSyncCrashTests.lie)
      }
    }
  }

  /// Writes with every kind of sync in it: of the log, across rotations, of new segments, footers, checkpoint and manifest.
  ///
  /// What is acknowledged as durable goes to `durable`, what returned goes to `returned`.
  private final class Book {
    var durable: [String: UInt64] = [:]
    var returned: [String: UInt64] = [:]
    var next: UInt64 = 0

    static func value(_ number: UInt64) -> [UInt8] {
      Array("\(number) ".utf8) + [UInt8](repeating: 7, count: Int(number % 5) * 2_500)
    }

    func write(_ count: Int, to store: LogStore, syncing: Bool) throws(StoreError) {
      for _ in 0..<count {
        next += 1
        let key = "key \(next % 20)"
        let isSynced = syncing && next.isMultiple(of: 3)
        try store.put(Self.value(next), forKey: key, durability: isSynced ? .synced : .buffered)
        returned[key] = next
        if isSynced { durable = returned }
        if next.isMultiple(of: 17) { store.probe.writeCheckpoint() }
      }
    }

    func sync(_ store: LogStore) throws(StoreError) {
      try store.sync()
      durable = returned
    }

    /// Every key has at least the version in `least`, and no value that was never written.
    func check(_ store: LogStore, least: [String: UInt64]) throws {
      for (key, number) in least {
        let bytes = try store.get(key) ?? []
        let found = UInt64(String(decoding: bytes.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
        #expect(found >= number, "\(key) is \(found), and \(number) was acknowledged")
        #expect(bytes == Self.value(found))
      }
    }
  }

  @Test(arguments: Target.allCases, [false, true])
  func aFailedSyncIsNeverForgotten(target: Target, closes: Bool) throws {
    var failures = 0
    for nth in 1...40 {
      let bench = FaultBench()
      let book = Book()
      var store = try bench.open()
      try book.write(6, to: store, syncing: true)
      target.fail(bench.plan, nth: nth)
      var refused: StoreError?
      do throws(StoreError) { try book.write(120, to: store, syncing: true) } catch { refused = error }
      let failed = bench.reported.contains { if case .syncFailed = $0 { true } else { false } }
      if failed {
        failures += 1
        let durable = store.durableSequence
        // Whatever the operation that met the failure said, from now on all say why.
        #expect(throws: StoreError.syncFailed(errno: 5)) { try store.put("x", forKey: "x") }
        #expect(throws: StoreError.syncFailed(errno: 5)) { try store.remove("key 1") }
        #expect(throws: StoreError.syncFailed(errno: 5)) {
          try store.write { batch in try batch.put("x", forKey: "x") }
        }
        #expect(store.durableSequence == durable)
        try book.check(store, least: book.durable)
      } else if refused == nil {
        // There were fewer syncs than that.
        break
      }
      if closes { try? store.close() } else { store.probe.kill() }
      try bench.killProcess()
      store = try bench.open(seed: 2)
      // In the same boot nothing that returned is missing.
      try book.check(store, least: book.returned)
      try book.write(3, to: store, syncing: false)
      try book.sync(store)
      store.probe.kill()
      try bench.cutPower(.drop)
      store = try bench.open(seed: 3)
      try book.check(store, least: book.durable)
      #expect(try store.verify().damage.filter { !$0.location.path.contains("manifest") } == [])
      #expect(bench.damage.allSatisfy { "\($0)".contains("manifest") }, "\(target) \(nth): \(bench.damage)")
      try store.close()
    }
    #expect(failures > 0)
  }

  /// The kernel drops a page that it could not write, between the two looks that a recovery takes.
  @Test(arguments: 0..<4, [false, true])
  func aRecordThatCannotBeReadTwiceIsNotLostInSilence(lost: Int, isFull: Bool) throws {
    let bench = FaultBench()
    var store = try bench.open()
    try store.put("v", forKey: "durable", durability: .synced)
    bench.plan.fail(.sync, on: .suffix(".segment"), Self.lie)
    for number in 0..<4 { try store.put([UInt8](repeating: 7, count: 20), forKey: "key \(number)") }
    #expect(throws: StoreError.self) { try store.sync() }
    store.probe.kill()
    try bench.killProcess()
    let name = try #require(try bench.names.first { $0.hasSuffix(".segment") })
    let key = Array("key \(lost)".utf8)
    let content = try bench.bytes(name)
    let place = try #require(content.indices.first { content[$0...].starts(with: key) })
    let file = try bench.disk.open("\(bench.path)/\(name)", .readWrite)
    defer { file.close() }
    if isFull { bench.plan.fail(.create, on: .suffix(".segment"), sticky: true, .error(PlatformError.noSpace)) }
    bench.plan.onCall { call in
      guard call.operation == .create, call.path.hasSuffix(".segment") else { return }
      // The record's header stands before its key.
      try? file.writeAll([UInt8](repeating: 0, count: 32), at: place - 32)
    }
    #expect(throws: StoreError.failed(operation: "read", path: "\(bench.path)/\(name)", errno: 5)) {
      try bench.open(seed: 2)
    }
    // Nothing was given up: once the device gives back what it has, all is there.
    bench.plan.onCall(nil)
    bench.plan.heal()
    try file.writeAll(Array(content[place - 32..<place]), at: place - 32)
    store = try bench.open(seed: 3)
    #expect(try store.contents().count == 5)
    try store.close()
  }

  /// The process ends during a sync that fails, so nobody has heard of that.
  @Test func aSyncWithoutAnEndProvesNothingToTheNextProcess() throws {
    let bench = FaultBench()
    let book = Book()
    var store = try bench.open()
    try book.write(6, to: store, syncing: true)
    try book.write(3, to: store, syncing: false)
    let killed = Guarded<SimulatedDisk?>(nil)
    bench.plan.onCall { [disk = bench.disk] call in
      guard call.operation == .sync, call.path.hasSuffix(".segment") else { return }
      let plan = FaultPlan()
      plan.fail(.sync, Self.lie)
      try? FaultyFileSystem(disk, plan: plan).open(call.path, .readWrite).sync()
      let left = try? disk.processKilled()
      killed.withLock { $0 = left }
    }
    try store.sync()
    store.probe.kill()
    bench.disk = try #require(killed.withLock { $0 })
    try bench.killProcess()
    store = try bench.open(seed: 2)
    try book.check(store, least: book.returned)
    try book.sync(store)
    store.probe.kill()
    try bench.cutPower(.drop)
    store = try bench.open(seed: 3)
    try book.check(store, least: book.durable)
    #expect(bench.damage.isEmpty, "\(bench.damage)")
    try store.close()
  }

  @Test(arguments: Target.allCases)
  func aCloseWhoseSyncFailsLeavesNoCleanMark(target: Target) throws {
    for nth in 1...3 {
      let bench = FaultBench()
      let book = Book()
      var store = try bench.open()
      try book.write(10, to: store, syncing: true)
      target.fail(bench.plan, nth: nth)
      do throws(StoreError) { try store.close() } catch {
        try bench.killProcess()
        store = try bench.open(seed: 2)
        try book.check(store, least: book.returned)
        // Nothing is written: what was served must not have been believed by removing what it replaced.
        store.probe.kill()
        for policy in [CrashPolicy.drop, .reorder, .keep] {
          let before = bench.disk
          try bench.cutPower(policy)
          let again = try bench.open(seed: 3)
          try book.check(again, least: book.durable)
          again.probe.kill()
          bench.disk = before
        }
      }
    }
  }
}
