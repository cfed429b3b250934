internal import EskerPlatform

/// Does work that others must not wait for, on a thread of its own or, in tests, when told to.
///
/// Work is a set of jobs: asking for one that is already asked for changes nothing. The thread is started when it is first
/// needed. Thread safety: any thread.
///
/// Safety: threads may share it, since everything that changes is guarded by `lock`.
final class Worker: @unchecked Sendable {
  /// The jobs there are.
  struct Jobs: OptionSet {
    let rawValue: UInt32
    /// Allocate and bring in pages ahead of the tail.
    static let growTail = Jobs(rawValue: 1)
    /// Have the next segment ready.
    static let prepareSegment = Jobs(rawValue: 2)
    /// Have the index's next chunk ready.
    static let growIndex = Jobs(rawValue: 4)
    /// Move the index from the checkpoint's pages into memory of its own.
    static let migrateIndex = Jobs(rawValue: 8)
    /// Write footers, sync and list full segments.
    static let seal = Jobs(rawValue: 16)
    /// Write an index checkpoint.
    static let checkpoint = Jobs(rawValue: 32)
    /// Clear the index of emptied keyspaces.
    static let sweep = Jobs(rawValue: 64)
    /// Let go of segments that were merged away.
    static let dispose = Jobs(rawValue: 128)
    /// Call the handler of events.
    static let deliver = Jobs(rawValue: 256)
    /// Merge if that is due.
    static let merge = Jobs(rawValue: 512)
    /// Publish figures.
    static let publish = Jobs(rawValue: 1024)
  }

  /// When to do the same again.
  enum Next {
    /// When asked to.
    case whenAsked
    /// At once: there may be more to do.
    case now
    /// After that many nanoseconds, or when asked to.
    case after(UInt64)
  }

  let isThreaded: Bool
  private let name: String
  private let givesWay: Bool
  /// Between two rounds, so that asking often costs nothing.
  private let rest: UInt64
  private let lock = Lock(.worker)
  private let condition = Condition()
  /// What naps wait for.
  private let stopping = Condition()
  // Guarded by `lock`.
  private var body: (@Sendable (Jobs) -> Next)?
  private var pending: Jobs = []
  private var last: Jobs = []
  private var next = Next.whenAsked
  private var isStopping = false
  private var isBusy = false
  private var pauses = 0
  private var thread: WorkerThread?

  /// - Parameters:
  ///   - givesWay: to every other thread that wants a processor.
  ///   - rest: pauses that long after a round that does not ask to go on at once.
  init(name: String, isThreaded: Bool, givesWay: Bool = false, restingNanoseconds rest: UInt64 = 0) {
    self.name = name
    self.isThreaded = isThreaded
    self.givesWay = givesWay
    self.rest = rest
  }

  /// Says what the work is: kept until it ends, and called with no lock held.
  func begin(_ body: @escaping @Sendable (Jobs) -> Next) {
    lock.withLock { self.body = body }
  }

  /// Asks for jobs. Starts the thread if there is none yet; where that fails, the next asking tries again.
  func request(_ jobs: Jobs) {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping, !jobs.isSubset(of: pending) || (isThreaded && thread == nil) else { return }
    pending.formUnion(jobs)
    wake()
  }

  /// Does jobs once some time has passed, and again as they say; false where there is no thread for it.
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
        if rest > 0, !isStopping { _ = stopping.wait(lock, nanoseconds: rest) }
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

  /// Does what was asked for on the calling thread, if no thread does.
  func runPending() {
    lock.lock()
    if thread == nil, !isBusy {
      while !pending.isEmpty, !isStopping, pauses == 0 {
        performPending()
        if case .now = next { pending = last }
      }
    }
    lock.unlock()
  }

  /// Called with the lock held; lets it go meanwhile.
  private func performPending() {
    let (jobs, body) = (pending, body)
    pending = []
    isBusy = true
    lock.unlock()
    let result = body?(jobs) ?? .whenAsked
    lock.lock()
    isBusy = false
    (last, next) = (jobs, result)
  }

  // MARK: Within a job

  /// Waits: false when something else was asked for meanwhile or the work is to end.
  func pause(nanoseconds: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if pending.isEmpty, !isStopping { _ = condition.wait(lock, nanoseconds: nanoseconds) }
    return pending.isEmpty && !isStopping
  }

  /// Lets some time pass, less if the work is to end. Not only for the worker itself.
  func nap(nanoseconds: UInt64) {
    lock.lock()
    if !isStopping { _ = stopping.wait(lock, nanoseconds: nanoseconds) }
    lock.unlock()
  }

  /// Lets whoever waits for a lock get it.
  func yield() {
    if isThreaded { nap(nanoseconds: 20_000) }
  }

  // MARK: Pauses and the end

  /// Begins no round until resumed as often.
  func suspend() {
    lock.withLock { pauses += 1 }
  }

  func resume() {
    lock.withLock {
      pauses = max(0, pauses - 1)
      condition.signal()
    }
  }

  var isSuspended: Bool { lock.withLock { pauses > 0 } }

  /// Ends the work after the round under way, and lets go of what it was. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.broadcast()
    stopping.broadcast()
    let running = thread.take()
    lock.unlock()
    running?.join()
    // Let go of outside the lock: it may hold the last reference to what it works on.
    _ = lock.withLock { body.take() }
  }
}
