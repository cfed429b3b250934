import EskerFormat
import EskerPlatform

@testable import EskerLog

extension LogStore {
  /// What tests may see and do that callers may not.
  var probe: StoreProbe { StoreProbe(self) }
}

/// Reaches into a store. It and its extensions are all that the tests know of what the store is made of.
///
/// It does not keep the store open: what it is asked for afterwards is that of a closed store.
struct StoreProbe: Sendable {
  let engine: Engine

  init(_ store: LogStore) {
    engine = store.engine
  }

  // MARK: Memory

  /// Whether the store takes itself to be larger than memory.
  var isBeyondMemory: Bool { engine.env.pages.isBeyondMemory }

  /// What stays the same as long as what was verified in memory may be trusted, but for its age.
  var pagesState: UInt64? { engine.keydir.pagesState }

  /// Whether a task that looks up a key would leave that to a thread that may wait.
  func mustWait(for key: String) -> Bool { engine.keydir.keyspaces[""]?.mustWait(for: key) == true }

  /// Decides anew whether the store fits into memory.
  func reviewPages() { engine.keydir.reviewPages() }

  /// How many bytes of the segments' records are in memory.
  var residentBytes: Int {
    engine.catalog.segments.reduce(0) { $0 + $1.mapping.residentBytes(in: 0..<($1.recordsEnd ?? 0)) }
  }

  // MARK: What the store says of itself

  /// What tells this store from every other.
  var storeID: StoreID { engine.env.storeID }

  /// The number of the last manifest.
  var generation: UInt64 { engine.catalog.manifest.generation }

  /// The checkpoint that the manifest lists; 0 for none.
  var checkpointID: UInt64 { engine.catalog.manifest.checkpointID }

  /// The segments that the manifest lists.
  var listed: [SegmentRow] { engine.catalog.manifest.segments }

  /// Up to which number records may have been merged away.
  var mergedThrough: UInt64 { engine.catalog.mergedThrough }

  /// The numbers of all keyspaces.
  var keyspaceIDs: Set<UInt32> { Set(engine.keydir.keyspaces.all.map(\.id)) }

  /// How many open snapshots hear what leaves the index.
  var snapshotCount: Int { engine.writer.withLock { $0.keys.listeners.count } }

  /// Whether somebody waits for the next write.
  var isWriteAwaited: Bool { engine.feeds.isWriteAwaited }

  /// Whether it is a probe of this very opening of the store.
  func isProbe(of store: LogStore) -> Bool { engine === store.engine }

  /// Writes the manifest anew.
  func writeManifest() throws(StoreError) { try engine.catalog.commit(.listed) }

  /// Writes a checkpoint beside what goes on, as the background does now and then.
  func writeCheckpoint() { engine.maintainer.writePeriodicCheckpoint() }

  /// Asks the background to look for readers, and does what it is asked for, if it may.
  func requestLook() {
    engine.env.workers.ahead.request(.lookForReaders)
    engine.env.workers.runPending()
  }

  /// Asks the background for a checkpoint.
  func requestCheckpoint() { engine.env.workers.maintainer.request(.checkpoint) }

  /// Gives the checkpoint up; false when there is none.
  func dropCheckpoint() throws(StoreError) -> Bool { try engine.maintainer.dropCheckpoint() }

  /// Verifies the segments that a snapshot shows, and nothing else.
  func verifySegments(of snapshot: Snapshot) throws(StoreError) -> Report.Verification {
    try StoreVerification(of: engine).verifySegments(of: snapshot) { _ in true }
  }

  // MARK: Syncs

  /// Why the store takes no writes any more; nil while it does.
  var failureCode: Int32? { engine.commits.failureCode }

  /// Waits until everything up to a number is durable, without a look whether the store is open.
  ///
  /// - Parameter only: Whether the sync leaves out what was written since.
  func waitDurable(through sequence: UInt64, only: Bool = false) throws(StoreError) {
    try engine.commits.waitDurable(sequence, onlyThrough: only)
  }

  /// Has the store take it that a sync has failed.
  func failSync(_ code: Int32) { engine.commits.fail(code) }

  /// What syncs store to the lock file, in the order in which they do, and last its end.
  var lockFileCalls: [() -> Void] {
    guard let session = engine.env.session else { return [] }
    let sync = Guarded<Session.Sync?>(nil)
    return [
      { sync.withLock { $0 = session.beginSync() } }, { session.syncFailed(5) },
      { if let sync = sync.withLock({ $0.take() }) { session.end(sync) } }, { session.end() },
    ]
  }

  // MARK: Locks

  /// A lock that calls may have to wait for.
  enum Lock {
    /// Held while a read-only store takes in what its writer has logged.
    case following
    /// Held by whoever merges.
    case merging
    /// Held while a checkpoint is written, or a merge lists what it wrote.
    case images
    /// Held while the manifest is written.
    case manifest
    /// Held by whoever writes.
    case writer
  }

  /// Does something while somebody else, by the ranks of locks, holds one.
  func holding<Result>(_ lock: Lock, _ body: () throws -> Result) rethrows -> Result {
    func apart() throws -> Result { try LockRank.apart(body) }
    return switch lock {
    case .following: try engine.follower.holding(apart)
    case .merging: try engine.merger.whileResting(apart)
    case .images: try engine.maintainer.holdingImages(apart)
    case .manifest: try engine.catalog.holdingManifest(apart)
    case .writer: try engine.writer.lock.withLock(apart)
    }
  }

  /// Does something while nobody can write.
  func holdingWriter<Result>(_ body: () throws -> Result) rethrows -> Result { try holding(.writer, body) }

  // MARK: The end

  /// Whether nothing is to be sealed, and the thread that merges looks again only when it is asked.
  var isMergerAsleep: Bool { !engine.env.workers.maintainer.hasWork && engine.env.workers.merger.isIdle }

  /// Stops the threads that prepare and keep segments.
  func stopBackground() {
    engine.env.workers.maintainer.stop()
    engine.env.workers.ahead.stop()
  }

  /// Stops the thread that syncs for tasks and periods, as a close does first.
  func stopCommitter() { engine.committer.stop() }

  /// Whether calls that begin now find the store closed.
  var isClosed: Bool { engine.env.isClosed }

  /// Has calls that begin now find the store closed.
  func markClosed() {
    _ = engine.env.markClosed()
  }

  /// Lets go of the files, as where another process has asked for its turn.
  func handOver() { engine.handOver(always: true) }

  /// Takes the turn, as a write does.
  func takeTurn() throws(StoreError) {
    if try engine.takeTurn() { engine.endClaim() }
  }

  /// The same, for something that is still to be done; false if the turn does not come.
  func claimTurn() throws(StoreError) -> Bool { try engine.takeTurn() }

  /// Has it done.
  func endClaim() { engine.endClaim() }

  /// Whether the store was told to rest until it is resumed.
  var isWithdrawn: Bool { engine.env.isWithdrawn }

  /// Ends the store as a kill of its process does: nothing is synced, written or marked.
  func kill() {
    markClosed()
    engine.release()
  }
}
