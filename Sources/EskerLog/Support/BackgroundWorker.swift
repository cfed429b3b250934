internal import EskerPlatform
internal import Synchronization

/// Does work that other threads must not wait for: on its own thread or, in tests, when told to.
///
/// Work is a set of jobs: requesting a job that is already requested changes nothing. The thread is started when first
/// needed. Thread safety: any thread.
///
/// Safety: threads may share it, since everything that changes is guarded by `lock`.
final class BackgroundWorker: @unchecked Sendable {
  struct Jobs: OptionSet {
    let rawValue: UInt32
    /// Allocate and fault in pages ahead of the tail.
    static let growTail = Jobs(rawValue: 1)
    /// Prepare the next segment.
    static let prepareSegment = Jobs(rawValue: 2)
    /// Prepare the index's next chunk.
    static let growIndex = Jobs(rawValue: 4)
    /// Move the index from the checkpoint's pages into its own memory.
    static let migrateIndex = Jobs(rawValue: 8)
    /// Seal full segments: write their footers, sync them, and list them as sealed.
    static let seal = Jobs(rawValue: 16)
    /// Write an index checkpoint.
    static let checkpoint = Jobs(rawValue: 32)
    /// Remove the entries of emptied keyspaces from the index.
    static let purge = Jobs(rawValue: 64)
    /// Release segments that were merged away.
    static let dispose = Jobs(rawValue: 128)
    /// Deliver events to the handler.
    static let deliver = Jobs(rawValue: 256)
    /// Merge if due.
    static let merge = Jobs(rawValue: 512)
    /// Publish statistics.
    static let publish = Jobs(rawValue: 1024)
    /// Look whether other processes read the store.
    static let lookForReaders = Jobs(rawValue: 2048)
  }

  /// When to run the same jobs again.
  enum Next {
    /// When requested.
    case whenAsked
    /// At once: there may be more to do.
    case now
    /// After that many nanoseconds, or when requested.
    case after(UInt64)

    /// The one of both that comes first.
    func sooner(_ other: Next) -> Next {
      switch (self, other) {
      case (.now, _), (_, .now): .now
      case (.whenAsked, let next), (let next, .whenAsked): next
      case (.after(let one), .after(let two)): .after(min(one, two))
      }
    }
  }

  let isThreaded: Bool
  private let name: String
  private let givesWay: Bool
  /// Nanoseconds to rest between two rounds, which makes frequent requests cheap.
  private let rest: UInt64
  private let lock = Lock(.worker)
  private let condition = Condition()
  /// What a nap waits for.
  private let stopping = Condition()
  // Guarded by `lock`.
  private var body: (@Sendable (Jobs) -> Next)?
  private var pending: Jobs = []
  private var last: Jobs = []
  private var next = Next.whenAsked
  private var isStopping = false
  private var isInRound = false
  private var pauses = 0
  /// Whether a thread waits for the end of the round in progress.
  private var isAwaited = false
  private let rested = Condition()
  private var thread: WorkerThread?

  /// - Parameters:
  ///   - givesWay: Whether the thread yields the processor to every other thread that needs it.
  ///   - rest: How long to rest after a round that does not ask to continue at once.
  init(name: String, isThreaded: Bool, givesWay: Bool = false, restingNanoseconds rest: UInt64 = 0) {
    self.name = name
    self.isThreaded = isThreaded
    self.givesWay = givesWay
    self.rest = rest
  }

  /// Sets the closure that runs the jobs: kept until `stop`, and called with no lock held.
  func begin(_ body: @escaping @Sendable (Jobs) -> Next) {
    lock.withLock { self.body = body }
  }

  /// Requests jobs. Starts the thread if there is none yet; if that fails, the next request tries again.
  func request(_ jobs: Jobs) {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping, !jobs.isSubset(of: pending) || (isThreaded && thread == nil) else { return }
    pending.formUnion(jobs)
    wake()
  }

  /// Runs jobs after a delay, and again when they ask for it; false if there is no thread for it.
  func start(_ jobs: Jobs, afterNanoseconds delay: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    (last, next) = (jobs, .after(delay))
    wake()
    return thread != nil
  }

