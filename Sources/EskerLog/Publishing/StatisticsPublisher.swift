internal import EskerFormat
internal import EskerPlatform

/// Writes a store's figures to a file in its directory, again and again, for other processes to see.
///
/// The file is no part of the store: it is never synced, nothing reads it in a recovery, and it goes when the store is
/// closed. One that a killed process left goes at the next opening for writing.
final class StatisticsPublisher: @unchecked Sendable {
  private let interval: UInt64
  private let publish: @Sendable () -> Bool
  private let lock = Lock()
  private let condition = Condition()
  // Guarded by `lock`.
  private var isStopping = false
  private var thread: WorkerThread?

  /// - Parameter publish: writes the figures once; false when that cannot go on.
  init(everyNanoseconds interval: UInt64, publish: @escaping @Sendable () -> Bool) {
    self.interval = interval
    self.publish = publish
  }

  /// Publishes for the first time, and goes on with that on a thread of its own.
  func start(isThreaded: Bool) throws(PlatformError) {
    guard publish(), isThreaded else { return }
    let running = try WorkerThread(name: "esker-publish", givesWay: true) { [self] in run() }
    lock.lock()
    thread = running
    lock.unlock()
  }

  private func run() {
    lock.lock()
    var goesOn = true
    while !isStopping, goesOn {
      _ = condition.wait(lock, nanoseconds: interval)
      if isStopping { break }
      lock.unlock()
      goesOn = publish()
      lock.lock()
    }
    lock.unlock()
  }

  /// Ends it; returns when no figures are gathered any more. Idempotent.
  func stop() {
    lock.lock()
    isStopping = true
    condition.signal()
    let running = thread.take()
    lock.unlock()
    running?.join()
  }
}
