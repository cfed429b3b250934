internal import EskerPlatform

/// Does work that writers must not wait for, on a thread of its own or, in tests, when told to.
///
/// Work is a set of jobs: asking for one that is already asked for changes nothing.
final class BackgroundWorker: @unchecked Sendable {
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
  }

  private let name: String
  let isThreaded: Bool
  private let givesWay: Bool
  private let perform: @Sendable (Jobs) -> Void
  private let lock = Lock(.worker)
  private let condition = Condition()
  // Guarded by `lock`.
  private var pending: Jobs = []
  private var isStopping = false
  private var isBusy = false
  private var thread: WorkerThread?

  init(name: String, isThreaded: Bool, givesWay: Bool = false, perform: @escaping @Sendable (Jobs) -> Void) {
    self.name = name
    self.isThreaded = isThreaded
    self.givesWay = givesWay
    self.perform = perform
  }

  /// Asks for jobs. Starts the thread if there is none yet; where that fails, the jobs wait for `runPending`.
  func request(_ jobs: Jobs) {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping, !jobs.isSubset(of: pending) else { return }
    pending.formUnion(jobs)
    guard isThreaded else { return }
    if thread == nil {
      thread = try? WorkerThread(name: name, givesWay: givesWay) { [self] in run() }
    } else {
      condition.signal()
    }
  }

  private func run() {
    lock.lock()
    while !isStopping {
      if pending.isEmpty {
        condition.wait(lock)
      } else {
        performPending()
      }
    }
    lock.unlock()
  }

  /// Does what was asked for on the calling thread, if no thread does.
  func runPending() {
    lock.lock()
    if thread == nil, !isBusy {
      while !pending.isEmpty, !isStopping { performPending() }
    }
    lock.unlock()
  }

  /// Called with the lock held; lets it go meanwhile.
  private func performPending() {
    let jobs = pending
    pending = []
    isBusy = true
    lock.unlock()
    perform(jobs)
    lock.lock()
    isBusy = false
  }

  /// Waits, in a job: false when something else was asked for meanwhile or the work is to end.
  func pause(nanoseconds: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if pending.isEmpty, !isStopping { _ = condition.wait(lock, nanoseconds: nanoseconds) }
    return pending.isEmpty && !isStopping
  }

  /// Ends the work after the job under way. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.signal()
    let running = thread.take()
    lock.unlock()
    running?.join()
  }
}
