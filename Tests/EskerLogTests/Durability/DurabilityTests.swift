import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct DurabilityTests {
  let machine = Machine()

  /// What a power cut that keeps nothing unsynced would leave.
  private func afterPowerCut() throws -> [[UInt8]: [UInt8]] {
    var generator = SeededGenerator(seed: 1)
    var image = machine
    image.disk = try machine.disk.crashImage(.drop, using: &generator)
    return try image.open().contents()
  }

  @Test func bufferedWritesAreNotDurableUntilASync() throws {
    let store = try machine.open()
    try store.put("1", forKey: "a")
    #expect(store.durableSequence.rawValue == 0)
    #expect(try afterPowerCut() == [:])
    try store.sync()
    #expect(store.durableSequence.rawValue == 1)
    #expect(try afterPowerCut() == [bytes("a"): bytes("1")])
  }

  /// Less is prepared ahead of the tail then.
  @Test func aWriteThatWaitsIsDemandForSyncs() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.sync()
    #expect(!store.probe.hasDemandForSyncs)
    try store.put("v", forKey: "k", durability: .synced)
    #expect(store.probe.hasDemandForSyncs)
  }

  @Test func aSyncedWriteMakesItselfAndAllBeforeDurable() throws {
    let store = try machine.open()
    for number in 0..<50 { try store.put([UInt8](repeating: 1, count: 4000), forKey: "\(number)") }
    let sequence = try store.put("last", forKey: "last", durability: .synced)
    #expect(store.durableSequence == sequence)
    #expect(try afterPowerCut().count == 51)
    #expect(try store.remove("last", durability: .synced))
    #expect(store.durableSequence.rawValue == sequence.rawValue + 1)
    #expect(try afterPowerCut().count == 50)
    try store.removeAll(durability: .synced)
    #expect(try afterPowerCut() == [:])
  }

  @Test func theStoresDefaultDurabilityApplies() throws {
    let store = try machine.open { $0.durability = .synced }
    try store.put("1", forKey: "a")
    #expect(store.durableSequence.rawValue == 1)
    try store.put("2", forKey: "a", durability: .buffered)
    #expect(store.durableSequence.rawValue == 1)
    try store.increment("n")
    #expect(store.durableSequence.rawValue == 3)
    try store.append("x", toKey: "n2")
    try store.touch("a", expiry: .never)
    try store.write { (batch) throws(StoreError) in try batch.put("b", forKey: "b") }
    #expect(store.durableSequence == store.lastSequence)
  }

  @Test func waitDurableReturnsOnceTheNumberIsDurable() throws {
    let store = try machine.open()
    let first = try store.put("1", forKey: "a")
    let second = try store.put("2", forKey: "b")
    try store.waitDurable(first)
    #expect(store.durableSequence >= first)
    try store.waitDurable(second)
    #expect(store.durableSequence == second)
    let syncs = store.statistics.syncs.count
    try store.waitDurable(first)
    // A number never given out is not waited for in vain.
    try store.waitDurable(SequenceNumber(rawValue: .max))
    #expect(store.statistics.syncs.count == syncs)
  }

  @Test func syncsOfNothingNewCostNothing() throws {
    let store = try machine.open()
    try store.put("1", forKey: "a")
    try store.sync()
    let syncs = store.statistics.syncs.count
    try store.sync()
    try store.sync()
    #expect(store.statistics.syncs.count == syncs)
  }

  @Test(.timeLimit(.minutes(60))) func periodicWritesAreDurableOnceTheirTimeHasPassed() throws {
    let directory = try TemporaryDirectory()
    let store = try LogStore(at: directory.appending("store"))
    let clock = OSClock()
    let start = clock.monotonicNanoseconds()
    let sequence = try store.put("1", forKey: "a", durability: .periodic(.milliseconds(50)))
    #expect(eventually { store.durableSequence >= sequence })
    #expect(clock.monotonicNanoseconds() - start >= 50_000_000)
    // The window is the earliest that anybody asked for.
    let next = try store.put("2", forKey: "a", durability: .periodic(.seconds(1000)))
    try store.put("3", forKey: "a", durability: .periodic(.milliseconds(1)))
    while store.durableSequence < next { Platform.system.pause() }
    let least = try store.put("4", forKey: "a", durability: .periodic(.seconds(-5)))
    while store.durableSequence < least { Platform.system.pause() }
  }

  @Test func aVeryLongPeriodDoesNotTrapAndACloseIsStillDurable() throws {
    let store = try machine.open()
    let forever = Duration(secondsComponent: .max, attosecondsComponent: 0)
    try store.put("1", forKey: "a", durability: .periodic(forever))
    try store.close()
    #expect(try afterPowerCut() == [bytes("a"): bytes("1")])
  }

  @Test func periodicWriteThatMeetsTheClosingIsTaken() throws {
    let store = try machine.open()
    // As when closing has begun just behind the write.
    store.probe.stopCommitter()
    try store.put("1", forKey: "a", durability: .periodic(.seconds(1000)))
    try store.close()
    #expect(try afterPowerCut() == [bytes("a"): bytes("1")])
  }

  @Test func aCleanCloseIsDurable() throws {
    let store = try machine.open()
    for number in 0..<100 { try store.put([UInt8](repeating: 1, count: 2000), forKey: "\(number)") }
    try store.close()
    #expect(try afterPowerCut().count == 100)
  }

  @Test func asyncWritesAreDurableWhenTheyReturn() async throws {
    let store = try machine.open()
    let sequence = try await store.async.put("1", forKey: "a", durability: .synced)
    #expect(store.durableSequence >= sequence)
    #expect(try await store.async.get("a") == bytes("1"))
    #expect(try await store.async.remove("a", durability: .synced))
    #expect(store.durableSequence == store.lastSequence)
    try await store.async.put("2", forKey: "b")
    try await store.async.sync()
    #expect(store.durableSequence == store.lastSequence)
    let updated = try await store.async.update(forKey: "b", durability: .synced) { (span) throws(StoreError) in
      .put([UInt8(span?.byteCount ?? 0)])
    }
    #expect(updated == store.durableSequence)
    try await store.async.write(durability: .synced) { (batch) throws(StoreError) in
      try batch.put("3", forKey: "c")
      try batch.remove("b")
    }
    #expect(store.durableSequence == store.lastSequence)
    try await store.async.waitDurable(store.lastSequence)
    #expect(try store.contents() == [bytes("c"): bytes("3")])
    let keyspace = try store.keyspace("other")
    try await keyspace.async.put("4", forKey: "d")
    #expect(try keyspace.get("d") == bytes("4"))
  }
}
