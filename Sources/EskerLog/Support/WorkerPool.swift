internal import EskerPlatform

/// Jobs that are distributed among threads: each thread takes the next job that no other has taken.
///
/// Safety: threads may share it: `jobs` never changes, and everything else that does is guarded by `lock`.
final class WorkerPool<Result: Sendable>: @unchecked Sendable {
  typealias Job = @Sendable () -> Result

  private let jobs: [Job]
  private let lock = Lock(.leaf)
  private let condition = Condition()
  // Guarded by `lock`.
  private var next = 0
  private var remaining: Int
  private var results: [Result?]

  init(_ jobs: [Job]) {
    self.jobs = jobs
    remaining = jobs.count
    results = Array(repeating: nil, count: jobs.count)
  }

  /// Runs all jobs.
  ///
  /// - Parameters:
  ///   - threads: The number of threads to start; with 0, the jobs run one after another on the calling thread.
  ///   - meanwhile: Called on the calling thread, twenty times a second or after each job.
  /// - Returns: The results in the order of the jobs.
  func run(threads: Int, _ meanwhile: () -> Void) -> [Result] {
    var workers: [WorkerThread] = []
    for _ in 0..<min(threads, jobs.count) {
      if let worker = try? WorkerThread(name: "esker worker", { while self.doNext() {} }) { workers.append(worker) }
    }
    // No thread was wanted, or none could be started.
    if workers.isEmpty { while doNext() { meanwhile() } }
    while !waitForEnd(nanoseconds: 50_000_000) { meanwhile() }
    for worker in workers { worker.join() }
    return lock.withLock { results.compactMap { $0 } }
  }

  /// Runs the next job; false if none is left.
  private func doNext() -> Bool {
    guard let position = take() else { return false }
    let result = jobs[position]()
    lock.withLock {
      results[position] = result
      remaining -= 1
      if remaining == 0 { condition.broadcast() }
    }
    return true
  }

  private func take() -> Int? {
    lock.withLock {
      guard next < jobs.count else { return nil }
      next += 1
      return next - 1
    }
  }

  private func waitForEnd(nanoseconds: UInt64) -> Bool {
    lock.withLock {
      if remaining > 0 { _ = condition.wait(lock, nanoseconds: nanoseconds) }
      return remaining == 0
    }
  }
}
