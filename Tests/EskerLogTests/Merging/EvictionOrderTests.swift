import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What a merge evicts, or takes out because it expired, leaves the index when the manifest's edit is durable.
@Suite struct EvictionOrderTests {
  private let machine = Machine()
  private let plan = FaultPlan()

  private func open(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    let options = machine.options { options in
      options.merge.isAutomatic = false
      options.capacity = 4 << 20
      change(&options)
    }
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 0xff), count: 400) }

  private func fill(_ store: LogStore, expiry: Expiry = .never) throws {
    for number in 0..<600 { try store.put(Self.value(number), forKey: "key \(number)", expiry: expiry) }
    try store.probe.endTail()
    try store.put("the tail has room", forKey: "last")
  }

  /// Hears what is lost.
  private final class Ear: ChangeListener {
    let lost = SharedCounter()

    func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {
      if case .loss = change() { lost.add() }
    }
  }

  @Test func anEvictionWhoseEditFailsLeavesEveryEntry() throws {
    let store = try open()
    try fill(store)
    let ear = Ear()
    try store.default.addListener(ear)
    let before = try store.contents()
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.probe.mergeAll(evicting: true) }
    #expect(ear.lost.value == 0)
    #expect(try store.count() == 601)
    #expect(try store.contents() == before)
    // The next one does it.
    #expect(try store.probe.mergeAll(evicting: true).recordsEvicted == 600)
    #expect(ear.lost.value == 600)
    #expect(try store.count() == 1)
    #expect(try store.contents().count == 1)
    #expect(try store.verify().isClean)
  }

  @Test(arguments: [1, 3])
  func aMergeWhoseEditFailsLeavesEveryExpiredEntry(nth: Int) throws {
    let store = try open()
    try fill(store, expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 2000)
    plan.fail(.write, on: .prefix("manifest"), nth: nth, .error(PlatformError.noSpace))
    let isMerged = (try? store.probe.mergeAll(evicting: false)) != nil
    #expect(store.statistics.keys == (isMerged ? 1 : 601))
    let live = store.statistics.segments.reduce(0) { $0 + $1.liveBytes }
    #expect((live > 600 * 400) != isMerged)
    plan.heal()
    try store.probe.mergeAll(evicting: false)
    #expect(store.statistics.keys == 1)
  }

  @Test func aKeyThatIsRemovedWhileItIsEvictedStaysAwayAfterAKill() throws {
    let store = try open()
    try fill(store)
    let wasThere = SharedFlag()
    let killed = Guarded<SimulatedDisk?>(nil)
    let running = machine.disk
    plan.onCall { call in
      guard call.operation == .write, call.path.contains("manifest"), killed.withLock({ $0 == nil }) else { return }
      if (try? store.remove("key 7")) == true { wasThere.raise() }
      let disk = try? running.processKilled()
      killed.withLock { $0 = disk }
    }
    try store.probe.mergeAll(evicting: true)
    #expect(wasThere.isRaised)
    #expect(try store.get("key 7") == nil)
    var machine = machine
    machine.disk = try #require(killed.withLock { $0 })
    let again = try machine.open { $0.capacity = 4 << 20 }
    #expect(try again.get("key 7") == nil)
    #expect(try again.count() == 600)
  }

  /// The merge began amid the segment, so what it copied is newer than the beginning of that, and older than its end.
  @Test func aRemovalIsNotEvictedBeforeWhatItHides() throws {
    let store = try open()
    store.probe.stopBackground()
    try fill(store)
    try store.merge(segments: [#require(store.sealedIDs.first)])
    try store.remove("key 7")
    let id = try #require(store.probe.tailID)
    try store.probe.endTail()
    try store.put("the tail has room", forKey: "another")
    store.probe.sealFinished()
    for _ in 0..<100 where store.statistics.segments.contains(where: { $0.id == id }) {
      try store.probe.makeRoom(for: 0, isVolumeFull: true, orThrow: .closed)
    }
    #expect(!store.statistics.segments.contains { $0.id == id })
    #expect(try store.get("key 7") == nil)
    var machine = machine
    machine.disk = try machine.disk.processKilled()
    let again = try machine.open { $0.capacity = 4 << 20 }
    #expect(try again.get("key 7") == nil)
  }

  @Test func timeIsKeptByTheEditThatGivesTheExpiredUp() throws {
    var machine = machine
    let store = try open()
    try fill(store, expiry: .after(.seconds(10)))
    machine.clock.advance(milliseconds: 20_000)
    let ids = store.statistics.segments.map(\.id)
    try store.merge(segments: ids)
    machine.disk = try machine.disk.processKilled()
    machine.clock.setWall(milliseconds: 0)
    let again = try machine.open()
    #expect(try again.count() == 1)
  }

  @Test func whatIsAliveAndWasNotSeenKeepsItsSegment() throws {
    let store = try open()
    try fill(store, expiry: .after(.seconds(1)))
    let ids = store.statistics.segments.map(\.id)
    let first = try #require(store.probe.segments.first)
    // As if the index led to one record more in it.
    try store.probe.miscountLive(#require(store.probe.hold(first.id)))
    machine.clock.advance(milliseconds: 2000)
    #expect(throws: StoreError.self) { try store.merge(segments: ids) }
    #expect(store.probe.segments.first { $0.id == first.id }?.isUnmergeable == true)
    #expect(store.statistics.keys == 601)
    #expect(store.statistics.segments.map(\.id) == ids)
  }

  @Test func whatIsOverwrittenWhileItIsEvictedIsNoDamage() throws {
    var machine = machine
    machine.background = .threads
    let log = EventLog()
    let store = try machine.open { options in
      options.capacity = 1 << 20
      options.onEvent = { log.record($0) }
    }
    let errors = try onThreads(3) { thread in
      var generator = SeededGenerator(seed: UInt64(thread))
      for number in 0..<20_000 {
        let key = "key \(Int.random(in: 0..<3_000, using: &generator))"
        if number % 10 == 0 { try store.remove(key) } else { try store.put(Self.value(number), forKey: key) }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(store.statistics.merged.recordsEvicted > 0)
    let failures = log.events.filter { if case .backgroundFailure = $0 { true } else { false } }
    #expect(failures.isEmpty, "\(failures)")
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
  }
}
