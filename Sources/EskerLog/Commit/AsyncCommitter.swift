internal import EskerPlatform
internal import Synchronization

/// Lets tasks wait for durability without blocking a thread, and syncs when periodic durability is due.
///
/// One thread of the store leads the syncs that tasks wait for, and resumes the tasks outside all locks. It is started
/// when first needed.
///
/// Safety: threads may share it, since everything that changes is guarded by `lock`. A continuation is resumed exactly
/// once: by ``enqueue(_:_:_:isCancelled:)`` if it is not put into a list, and otherwise by the thread that removes it
/// under the lock.
final class AsyncCommitter: @unchecked Sendable {
  private let commits: CommitQueue
  private let clock: any SystemClock
  private let lock = Lock(.committer)
  private let condition = Condition()
  private let lastTicket = Atomic<UInt64>(0)
  // Guarded by `lock`.
  private var waiting = WaiterList()
  /// The tasks that the sync in progress serves.
  private var served = WaiterList()
  private var deadline: UInt64?
  private var isStopping = false
  /// Whether the last sync is done: nothing more will become durable.
  private var isFinished = false
  private var thread: WorkerThread?

  init(commits: CommitQueue, clock: any SystemClock) {
    self.commits = commits
    self.clock = clock
  }

  /// Suspends the task until everything up to `sequence` is durable or, if the wait is abandonable, until the task is
  /// cancelled.
  nonisolated(nonsending) func waitDurable(_ sequence: UInt64, isAbandonable: Bool = true) async throws(StoreError) {
    if isDurable(sequence) { return }
    let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
    let failure: StoreError?
    if isAbandonable {
      failure = await withTaskCancellationHandler {
        unsafe await withUnsafeContinuation { unsafe enqueue($0, ticket, sequence, isCancelled: Task.isCancelled) }
      } onCancel: {
        abandon(ticket)
      }
    } else {
      failure = unsafe await withUnsafeContinuation { unsafe enqueue($0, ticket, sequence, isCancelled: false) }
    }
    guard let failure else { return }
    // If no thread could be started, the task's own thread leads.
    guard case .failed = failure else { throw failure }
    try commits.waitDurable(sequence)
  }

  private func enqueue(
    _ continuation: WaiterList.Continuation,
    _ ticket: UInt64,
    _ sequence: UInt64,
    isCancelled: @autoclosure () -> Bool
  ) {
    let failure: StoreError?
    lock.lock()
    do throws(StoreError) {
      guard !isFinished else { throw .closed }
      // A cancellation before this point found no continuation to resume.
      guard !isCancelled() else { throw .cancelled }
      // While the store is being closed, the task waits for its last sync.
      if !isStopping { try start() }
      unsafe waiting.append(continuation, ticket: ticket, sequence: sequence)
      if waiting.count == 1 { condition.signal() }
      failure = nil
    } catch {
      failure = error
    }
    lock.unlock()
    if let failure { unsafe continuation.resume(returning: isDurable(sequence) ? nil : failure) }
  }

  private func isDurable(_ sequence: UInt64) -> Bool { commits.durableSequence >= sequence }

  private func abandon(_ ticket: UInt64) {
    lock.lock()
    let continuation = unsafe waiting.remove(ticket: ticket) ?? served.remove(ticket: ticket)
    lock.unlock()
    unsafe continuation?.resume(returning: .cancelled)
  }

  /// Requests a sync within `delay` nanoseconds from now; false if no thread could be started for it.
  func requestSync(within delay: UInt64) -> Bool {
    let (sum, overflow) = clock.monotonicNanoseconds().addingReportingOverflow(delay)
    let due = overflow ? .max : sum
    lock.lock()
    defer { lock.unlock() }
    // Closing the store syncs.
    if isStopping { return true }
    if let deadline, deadline <= due { return true }
    guard (try? start()) != nil else { return false }
    deadline = due
    condition.signal()
    return true
  }

  /// Called with the lock held.
  private func start() throws(StoreError) {
    guard thread == nil else { return }
    thread = try translating { () throws(PlatformError) in
      try WorkerThread(name: "esker-commit") { [self] in run() }
    }
  }

  private func run() {
    var resumed = WaiterList()
    var expected = 0
    lock.lock()
    while true {
      if !waiting.isEmpty {
        gather(expected)
        expected = waiting.count
        swap(&waiting, &served)
        let sequence = served.sequence
        lock.unlock()
        let failure = sync(sequence)
        lock.lock()
        swap(&served, &resumed)
        lock.unlock()
        resumed.resumeAll(failure)
        lock.lock()
      } else if isStopping {
        break
      } else if let due = deadline {
        let now = clock.monotonicNanoseconds()
        if now >= due {
          deadline = nil
          lock.unlock()
          // The queue keeps a failure, and the next write throws it.
          try? commits.waitDurable(commits.lastToSync)
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

  /// Waits briefly for as many tasks as the last sync served, as a leading thread does for threads. Called with the lock
  /// held.
  private func gather(_ expected: Int) {
    var turns = 0
    while turns < CommitQueue.gatheringTurns, waiting.count < expected, !isStopping {
      lock.unlock()
      Platform.yieldThread()
      lock.lock()
      turns += 1
    }
  }

  private func sync(_ sequence: UInt64) -> StoreError? {
    do throws(StoreError) {
      try commits.waitDurable(sequence)
      return nil
    } catch {
      return error
    }
  }

  /// Serves the waiting tasks, then ends the thread; later tasks wait for ``finish()``. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.signal()
    let running = thread.take()
    lock.unlock()
    running?.join()
  }

  /// Resumes the tasks that began to wait while the store was being closed. Must be called after its last sync.
  func finish() {
    var resumed = WaiterList()
    lock.lock()
    isFinished = true
    swap(&waiting, &resumed)
    lock.unlock()
    let failure = commits.failureCode.map { StoreError.syncFailed(errno: $0) } ?? .closed
    resumed.resumeAll(isDurable(resumed.sequence) ? nil : failure)
  }
}
