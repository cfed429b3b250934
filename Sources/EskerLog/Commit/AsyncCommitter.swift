internal import EskerPlatform
internal import Synchronization

/// Lets tasks wait for durability without holding a thread, and syncs when periodic durability is due.
///
/// One thread of the store's own leads the syncs that tasks wait for and resumes the tasks outside all locks. Started when
/// first needed.
final class AsyncCommitter: @unchecked Sendable {
  private let commits: CommitQueue
  private let clock: any SystemClock
  private let lock = Lock()
  private let condition = Condition()
  // Guarded by `lock`.
  private var waiters: [Waiter] = []
  private var deadline: UInt64?
  private var isStopping = false
  private var thread: WorkerThread?

  init(commits: CommitQueue, clock: any SystemClock) {
    self.commits = commits
    self.clock = clock
  }

  /// One waiting task. Resumed exactly once: by the committer or by its cancellation, whoever is first.
  private final class Waiter: @unchecked Sendable {
    let sequence: UInt64
    private let lock = Lock()
    // Guarded by `lock`.
    private var outcome: Result<Void, StoreError>?
    private var continuation: CheckedContinuation<Result<Void, StoreError>, Never>?

    init(sequence: UInt64) {
      self.sequence = sequence
    }

    func wait(_ continuation: CheckedContinuation<Result<Void, StoreError>, Never>) {
      lock.lock()
      guard let outcome else {
        self.continuation = continuation
        lock.unlock()
        return
      }
      lock.unlock()
      continuation.resume(returning: outcome)
    }

    func finish(_ result: Result<Void, StoreError>) {
      lock.lock()
      guard outcome == nil else {
        lock.unlock()
        return
      }
      outcome = result
      let waiting = continuation.take()
      lock.unlock()
      waiting?.resume(returning: result)
    }
  }

  /// Suspends the task until everything up to `sequence` is durable.
  func waitDurable(_ sequence: UInt64) async throws(StoreError) {
    if commits.durable.load(ordering: .acquiring) >= sequence { return }
    let waiter = Waiter(sequence: sequence)
    try enqueue(waiter)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter.wait($0) }
    } onCancel: {
      waiter.finish(.failure(.cancelled))
    }
    try result.get()
  }

  private func enqueue(_ waiter: Waiter) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping else { throw .closed }
    waiters.append(waiter)
    try start()
    if waiters.count == 1 { condition.signal() }
  }

  /// Asks for a sync at most `delay` nanoseconds from now.
  func requestSync(within delay: UInt64) throws(StoreError) {
    let (sum, overflow) = clock.monotonicNanoseconds().addingReportingOverflow(delay)
    let due = overflow ? .max : sum
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping else { throw .closed }
    if let deadline, deadline <= due { return }
    deadline = due
    try start()
    condition.signal()
  }

  /// Called with the lock held.
  private func start() throws(StoreError) {
    guard thread == nil else { return }
    thread = try translating { () throws(PlatformError) in
      try WorkerThread(name: "esker-commit") { [self] in run() }
    }
  }

  private func run() {
    lock.lock()
    while true {
      if !waiters.isEmpty {
        let group = waiters
        waiters.removeAll(keepingCapacity: true)
        lock.unlock()
        serve(group)
        lock.lock()
      } else if isStopping {
        break
      } else if let due = deadline {
        let now = clock.monotonicNanoseconds()
        if now >= due {
          deadline = nil
          lock.unlock()
          // A failure is kept by the queue and met by the next write.
          try? commits.waitDurable(commits.published.load(ordering: .acquiring))
          lock.lock()
        } else {
          _ = condition.wait(lock, nanoseconds: due - now)
        }
      } else {
        condition.wait(lock)
      }
    }
    lock.unlock()
  }

  private func serve(_ group: [Waiter]) {
    let highest = group.reduce(0) { max($0, $1.sequence) }
    let result: Result<Void, StoreError>
    do throws(StoreError) {
      try commits.waitDurable(highest)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    for waiter in group { waiter.finish(result) }
  }

  /// Serves who is waiting, then ends the thread. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.signal()
    let running = thread.take()
    lock.unlock()
    running?.join()
  }
}
