internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// What is fixed while a store is open, and what every part of it may ask and say: whether the store takes writes, what time it
/// is, that something has happened.
///
/// Owns the store's status, which only ever gets worse: a failed sync and a close are never taken back. Calls nothing above.
/// Thread safety: any thread.
final class Environment: Sendable {
  let path: String
  let options: Options
  let platform: Platform
  let storeID: StoreID
  let seed: HashSeed
  let hasDefaultExpiry: Bool
  /// Called before each record is published and after; a test takes crash images there.
  let onPublish: (@Sendable () -> Void)?
  let epochs = EpochDomain()
  let time: StoreTime
  let session: Session?
  /// Whether background work has threads of its own; without, whoever writes does it.
  let isThreaded: Bool
  let workers: Workers
  let puts = LatencyRecorder()
  let gets = LatencyRecorder()
  private let queue: EventQueue
  private let status: Atomic<UInt32>
  /// The error of the first sync that failed.
  private let failure = Atomic<Int32>(0)
  private let written = Atomic<Int>(0)

  /// What keeps a store from being used freely; nothing, as a rule.
  struct Status: OptionSet {
    let rawValue: UInt32
    static let closed = Status(rawValue: 1)
    static let readOnly = Status(rawValue: 2)
    static let syncFailed = Status(rawValue: 4)
    /// A read-only store takes in what it cannot read record by record: reads wait.
    static let loading = Status(rawValue: 8)
  }

  init(path: String, options: Options, host: Host, manifest: Manifest, session: Session?) {
    self.path = path
    self.options = options
    self.session = session
    hasDefaultExpiry = options.defaultExpiry != .never
    platform = host.platform
    storeID = manifest.storeID
    seed = manifest.seed
    onPublish = host.onPublish.map { look -> (@Sendable () -> Void) in { LockRank.apart { look() } } }
    time = StoreTime(clock: options.clock, atLeast: manifest.storeTime)
    isThreaded = host.background == .threads
    workers = Workers(isThreaded: isThreaded)
    queue = EventQueue(options.onEvent)
    status = Atomic(options.readOnly ? Status.readOnly.rawValue : 0)
  }

  // MARK: Status

  /// Whether a read or a write may go on without looking further.
  @inline(__always)
  var isUnhindered: Bool { status.load(ordering: .relaxed) == 0 }

  /// Whether the store is closed, or being closed. Whoever closes it takes the writer's lock before records go: who asks under
  /// that lock, and gets false, may follow addresses until it gives the lock back.
  var isClosed: Bool { present.contains(.closed) }

  /// Whether reads have to wait for what a read-only store is loading.
  var isLoading: Bool { present.contains(.loading) }

  /// Whether the store takes writes.
  var isWritable: Bool { present.isEmpty }

  /// Acquires: whoever sees that the store is closed sees all that was done before.
  private var present: Status { Status(rawValue: status.load(ordering: .acquiring)) }

  /// Throws unless the store takes writes.
  func checkWritable() throws(StoreError) {
    let present = present
    if present.isEmpty { return }
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
    throw .syncFailed(errno: failureCode ?? PlatformError.inputOutput)
  }

  /// Throws unless what was written can be made durable.
  func checkSyncable() throws(StoreError) {
    let present = present
    if present.contains(.closed) { throw .closed }
    if present.contains(.readOnly) { throw .readOnly }
  }

  /// Throws if the store is closed.
  func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  /// Begins a close; what the status was before.
  func markClosed() -> Status {
    Status(rawValue: status.bitwiseOr(Status.closed.rawValue, ordering: .sequentiallyConsistent).oldValue)
  }

  /// Makes reads wait: the index is no state that the writer had.
  func beginLoading() { status.bitwiseOr(Status.loading.rawValue, ordering: .sequentiallyConsistent) }

  /// Lets reads go on.
  func endLoading() { status.bitwiseAnd(~Status.loading.rawValue, ordering: .sequentiallyConsistent) }

  /// Refuses all writes from now on: a sync failed, and what the kernel did with the pages is not known.
  func latch(syncFailure code: Int32) {
    _ = failure.compareExchange(expected: 0, desired: code, ordering: .sequentiallyConsistent)
    status.bitwiseOr(Status.syncFailed.rawValue, ordering: .sequentiallyConsistent)
    emit(.syncFailed(errno: code))
  }

  /// Why no write is taken any more, if a sync has failed.
  private var failureCode: Int32? {
    let code = failure.load(ordering: .acquiring)
    return code == 0 ? nil : code
  }

  // MARK: Events

  /// Lets the store's handler know, soon: with what locks are held now, it cannot be called.
  func emit(_ event: StoreEvent) {
    // A read-only store delivers them wherever it may have added some, and needs no thread.
    if queue.add(event), !options.readOnly { workers.keeper.request(.deliver) }
  }

  /// Calls the handler for what waits. No lock is held.
  @inline(__always)
  func deliverEvents() { queue.deliver() }

  /// Delivers nothing until ``beginEvents()``.
  func holdEvents() { queue.hold() }

  /// Delivers what was held back by an opening or a close.
  func beginEvents() { queue.begin() }

  // MARK: Time

  /// The present store time, for callers that hold no lock: tells of a jump of the wall clock.
  var checkedNow: Int64 {
    let now = time.now
    if let jump = time.takeJump() { emit(.clockJumped(forward: jump)) }
    return now
  }

  // MARK: Figures

  /// Bytes written to files other than by appending records.
  var bytesWritten: Int { written.load(ordering: .relaxed) }

  func countWritten(_ bytes: Int) { written.wrappingAdd(bytes, ordering: .relaxed) }
}

extension Environment {
  /// The threads of a store, by what they do. Each part of the store may ask them for work; what they do is said by its owner.
  struct Workers: Sendable {
    /// Allocates ahead of the writer.
    let ahead: Worker
    /// Seals, checkpoints and sweeps behind it.
    let keeper: Worker
    let merger: Worker

    init(isThreaded: Bool) {
      ahead = Worker(name: "esker-ahead", isThreaded: isThreaded)
      // Nobody waits for what it does, so it must not take a processor from a writer.
      keeper = Worker(name: "esker-keep", isThreaded: isThreaded, givesWay: true)
      merger = Worker(name: "esker-merge", isThreaded: isThreaded, restingNanoseconds: 10_000_000)
    }

    /// Does on the calling thread what was asked for, where there are no threads.
    func runPending() {
      ahead.runPending()
      keeper.runPending()
      merger.runPending()
    }

    /// Ends all work after the jobs under way. Idempotent.
    func stop() {
      ahead.stop()
      keeper.stop()
      merger.stop()
    }
  }
}
