internal import EskerPlatform
internal import Synchronization

/// Waits for processes that ask for the lock, on a thread of its own, and has it handed over.
final class TurnWatch: Sendable {
  private let session: Session
  private let isStopping = Atomic<Bool>(false)
  private let thread: Guarded<WorkerThread?>

  /// - Parameter handOver: Called when a process may have asked for the lock, which this one may not have.
  init(_ session: Session, handOver: @escaping @Sendable () -> Void) throws(PlatformError) {
    self.session = session
    thread = Guarded(nil, .leaf)
    let running = try WorkerThread(name: "esker-turns") { [self] in
      var seen: UInt32?
      while !isStopping.load(ordering: .acquiring) {
        let request = session.awaitRequest(since: seen)
        // At first, whoever has asked before.
        if request != seen { handOver() }
        seen = request
      }
    }
    thread.withLock { $0 = running }
  }

  /// Ends the thread after the hand-over in progress. Idempotent.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    session.wakeWaiters()
    thread.withLock { $0.take() }?.join()
  }
}
