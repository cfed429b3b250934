internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What every part of an open store shares: settings that do not change, the store's status, its clock, its events and
/// its background workers.
///
/// The status only ever gets worse: a failed sync and a close are never undone. Calls no other part of the engine. Thread
/// safety: any thread.
final class Environment: Sendable {
  let path: String
  let options: Options
  /// What the options say, and the store remembers where they say nothing.
  let settings: Options.Settings
  let platform: Platform
  let storeID: StoreID
  let seed: HashSeed
  let hasDefaultExpiry: Bool
  /// Called before and after each record is published; tests take crash images there.
  let onPublish: (@Sendable () -> Void)?
  let epochs = EpochDomain()
  let time: StoreTime
  let session: Session?
  /// Of a read-only store: keeps the writer from replacing records as long as this one is there.
  let presence: ReaderPresence?
  let checkpointsSmallStores: Bool
  /// Whether records take the room of dead ones: never without automatic merges, which keep all of the log.
  let reusesSpace: Bool
  /// Whether background work has its own threads; if not, the writing thread does it.
  let isThreaded: Bool
  let workers: Workers
  let puts = LatencyRecorder()
  let gets = LatencyRecorder()
  let pages: PageAdvice
  private let queue: EventQueue
  private let status: Atomic<UInt32>
  /// The error of the first sync that failed.
  private let failure = Atomic<Int32>(0)
  private let written = Atomic<Int>(0)

  /// The reasons why a store refuses or delays calls; usually empty.
  struct Status: OptionSet {
    let rawValue: UInt32
    static let closed = Status(rawValue: 1)
    static let readOnly = Status(rawValue: 2)
    static let syncFailed = Status(rawValue: 4)
    /// A read-only store is reloading its index: reads wait.
    static let loading = Status(rawValue: 8)
  }

  init(
    path: String,
    options: Options,
    host: StoreHost,
    manifest: Manifest,
    session: Session?,
    presence: ReaderPresence?
  ) {
    self.path = path
    self.options = options
    self.session = session
    self.presence = presence
    settings = Options.Settings(manifest.settings).changed(by: options)
    hasDefaultExpiry = settings.defaultExpiry != .never
    platform = host.platform
    pages = PageAdvice(host.platform)
    storeID = manifest.storeID
    seed = manifest.seed
    onPublish = host.onPublish.map { look -> (@Sendable () -> Void) in { LockRank.apart { look() } } }
    time = StoreTime(clock: options.clock, atLeast: manifest.storeTime)
    checkpointsSmallStores = host.checkpointsSmallStores
    reusesSpace = host.reusesSpace && options.merge.isAutomatic && !options.readOnly
    isThreaded = host.background == .threads
    workers = Workers(isThreaded: isThreaded)
    queue = EventQueue(options.onEvent)
    status = Atomic(options.readOnly ? Status.readOnly.rawValue : 0)
  }

  // MARK: Status

  /// Whether a read or a write may proceed without further checks.
  ///
  /// Relaxed: a read may be overtaken by a change right after the check in any case, and a write checks under the
  /// writer's lock, which a close takes after it has set the mark.
  @inline(__always)
  var isUnhindered: Bool { status.load(ordering: .relaxed) == 0 }

  /// Whether the store is closed, or being closed. A close takes the writer's lock before it releases any records: a
  /// caller that gets false under that lock may follow addresses until it unlocks.
  var isClosed: Bool { present.contains(.closed) }

  /// Whether reads must wait until a read-only store has reloaded its index.
  var isLoading: Bool { present.contains(.loading) }

  /// Whether the store accepts writes.
  var isWritable: Bool { present.isEmpty }

  /// Acquiring: a thread that sees that the store is closed sees everything done before.
  private var present: Status { Status(rawValue: status.load(ordering: .acquiring)) }

  /// Throws unless the store accepts writes.
  func checkWritable() throws(StoreError) {
    let present = present
    if present.isEmpty { return }
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
    throw .syncFailed(errno: failureCode ?? PlatformError.inputOutput)
  }

  /// Throws if the store is closed or read-only. After a failed sync, the sync itself throws.
  func checkSyncable() throws(StoreError) {
    let present = present
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
  }

  /// Throws if the store is closed.
  func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  /// Begins a close; returns the status before.
  func markClosed() -> Status {
    Status(rawValue: status.bitwiseOr(Status.closed.rawValue, ordering: .sequentiallyConsistent).oldValue)
  }

  /// Makes reads wait, because the index is in a state that the writer's never was in.
  func beginLoading() { status.bitwiseOr(Status.loading.rawValue, ordering: .sequentiallyConsistent) }

  /// Lets reads proceed.
  func endLoading() { status.bitwiseAnd(~Status.loading.rawValue, ordering: .sequentiallyConsistent) }

  /// Refuses all writes from now on: a sync failed, and the state of the pages in the kernel is unknown.
  func latch(syncFailure code: Int32) {
    _ = failure.compareExchange(expected: 0, desired: code, ordering: .sequentiallyConsistent)
    status.bitwiseOr(Status.syncFailed.rawValue, ordering: .sequentiallyConsistent)
    emit(.syncFailed(errno: code))
  }

  /// The error number of the first failed sync; nil if none has failed.
  private var failureCode: Int32? {
    let code = failure.load(ordering: .acquiring)
    return code == 0 ? nil : code
  }

  // MARK: Events

  /// Queues an event for the store's handler, which cannot be called under the locks held now.
  func emit(_ event: StoreEvent) {
    // A read-only store delivers events at the end of each call that may have added some, and needs no thread.
    if queue.add(event), !options.readOnly { workers.maintainer.request(.deliver) }
  }

  /// Calls the handler for each queued event. Must be called without locks.
  @inline(__always)
  func deliverEvents() { queue.deliver() }

  /// Holds events back until ``beginEvents()``.
  func holdEvents() { queue.hold() }

  /// Delivers what an opening or a close held back.
  func beginEvents() { queue.begin() }

  // MARK: Time

  /// The current store time, for callers that hold no lock; reports a jump of the wall clock as an event.
  var checkedNow: Int64 {
    let now = time.now
    if let jump = time.takeJump() { emit(.clockJumped(forward: jump)) }
    return now
  }

  // MARK: Figures

  /// Bytes written to files, other than appended records.
  var bytesWritten: Int { written.load(ordering: .relaxed) }

  func countWritten(_ bytes: Int) { written.wrappingAdd(bytes, ordering: .relaxed) }
}

extension Environment {
  /// The background threads of a store. Any part of the store may request work; the owner of a worker defines what it
  /// does.
  struct Workers: Sendable {
    /// Allocates memory and file space ahead of the writer.
    let ahead: BackgroundWorker
    /// Seals, checkpoints and purges after the writer.
    let maintainer: BackgroundWorker
    let merger: BackgroundWorker

    init(isThreaded: Bool) {
      ahead = BackgroundWorker(name: "esker-ahead", isThreaded: isThreaded)
      // No thread waits for its work, so it must not take a processor from a writer.
      maintainer = BackgroundWorker(name: "esker-maintain", isThreaded: isThreaded, givesWay: true)
      merger = BackgroundWorker(name: "esker-merge", isThreaded: isThreaded, restingNanoseconds: 10_000_000)
    }

    /// Runs the requested jobs on the calling thread, where there are no background threads.
    func runPending() {
      ahead.runPending()
      maintainer.runPending()
      merger.runPending()
    }

    /// Stops all workers after the jobs in progress. Idempotent.
    func stop() {
      ahead.stop()
      maintainer.stop()
      merger.stop()
    }
  }
}
