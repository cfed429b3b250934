import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A recovery copies what a failed sync left, where records have replaced others.
@Suite struct ReplacedRewriteTests {
  /// What was not synced has records that have replaced others: all of them are copied, and no number that is missing since is taken for
  /// damage.
  @Test(arguments: 0..<12) func whatIsCopiedIsNotMissing(moment: Int) throws {
    var machine = Machine()
    machine.reusesSpace = true
    let plan = FaultPlan()
    var host = machine.host
    host.platform.fileSystem = FaultyFileSystem(machine.disk, plan: plan)
    let store = try LogStore(at: machine.path, options: machine.options(), host: host)
    var expected: [[UInt8]: [UInt8]] = [:]
    func put(_ round: Int) throws {
      let (key, value) = (bytes("key \(round % 7)"), bytes("value \(1_000_000 + round)"))
      store.probe.collect()
      try store.put(value, forKey: key)
      expected[key] = value
    }
    for round in 0..<10 { try put(round) }
    try store.sync()
    var round = 10
    var before = 0
    // The last one takes the room of another.
    repeat {
      before = store.probe.recordsReplaced
      try put(round)
      round += 1
    } while round < 10_000 && (round < 100 + moment || store.probe.recordsReplaced == before)
    try #require(store.probe.recordsReplaced > before)
    // A sync of less covers all that stands in front of its mark: the last record may be anywhere there.
    try store.probe.waitDurable(through: store.lastSequence.rawValue - 1, only: true)
    #expect(store.durableSequence == store.lastSequence)
    // Says what was durable.
    try store.put("later", forKey: "later")
    expected[bytes("later")] = bytes("later")
    let replaced = store.probe.recordsReplaced
    while store.probe.recordsReplaced < replaced + 5 {
      try put(round)
      round += 1
    }
    let last = store.lastSequence.rawValue
    plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: true))
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
    store.probe.kill()
    for _ in 0..<3 {
      machine.disk = try machine.disk.processKilled()
      try machine.deleteCheckpoint()
      let log = EventLog()
      let again = try machine.open { $0.onEvent = { log.record($0) } }
      #expect(log.damage.isEmpty, "\(log.events)")
      #expect(try again.contents() == expected)
      #expect(again.lastSequence.rawValue >= last)
      again.probe.kill()
    }
  }

  /// Neither is one that a feed seeks: the copy begins with a later record than the first that was written.
  @Test func aFeedIsToldOfWhatWasReplaced() async throws {
    var machine = Machine()
    machine.reusesSpace = true
    let plan = FaultPlan()
    var watched = machine
    watched.calls = plan
    let store = try watched.open()
    var round = 0
    func put() throws {
      store.probe.collect()
      try store.put(bytes("value \(1_000_000 + round)"), forKey: bytes("key \(round % 7)"))
      round += 1
    }
    for _ in 0..<10 { try put() }
    try store.sync()
    let durable = store.durableSequence
    while store.probe.recordsReplaced < 20 { try put() }
    plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: true))
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
    store.probe.kill()
    let again = try machine.reopenAfterKill()
    let copy = try #require(again.probe.segments.first { $0.firstSequence > durable.rawValue })
    try #require(copy.firstSequence > durable.rawValue + 1)
    var feed = again.changes(since: durable, includingUnsynced: true).makeAsyncIterator()
    await #expect {
      _ = try await feed.next()
    } throws: { error in
      guard case StoreError.historyGone = error else { return false }
      return true
    }
  }
}
