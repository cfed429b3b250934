import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct EventTests {
  @Test func openingReportsHowTheStateWasFound() throws {
    var machine = Machine()
    let log = EventLog()
    let listen: (inout Options) -> Void = { $0.onEvent = { log.record($0) } }
    var store = try machine.open(listen)
    #expect(log.opening?.indexSource == .empty)
    #expect(log.opening?.keys == 0)
    for number in 0..<5 { try store.put("v", forKey: "key \(number)") }
    try store.close()
    store = try machine.open(listen)
    #expect(log.opening?.indexSource == .checkpoint)
    #expect(log.opening?.wasClean == true)
    #expect(log.opening?.replayedRecords == 0)
    #expect(log.opening?.keys == 5)
    for number in 0..<3 { try store.put("w", forKey: "key \(number)") }
    store = try machine.reopenAfterKill(listen)
    #expect(log.opening?.indexSource == .checkpointAndReplay)
    #expect(log.opening?.wasClean == false)
    #expect(log.opening?.replayedRecords == 3)
    #expect(log.opening?.keys == 5)
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open(listen)
    #expect(log.opening?.indexSource == .segments)
    #expect(log.opening?.replayedRecords == 8)
    #expect(log.damage == [])
  }

  /// The last event comes of what a close does under its lock.
  @Test(.timeLimit(.minutes(10))) func aHandlerMayCloseTheStoreThatIsBeingClosed() throws {
    let machine = Machine()
    let opened = Guarded<LogStore?>(nil)
    let calls = SharedCounter()
    let store = try machine.open {
      $0.onEvent = { event in
        guard case .closed = event else { return }
        calls.add()
        try? opened.withLock { $0 }?.close()
      }
    }
    opened.withLock { $0 = store }
    try store.put("v", forKey: "k")
    try store.close()
    #expect(calls.value == 1)
    opened.withLock { $0 = nil }
    #expect(try machine.open().get("k") == bytes("v"))
  }

  @Test func sealingASegmentIsReported() throws {
    let log = EventLog()
    let store = try Machine().open { $0.onEvent = { log.record($0) } }
    for number in 0..<40 { try store.put([UInt8](repeating: 0, count: 4000), forKey: "\(number)") }
    let sealed = log.events.compactMap { if case .segmentSealed(_, _, let records) = $0 { records } else { nil } }
    let figures = store.statistics
    #expect(sealed.count == figures.segments.count - 1 || sealed.count == figures.segments.count - 2)
    #expect(sealed.count >= 2)
    #expect(sealed.allSatisfy { $0 > 10 })
  }

  @Test func aFailedSyncIsReportedAndLatched() throws {
    let log = EventLog()
    let plan = FaultPlan()
    let machine = Machine()
    let system = FaultyFileSystem(machine.disk, plan: plan)
    let host = StoreHost(platform: .simulated(fileSystem: system), background: .inline)
    let store = try LogStore(
      at: "/store",
      options: machine.options { $0.onEvent = { log.record($0) } },
      host: host
    )
    try store.put("1", forKey: "k", durability: .synced)
    plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: true))
    #expect(throws: StoreError.outcomeUnknown(errno: 5)) { try store.put("2", forKey: "k", durability: .synced) }
    #expect(log.events.contains(.syncFailed(errno: 5)))
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.put("3", forKey: "k") }
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.remove("k") }
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.waitDurable(store.lastSequence) }
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.keyspace("new") }
    #expect(try store.get("k") == bytes("2"))
    #expect(store.durableSequence.rawValue == 1)
    // Nothing can be left clean, and close does not pretend to.
    try? store.close()
    plan.heal()
    let again = try LogStore(at: "/store", options: machine.options { $0.onEvent = { log.record($0) } }, host: host)
    #expect(log.opening?.wasClean == false)
    #expect(log.opening?.rewrittenRecords == 1)
    #expect(try again.get("k") == bytes("2"))
    var generator = SeededGenerator(seed: 1)
    let image = try machine.disk.crashImage(.drop, using: &generator)
    try again.close()
    let afterPowerCut = try LogStore(
      at: "/store",
      options: machine.options(),
      host: StoreHost(platform: image.platform(), background: .inline)
    )
    #expect(try afterPowerCut.get("k") == bytes("2"))
  }

  @Test func anEventHandlerMayCallTheStore() throws {
    let box = Guarded<LogStore?>(nil)
    let counts = Guarded<[Int]>([])
    let plan = FaultPlan()
    let machine = Machine()
    let host = StoreHost(
      platform: .simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan)),
      background: .inline
    )
    let options = machine.options {
      $0.onEvent = { _ in
        guard let store = box.withLock({ $0 }) else { return }
        let count = (try? store.snapshot().count) ?? store.statistics.keys
        counts.withLock { $0.append(count) }
      }
    }
    let store = try LogStore(at: "/store", options: options, host: host)
    box.withLock { $0 = store }
    defer { box.withLock { $0 = nil } }
    for number in 0..<40 { try store.put([UInt8](repeating: 0, count: 4000), forKey: "\(number)") }
    #expect(counts.withLock { $0.count } >= 2)
    plan.fail(.sync, on: .suffix(".segment"), .error(5))
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
    try? store.close()
  }
}
