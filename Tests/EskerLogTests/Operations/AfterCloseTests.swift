import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Calls that looked whether the store is open, and then waited for a lock until it was closed: they change nothing any more, and
/// touch nothing that may be another process's by then.
@Suite(.timeLimit(.minutes(5))) final class AfterCloseTests {
  private let machine = Machine()
  private var store: LogStore

  init() throws {
    store = try machine.open()
    for number in 0..<50 { try store.put([UInt8](repeating: 1, count: 4_000), forKey: "key \(number)") }
    try store.put("v", forKey: "brief", expiry: .after(.milliseconds(1)))
    store.engine.writePeriodicCheckpoint()
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

  /// A lock that a call waits for.
  private enum Held {
    case opening, merging, writer

    func take(_ engine: Engine) {
      switch self {
      case .opening: engine.opening.lock()
      case .merging: engine.merging.lock()
      case .writer: engine.writer.lock.lock()
      }
    }

    func giveBack(_ engine: Engine) {
      switch self {
      case .opening: engine.opening.unlock()
      case .merging: engine.merging.unlock()
      case .writer: engine.writer.lock.unlock()
      }
    }
  }

  /// Makes a call that has to wait for a lock, ends the store meanwhile, and lets it go.
  private func expectClosed(
    waitingFor lock: Held,
    _ call: @escaping @Sendable (LogStore) throws -> Void
  ) throws {
    let store = store
    let engine = store.engine
    let isCalling = SharedFlag()
    let outcome = Guarded<(any Error)?>(nil)
    lock.take(engine)
    let caller = try WorkerThread(name: "calls") {
      isCalling.raise()
      do { try call(store) } catch { outcome.withLock { $0 = error } }
    }
    while !isCalling.isRaised { Platform.yieldThread() }
    // Until it has come to the lock, most likely: one that comes later finds the store closed at once.
    for _ in 0..<2_000 { Platform.yieldThread() }
    _ = engine.status.bitwiseOr(Engine.Status.closed, ordering: .sequentiallyConsistent)
    // Whoever closes waits for a writer.
    if lock != .writer { engine.letGoAsIfKilled() }
    let before = try files()
    let segments = try machine.files(".segment")
    lock.giveBack(engine)
    caller.join()
    if lock == .writer { engine.letGoAsIfKilled() }
    #expect(outcome.withLock { $0 as? StoreError } == .closed)
    #expect(try isUnchanged(since: before))
    #expect(try machine.files(".segment") == segments)
    let again = try machine.open()
    #expect(try again.get("key 7")?.count == 4_000)
    #expect(try again.verify().isClean)
  }

  @Test func aKeyspaceThatIsCreated() throws {
    try expectClosed(waitingFor: .opening) { store in _ = try store.keyspace("new") }
  }

  @Test func aDefaultExpiryThatIsSet() throws {
    try expectClosed(waitingFor: .opening) { store in try store.default.setDefaultExpiry(.seconds(1)) }
  }

  @Test func theExpiredThatAreRemoved() throws {
    try expectClosed(waitingFor: .opening) { store in try store.removeAllExpired() }
  }

  @Test func aClockThatIsReset() throws {
    try expectClosed(waitingFor: .opening) { store in try store.resetClock() }
  }

  @Test func aCheckpointThatIsGivenUp() throws {
    try expectClosed(waitingFor: .opening) { store in _ = try store.engine.dropCheckpoint() }
  }

  @Test func aSnapshot() throws {
    try expectClosed(waitingFor: .opening) { store in _ = try store.snapshot() }
  }

  @Test func aBackup() throws {
    try expectClosed(waitingFor: .opening) { store in try store.backup(to: "/copy") }
    #expect(try machine.disk.status("/copy") == nil)
  }

  @Test func aVerification() throws {
    try expectClosed(waitingFor: .opening) { store in _ = try store.verify() }
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
      try store.engine.makeRoom(for: 100, orThrow: .cancelled)
    }
  }

  @Test func aCountOfTheExpired() throws {
    try expectClosed(waitingFor: .writer) { store in _ = try store.countExpired() }
  }

  @Test func aSweepOfTheIndex() throws {
    try expectClosed(waitingFor: .writer) { store in
      if store.engine.reap(where: { _ in true }) == 0 { throw StoreError.closed }
    }
  }

  @Test func theManifestIsNotWrittenAnyMore() throws {
    let engine = store.engine
    try store.close()
    let before = try files()
    #expect(throws: StoreError.closed) { try engine.editManifest(.listed) }
    #expect(try isUnchanged(since: before))
  }

  @Test func theLockFileIsNotTouchedAnyMore() throws {
    let session = try #require(store.engine.session)
    try store.close()
    let next = try machine.open()
    let before = try files()
    session.syncBegan()
    #expect(try isUnchanged(since: before))
    session.syncFailed(5)
    #expect(try isUnchanged(since: before))
    session.syncEnded()
    session.end()
    #expect(try isUnchanged(since: before))
    try next.put("v", forKey: "k", durability: .synced)
  }

  @Test func nothingIsTakenForDurableThatWasNot() throws {
    let commits = store.engine.commits
    try store.close()
    let last = commits.durable.load(ordering: .relaxed)
    #expect(throws: StoreError.closed) { try commits.waitDurable(last + 1) }
    #expect(commits.durable.load(ordering: .relaxed) == last)
  }
}
