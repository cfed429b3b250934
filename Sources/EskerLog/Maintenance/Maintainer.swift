internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Works ahead of the writer and cleans up after it: allocates, seals full segments, writes checkpoints, purges the
/// index.
///
/// Invariants: the records and the footer of a sealed segment are synced; no entry moves between a checkpoint's cut and
/// its edit. Calls the writer, the keydir, the catalog, commits and the environment. Thread safety: any thread.
final class Maintainer: Sendable {
  let env: Environment
  let commits: CommitQueue
  let catalog: Catalog
  let keydir: Keydir
  let writer: Writer
  /// Serialises the sealing of segments.
  let sealing = Lock(.sealing)
  /// Held while a checkpoint is written, or while a merge moves entries and lists the segments they point to.
  private let images = Lock(.images)
  /// The last checkpoint that was loaded or written. The manifest may name none any more, or not name it yet.
  let latest: Guarded<CheckpointPlace?>
  /// True while so much is dead that full segments must be sealed without delay. Relaxed: a hint.
  private let isUrgent = Atomic<Bool>(false)

  init(_ writer: Writer) {
    env = writer.env
    commits = writer.commits
    catalog = writer.catalog
    keydir = writer.keydir
    self.writer = writer
    latest = Guarded(keydir.loadedCheckpoint.map { CheckpointPlace($0.header) }, .leaf)
  }

  /// Starts serving the requested jobs.
  func begin() {
    env.workers.ahead.begin { [self] jobs in performAhead(jobs) }
    env.workers.maintainer.begin { [self] jobs in performMaintenance(jobs) }
  }

  /// Sets whether full segments must be sealed without delay.
  func setUrgent(_ isUrgent: Bool) { self.isUrgent.store(isUrgent, ordering: .relaxed) }

  /// Runs a body while no checkpoint is written.
  func holdingImages<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try images.withLock(body)
  }

  /// The jobs ahead of the writer.
  private func performAhead(_ jobs: BackgroundWorker.Jobs) -> BackgroundWorker.Next {
    if jobs.contains(.lookForReaders) { writer.rolling.withLock { writer.lookForReaders() } }
    if jobs.contains(.growTail) { writer.growTail() }
    if jobs.contains(.growIndex) { keydir.prepareGrowth() }
    if jobs.contains(.prepareSegment) { writer.prepareSegment() }
    if jobs.contains(.migrateIndex) { migrateIndex() }
    env.epochs.collect()
    env.deliverEvents()
    return .whenAsked
  }

  /// The jobs behind the writer.
  private func performMaintenance(_ jobs: BackgroundWorker.Jobs) -> BackgroundWorker.Next {
    if jobs.contains(.dispose) { catalog.disposePending() }
    if jobs.contains(.checkpoint) { writePeriodicCheckpoint() }
    if jobs.contains(.purge) { purgeEmptiedKeyspaces() }
    env.deliverEvents()
    if jobs.contains(.seal), awaitCalm() { sealFull() }
    env.deliverEvents()
    return .whenAsked
  }

  /// Moves the index from the checkpoint's pages into its own memory, a chunk at a time.
  private func migrateIndex() {
    while keydir.needsMigration, !env.isEnding {
      keydir.prepareMigration()
      guard writer.withLock({ state in keydir.migrate(state.keys) }) else { break }
      env.epochs.collect()
    }
    if keydir.isDamaged { forgetCheckpoint() }
  }

  // MARK: Bursts

  /// The most bytes of full segments that may wait to be sealed during a burst of writes.
  private var sealBacklog: Int { 2 * env.settings.segmentSize }
  /// A burst: at least this many writes in this time.
  private static let burst = (writes: 10_000 as UInt64, segments: 4, nanoseconds: 100_000_000 as UInt64)

  /// Waits for the end of a burst of writes before its segments are sealed: reading and syncing them meanwhile would take
  /// memory bandwidth and a processor from the writer, a quarter of its speed. Does not wait for writers that sync,
  /// beyond a few segments, or when merging is urgent.
  ///
  /// False if another job was requested; sealing is then requested again.
  private func awaitCalm() -> Bool {
    // Without threads, so that tests have segments of both kinds.
    if !env.isThreaded, env.settings.capacity != nil { return catalog.fullSegments.count > Self.burst.segments }
    while env.isThreaded, !commits.hasDemand, !isUrgent.load(ordering: .relaxed), catalog.fullBytes <= sealBacklog {
      let before = commits.publishedSequence
      let tail = writer.withLock { $0.tail?.id }
      guard env.workers.maintainer.pause(nanoseconds: Self.burst.nanoseconds) else {
        env.workers.maintainer.request(.seal)
        return false
      }
      // In a cache, what is sealed while segments are being filled may be gone before it was of use.
      if env.settings.capacity != nil, tail != writer.withLock({ $0.tail?.id }) { continue }
      if commits.publishedSequence &- before < Self.burst.writes { break }
    }
    return true
  }
}
