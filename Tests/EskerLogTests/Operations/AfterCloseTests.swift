import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Calls that looked whether the store is open, and then waited for a lock until it was closed: they change nothing any more, and
/// touch nothing that may be another process's by then.
@Suite(.timeLimit(.minutes(60))) final class AfterCloseTests {
  private let machine = Machine()
  private var store: LogStore

  init() throws {
    store = try machine.open()
    for number in 0..<50 { try store.put([UInt8](repeating: 1, count: 4_000), forKey: "key \(number)") }
    try store.put("v", forKey: "brief", expiry: .after(.milliseconds(1)))
    store.probe.writeCheckpoint()
    machine.clock.advance(milliseconds: 1_000)
  }

  private func reopen(_ change: (inout Options) -> Void) throws {
    store = try machine.open(change)
    try store.put("v", forKey: "k")
  }

  /// The manifest's copies, and the lock file.
  private func files() throws -> [[UInt8]] {
    try ["manifest.a", "manifest.b", "LOCK"].map { try machine.disk.open("\(machine.path)/\($0)", .read).allBytes() }
  }

  private func isUnchanged(since before: [[UInt8]]) throws -> Bool { try files() == before }

  /// Makes a call that has to wait for a lock, ends the store meanwhile, and lets it go.
  private func expectClosed(
    waitingFor lock: StoreProbe.Lock,
    _ call: @escaping @Sendable (LogStore) throws -> Void
  ) throws {
    let store = store
    let probe = store.probe
    let isCalling = SharedFlag()
    let outcome = Guarded<(any Error)?>(nil)
    // Whoever closes waits for a writer, and for an edit of the manifest.
    let endsLater = lock == .writer || lock == .manifest
    let (before, segments, caller) = try probe.holding(lock) {
      let caller = try WorkerThread(name: "calls") {
        isCalling.raise()
        do { try call(store) } catch { outcome.withLock { $0 = error } }
      }
      while !isCalling.isRaised { Platform.yieldThread() }
      // Until it has come to the lock, most likely: one that comes later finds the store closed at once.
      for _ in 0..<2_000 { Platform.yieldThread() }
      probe.markClosed()
      if !endsLater { probe.kill() }
      return (try files(), try machine.files(".segment"), caller)
    }
    caller.join()
    if endsLater { probe.kill() }
    #expect(outcome.withLock { $0 as? StoreError } == .closed)
    #expect(try isUnchanged(since: before))
    #expect(try machine.files(".segment") == segments)
    let again = try machine.open()
    #expect(try again.get("key 7")?.count == 4_000)
    #expect(try again.verify().isClean)
  }

  @Test func aKeyspaceThatIsCreated() throws {
    try expectClosed(waitingFor: .manifest) { store in _ = try store.keyspace("new") }
  }

  @Test func aDefaultExpiryThatIsSet() throws {
    try expectClosed(waitingFor: .manifest) { store in try store.default.setDefaultExpiry(.seconds(1)) }
  }

  @Test func theExpiredThatAreRemoved() throws {
    try expectClosed(waitingFor: .manifest) { store in try store.removeAllExpired() }
  }

  @Test func aClockThatIsReset() throws {
    try expectClosed(waitingFor: .manifest) { store in try store.resetClock() }
  }

  @Test func aCheckpointThatIsGivenUp() throws {
    try expectClosed(waitingFor: .images) { store in _ = try store.probe.dropCheckpoint() }
  }

  @Test func aSnapshot() throws {
    try expectClosed(waitingFor: .writer) { store in _ = try store.snapshot() }
  }

  @Test func aBackup() throws {
    try expectClosed(waitingFor: .images) { store in try store.backup(to: "/copy") }
    #expect(try machine.disk.status("/copy") == nil)
  }

  @Test func aVerification() throws {
    try expectClosed(waitingFor: .writer) { store in _ = try store.verify() }
  }

  @Test func aMerge() throws {
    try expectClosed(waitingFor: .merging) { store in
      try store.merge(segments: store.statistics.segments.map(\.id))
    }
  }

  @Test func anEviction() throws {
    try store.close()
    try reopen { $0.capacity = 16 << 20 }
    try expectClosed(waitingFor: .merging) { store in
      try store.probe.makeRoom(for: 100, orThrow: .cancelled)
    }
  }

  @Test func aCountOfTheExpired() throws {
    try expectClosed(waitingFor: .writer) { store in _ = try store.countExpired() }
  }

  @Test func aSweepOfTheIndex() throws {
    try expectClosed(waitingFor: .writer) { store in
      if store.probe.purgeAll() == 0 { throw StoreError.closed }
    }
  }

  @Test func theManifestIsNotWrittenAnyMore() throws {
    let probe = store.probe
    try store.close()
    let before = try files()
    #expect(throws: StoreError.closed) { try probe.writeManifest() }
    #expect(try isUnchanged(since: before))
  }

  @Test func theLockFileIsNotTouchedAnyMore() throws {
    let calls = store.probe.lockFileCalls
    #expect(!calls.isEmpty)
    try store.close()
    let next = try machine.open()
    let before = try files()
    for call in calls {
      call()
      #expect(try isUnchanged(since: before))
    }
    try next.put("v", forKey: "k", durability: .synced)
  }

  @Test func nothingIsTakenForDurableThatWasNot() throws {
    try store.close()
    let last = store.durableSequence
    #expect(throws: StoreError.closed) { try store.probe.waitDurable(through: last.rawValue + 1) }
    #expect(store.durableSequence == last)
  }
}
