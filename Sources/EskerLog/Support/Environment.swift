internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What every part of an open store shares: settings that do not change, the store's status, its clock, its events and
/// its background workers.
///
/// A failed sync and a close are never undone; only a load and a suspension end. Calls no other part of the engine. Thread safety: any
/// thread.
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
  /// Of a read-only store: keeps the writer from replacing records as long as this one is there. A suspended store is there only while
  /// it reads on.
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
  private let following: Atomic<Bool>
  /// The error of the first sync that failed.
  private let failure = Atomic<Int32>(0)
  private let written = Atomic<Int>(0)

  /// The reasons why a store refuses or delays calls; usually empty.
  struct Status: OptionSet {
    let rawValue: UInt32
    static let closed = Status(rawValue: 1)
    static let readOnly = Status(rawValue: 2)
    static let syncFailed = Status(rawValue: 4)
    /// A store that follows a writer is reloading its index: reads wait.
    static let loading = Status(rawValue: 8)
    /// The store has let go of its files, so that another process may write to them.
    static let suspended = Status(rawValue: 16)
    /// It does not take them back of itself, but when it is told to.
    static let withdrawn = Status(rawValue: 32)
  }

  /// - Parameter isBeside: Whether another process writes at present, and this one is to write in its turn.
  init(
    path: String,
    options: Options,
    host: StoreHost,
    manifest: Manifest,
    session: Session?,
    presence: ReaderPresence?,
    isBeside: Bool
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
    time = StoreTime(clock: options.clock, atLeast: manifest.storeTime, leftIn: session?.last)
    checkpointsSmallStores = host.checkpointsSmallStores
    reusesSpace = host.reusesSpace && options.merge.isAutomatic && !options.readOnly
    isThreaded = host.background == .threads
    workers = Workers(isThreaded: isThreaded)
    queue = EventQueue(options.onEvent)
    let present: Status = options.readOnly ? .readOnly : isBeside ? .suspended : []
    status = Atomic(present.rawValue)
    following = Atomic(!present.isEmpty)
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

  /// Whether the store has let go of its files.
  var isSuspended: Bool { present.contains(.suspended) }

  /// Whether work in the background should come to an end.
  var isEnding: Bool { !present.isDisjoint(with: [.closed, .suspended]) }

  /// Whether another process may be writing, whose log this one reads: always in a read-only store, and while suspended. Not any more
  /// where a suspended store has the lock again and is about to write.
  var isFollowing: Bool { following.load(ordering: .acquiring) }

  /// Whether the store accepts writes.
  var isWritable: Bool { present.isEmpty }

  /// Acquiring: a thread that sees that the store is closed sees everything done before.
  private var present: Status { Status(rawValue: status.load(ordering: .acquiring)) }

  /// Throws unless the store accepts writes.
  func checkWritable() throws(StoreError) {
    let present = present.subtracting(.loading)
    if present.isEmpty { return }
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
    let isElsewhere = !present.isDisjoint(with: [.suspended, .withdrawn])
    if isElsewhere, !present.contains(.syncFailed) { throw .suspended(path: path) }
    throw .syncFailed(errno: failureCode ?? PlatformError.inputOutput)
  }

  /// Throws if the store is closed or read-only. After a failed sync, the sync itself throws.
  func checkSyncable() throws(StoreError) {
    let present = present
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
  }

  /// Throws if the store has let go of its files, which may belong to another process.
  func checkHeld() throws(StoreError) {
    if isSuspended { throw .suspended(path: path) }
  }

  /// Throws unless the store accepts writes, if need be in its turn.
  func checkMayWrite() throws(StoreError) {
    let present = present.subtracting(.loading)
    if present.isEmpty || writesInTurn && present == .suspended { return }
    try checkWritable()
  }

  /// Whether writes wait for their turn where another process writes.
  var writesInTurn: Bool { options.sharing != .exclusive }

  /// Throws if the store is closed.
  func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  /// Begins a close; returns the status before.
  func markClosed() -> Status {
    Status(rawValue: status.bitwiseOr(Status.closed.rawValue, ordering: .sequentiallyConsistent).oldValue)
  }

  /// Refuses writes from now on, until ``endSuspension()``. A write that has begun goes on: it holds the writer's lock.
  func beginSuspension() { status.bitwiseOr(Status.suspended.rawValue, ordering: .sequentiallyConsistent) }

  func endSuspension() {
    status.bitwiseAnd(~(Status.suspended.rawValue | Status.withdrawn.rawValue), ordering: .sequentiallyConsistent)
  }

  /// Whether the store stays suspended until it is told otherwise.
  var isWithdrawn: Bool { present.contains(.withdrawn) }

  func withdraw() { status.bitwiseOr(Status.withdrawn.rawValue, ordering: .sequentiallyConsistent) }

  /// Lets a store that writes in turn take its turn again.
  func endWithdrawal() { status.bitwiseAnd(~Status.withdrawn.rawValue, ordering: .sequentiallyConsistent) }

  /// Sets whether the store reads what another process writes.
  func follow(_ follows: Bool) { following.store(follows, ordering: .sequentiallyConsistent) }

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
    // A store that follows a writer delivers events at the end of each call that may have added some, and needs no thread.
    if queue.add(event), !isFollowing { workers.maintainer.request(.deliver) }
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

    private var all: [BackgroundWorker] { [ahead, maintainer, merger] }

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
      for worker in all { worker.stop() }
    }

    /// Waits for the jobs in progress, and begins no others until ``resume()``. What is asked for meanwhile is done then.
    func suspend() {
      for worker in all { worker.suspend() }
      for worker in all { worker.awaitRest() }
    }

    func resume() {
      for worker in all { worker.resume() }
    }

    /// Whether this is the thread of one of them.
    var areCurrent: Bool { all.contains { $0.isCurrent } }

    /// Whether one of those works whose work may take long.
    var areBusy: Bool { maintainer.isBusy || merger.isBusy }
  }
}
