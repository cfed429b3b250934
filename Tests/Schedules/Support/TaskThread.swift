import EskerPlatform

/// A thread of a scenario that runs one task to its end: a task on Swift's own threads is no part of a run.
///
/// Safety: what changes is guarded by `lock`.
final class TaskThread: TaskExecutor, @unchecked Sendable {
  private let lock = Lock(.unranked)
  private let condition = Condition()
  private var jobs: [UnownedJob] = []
  private var isOver = false

  /// Runs a task on the calling thread.
  static func run(_ name: String, _ handle: CancelledTask?, _ body: @escaping @Sendable () async throws -> Void) {
    let thread = TaskThread()
    let task = Task(executorPreference: thread) {
      do { try await body() } catch { Schedule.fail("\(name) ends, but it threw: \(error)") }
      thread.end()
    }
    handle?.begin(task)
    while let job = thread.next() { job.runSynchronously(on: thread.asUnownedTaskExecutor()) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    lock.lock()
    jobs.append(UnownedJob(job))
    lock.unlock()
    condition.signal()
  }

  private func end() {
    lock.lock()
    isOver = true
    lock.unlock()
  }

  private func next() -> UnownedJob? {
    lock.lock()
    defer { lock.unlock() }
    while jobs.isEmpty, !isOver { condition.wait(lock) }
    return jobs.isEmpty ? nil : jobs.removeFirst()
  }
}

extension Part {
  /// A thread that runs a task.
  ///
  /// - Parameter handle: By which others cancel it.
  init(task name: String, _ handle: CancelledTask? = nil, _ body: @escaping @Sendable () async throws -> Void) {
    self.init(name) { TaskThread.run(name, handle, body) }
  }
}
