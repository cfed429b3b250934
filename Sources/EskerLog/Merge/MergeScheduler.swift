internal import EskerPlatform

/// Merges in the background on a thread of its own, or in tests on the thread that writes.
///
/// It looks when asked to, and when something is known to expire; never more often than every few milliseconds, so that
/// asking costs nothing.
final class MergeScheduler: @unchecked Sendable {
  /// When to look again.
  enum Next {
    /// When asked to.
    case whenAsked
    /// At once: there may be more to do.
    case now
    /// After that many nanoseconds, or when asked to.
    case after(UInt64)
  }

  let isThreaded: Bool
  private let look: @Sendable () -> Next
  private let lock = Lock(.worker)
  private let condition = Condition()
  /// What naps wait for.
  private let stopping = Condition()
  // Guarded by `lock`.
  private var isAsked = false
  private var isStopping = false
  private var isBusy = false
  private var pauses = 0
  private var next = Next.whenAsked
  private var thread: WorkerThread?

  /// Between two looks that found nothing.
  private static let restNanoseconds: UInt64 = 10_000_000

  init(isThreaded: Bool, look: @escaping @Sendable () -> Next) {
    self.isThreaded = isThreaded
    self.look = look
  }

  /// Asks for a look. Starts the thread if there is none yet; where that fails, the next asking tries again.
  func request() {
    lock.lock()
    defer { lock.unlock() }
    guard !isAsked || thread == nil, !isStopping else { return }
    isAsked = true
    guard isThreaded else { return }
    if thread == nil {
      thread = try? WorkerThread(name: "esker-merge") { [self] in run() }
    } else {
      condition.signal()
    }
  }

  private func run() {
    lock.lock()
    while !isStopping {
      if pauses > 0 {
        condition.wait(lock)
        continue
      }
      if !isAsked {
        switch next {
        case .whenAsked: condition.wait(lock)
        case .now: isAsked = true
        case .after(let nanoseconds): if !condition.wait(lock, nanoseconds: nanoseconds) { isAsked = true }
        }
        continue
      }
      lookNow()
      if case .now = next { continue }
      if !isStopping { _ = stopping.wait(lock, nanoseconds: Self.restNanoseconds) }
    }
    lock.unlock()
  }

  /// Called with the lock held; lets it go meanwhile.
  private func lookNow() {
    isAsked = false
    isBusy = true
    lock.unlock()
    let result = look()
    lock.lock()
    isBusy = false
    next = result
  }

  /// Does what was asked for on the calling thread, if no thread does.
  func runPending() {
    lock.lock()
    defer { lock.unlock() }
    guard !isThreaded, !isBusy else { return }
    while isAsked, !isStopping, pauses == 0 {
      lookNow()
      if case .now = next { isAsked = true }
    }
  }

  // MARK: Pauses

  /// Begins no merge until resumed as often.
  func pause() {
    lock.withLock { pauses += 1 }
  }

  func resume() {
    lock.withLock {
      pauses = max(0, pauses - 1)
      condition.signal()
    }
  }

  var isPaused: Bool { lock.withLock { pauses > 0 } }

  /// Lets some time pass, less if the work is to end.
  func nap(nanoseconds: UInt64) {
    lock.lock()
    if !isStopping { _ = stopping.wait(lock, nanoseconds: nanoseconds) }
    lock.unlock()
  }

  /// Lets whoever waits for a lock get it.
  func yield() {
    guard isThreaded else { return }
    nap(nanoseconds: 20_000)
  }

  /// Ends the work after the merge under way, which ends as soon as it can. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.broadcast()
    stopping.broadcast()
    let running = thread.take()
    lock.unlock()
    running?.join()
  }
}
