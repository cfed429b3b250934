/// Threads for calls that may block, so that tasks never do.
///
/// As many as are of use, besides those that are stuck: what they run may be waiting for what waits. A supervisor looks in
/// while work waits, and adds a thread for each call that has been running for a while. Threads end when they have been idle for
/// some time.
///
/// Safety: threads may share it, since only a holder of `lock` touches what changes.
public final class IOThreads: @unchecked Sendable {
  /// Those of the process.
  public static let shared = IOThreads()

  private static let idleNanoseconds: UInt64 = 5_000_000_000
  /// A call is stuck once it has been running for one to two of these.
  private static let tickNanoseconds: UInt64 = 20_000_000
  private static let most = 256

  private let regular = max(4, 2 * Processors.count)
  private let lock = Lock(.ioThreads)
  private let condition = Condition()
  private let supervision = Condition()
  // Guarded by `lock`.
  private var jobs: [(@Sendable () -> Void)?] = []
  private var next = 0
  private var threads = 0
  private var idle = 0
  /// Calls that are running, by the tick in which they began: the present one, the one before, and earlier.
  private var running = (now: 0, before: 0, stuck: 0)
  private var tick: UInt64 = 0
  private var isSupervised = false

  private var waiting: Int { jobs.count - next }

  /// Threads of one's own. None is created until there is a job.
  public init() {}

  /// Runs `job` on one of the threads, soon. If there can be no thread at all, on the caller's.
  public func submit(_ job: @escaping @Sendable () -> Void) {
    lock.lock()
    jobs.append(job)
    var cannotRun = false
    if idle >= waiting {
      condition.signal()
    } else if threads < regular {
      cannotRun = !addThread() && threads == 0
    } else if !isSupervised {
      isSupervised = (try? WorkerThread(name: "esker-io-watch") { [self] in supervise() }) != nil
    }
    if cannotRun { jobs.removeLast() }
    lock.unlock()
    if cannotRun { job() }
  }

  /// Called with the lock held; false when the system has no thread to give.
  private func addThread() -> Bool {
    guard (try? WorkerThread(name: "esker-io") { [self] in run() }) != nil else { return false }
    threads += 1
    return true
  }

  private func run() {
    lock.lock()
    while true {
      if waiting > 0 {
        var job = take()
        let began = tick
        running.now += 1
        lock.unlock()
        job?()
        // What it holds may submit another as it goes, so none goes under the lock.
        job = nil
        lock.lock()
        noteEnd(ofOneBegunIn: began)
        continue
      }
      idle += 1
      let wasSignalled = condition.wait(lock, nanoseconds: Self.idleNanoseconds)
      idle -= 1
      if !wasSignalled, waiting == 0 { break }
    }
    threads -= 1
    lock.unlock()
  }

  /// Called with the lock held and work waiting.
  private func take() -> (@Sendable () -> Void)? {
    let job = jobs[next].take()
    next += 1
    if next == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      next = 0
    } else if next >= 1024, next * 2 > jobs.count {
      jobs.removeFirst(next)
      next = 0
    }
    return job
  }

  /// Called with the lock held.
  private func noteEnd(ofOneBegunIn began: UInt64) {
    switch tick - began {
    case 0: running.now -= 1
    case 1: running.before -= 1
    default: running.stuck -= 1
    }
  }

  private func supervise() {
    lock.lock()
    while waiting > 0 {
      _ = supervision.wait(lock, nanoseconds: Self.tickNanoseconds)
      tick += 1
      running = (0, running.now, running.stuck + running.before)
      let wanted = min(regular + running.stuck, Self.most)
      // As many more as there is work for.
      var more = min(waiting, wanted - threads)
      while more > 0, addThread() { more -= 1 }
    }
    isSupervised = false
    lock.unlock()
  }
}

/// One call on its way to a thread: runs once, or is cancelled before it runs.
private final class PendingCall<R: Sendable, E: Error>: Sendable {
  typealias Continuation = CheckedContinuation<Result<R, E>, Never>

  private enum State {
    case new
    case waiting(Continuation)
    case taken
  }

  private let state = Guarded<State>(.new, .leaf)

  /// Keeps the continuation; false when the call was cancelled before.
  func wait(_ continuation: Continuation) -> Bool {
    state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  /// Takes the call, to run it or to cancel it: whoever comes first.
  func take() -> Continuation? {
    state.withLock { state in
      defer { state = .taken }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
  }
}

extension IOThreads {
  /// Runs `body` on one of the threads while the task is suspended.
  ///
  /// - Parameter cancellation: what is thrown if the task was cancelled before `body` began. Once begun, it ends, and its outcome is
  ///   returned.
  public nonisolated(nonsending) func run<R: Sendable, E: Error>(
    orThrow cancellation: E,
    _ body: @escaping @Sendable () throws(E) -> R
  ) async throws(E) -> R {
    let call = PendingCall<R, E>()
    let outcome: Result<R, E> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard call.wait(continuation) else { return continuation.resume(returning: .failure(cancellation)) }
        submit {
          guard let continuation = call.take() else { return }
          do throws(E) {
            continuation.resume(returning: .success(try body()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      call.take()?.resume(returning: .failure(cancellation))
    }
    return try outcome.get()
  }
}