  /// Called with the lock held.
  private func wake() {
    guard isThreaded, !isStopping else { return }
    if thread == nil {
      thread = try? WorkerThread(name: name, givesWay: givesWay) { [self] in run() }
    } else {
      condition.signal()
    }
  }

  private func run() {
    lock.lock()
    while !isStopping {
      if pauses > 0 {
        condition.wait(lock)
      } else if !pending.isEmpty {
        performPending()
        if case .now = next { continue }
        if rest > 0, !isStopping, !isAwaited { _ = stopping.wait(lock, nanoseconds: rest) }
      } else {
        switch next {
        case .whenAsked: condition.wait(lock)
        case .now: pending = last
        case .after(let nanoseconds): if !condition.wait(lock, nanoseconds: nanoseconds) { pending.formUnion(last) }
        }
      }
    }
    lock.unlock()
  }

  /// Runs the requested jobs on the calling thread, unless there is a thread for them.
  func runPending() {
    lock.lock()
    if thread == nil, !isInRound {
      while !pending.isEmpty, !isStopping, pauses == 0 {
        performPending()
        if case .now = next { pending = last }
      }
    }
    lock.unlock()
  }

  /// Called with the lock held; unlocks it while the jobs run.
  private func performPending() {
    let (jobs, body) = (pending, body)
    pending = []
    isInRound = true
    lock.unlock()
    let result = body?(jobs) ?? .whenAsked
    lock.lock()
    isInRound = false
    (last, next) = (jobs, result)
    if isAwaited { rested.broadcast() }
  }

  // MARK: Within a job

  /// Waits; false if other jobs were requested meanwhile, or the worker is pausing or stopping.
  func pause(nanoseconds: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if pending.isEmpty, !isStopping, pauses == 0 { _ = condition.wait(lock, nanoseconds: nanoseconds) }
    return pending.isEmpty && !isStopping && pauses == 0
  }

  /// Sleeps, less long if the worker is pausing or stopping. Not only for the worker's own thread.
  func sleep(nanoseconds: UInt64) {
    lock.lock()
    if !isStopping, !isAwaited { _ = stopping.wait(lock, nanoseconds: nanoseconds) }
    lock.unlock()
  }

  /// Gives threads that wait for a lock a chance to get it.
  func yield() {
    #if DEBUG
      yields.wrappingAdd(1, ordering: .relaxed)
    #endif
    if isThreaded { sleep(nanoseconds: 20_000) }
  }

  #if DEBUG
    /// How often others were given a chance, for tests.
    let yields = Atomic<Int>(0)

    /// Whether it is working, or about to, for tests.
    var hasWork: Bool { lock.withLock { isInRound || !pending.isEmpty } }

    /// Whether it does nothing until it is asked to, for tests.
    var isIdle: Bool {
      lock.withLock { if case .whenAsked = next { !isInRound && pending.isEmpty } else { false } }
    }
  #endif

  // MARK: Pauses and the end

  /// Starts no further round until resumed as many times.
  func suspend() {
    lock.withLock { pauses += 1 }
  }

  /// Waits for the end of the round in progress, which takes no nap meanwhile. One thread at a time. Called with no lock held that a
  /// job may want.
  func awaitRest() {
    lock.lock()
    isAwaited = true
    condition.broadcast()
    stopping.broadcast()
    while isInRound { rested.wait(lock) }
    isAwaited = false
    lock.unlock()
  }

  func resume() {
    lock.withLock {
      pauses = max(0, pauses - 1)
      condition.signal()
    }
  }

  /// Whether this is its thread.
  var isCurrent: Bool { lock.withLock { thread }?.isCurrent ?? false }

  /// Whether a round is in progress.
  var isBusy: Bool { lock.withLock { isInRound } }

  /// Stops after the round in progress, and releases the closure. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.broadcast()
    stopping.broadcast()
    let running = thread.take()
    lock.unlock()
    running?.join()
    // Released outside the lock: it may hold the last reference to what it works on.
    _ = lock.withLock { body.take() }
  }
}
