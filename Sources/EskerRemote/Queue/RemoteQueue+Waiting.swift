internal import Esker
internal import EskerLog
internal import EskerPlatform

extension RemoteQueue {
  /// Waits until every write that was acknowledged before has left the queue: it arrived, was lost, or was replaced by a later one.
  func drained() async throws(StorageError) {
    try await done(.drained(state.withLock { $0.book.newest }), within: nil)
  }

  /// Waits until no write of a key waits.
  func settled(_ key: [UInt8], within limit: Duration) async throws(StorageError) {
    if state.withLock({ $0.book.entries[key] == nil }) { return }
    try await done(.key(key), within: limit)
  }

  private func done(_ condition: QueueWaiter.Condition, within limit: Duration?) async throws(StorageError) {
    switch await wait(for: condition, within: limit) {
    case .landed(true): return
    case .landed(false): throw .back(name: name, underlying: RemoteError.stopped)
    case .tooLate: throw .back(name: name, underlying: RemoteError.timedOut)
    case .cancelled: throw .cancelled
    }
  }

  /// From now on no replay begins. What waits stays in the log.
  func halt() {
    let (waiters, timer) = state.withLock { state in
      state.isStopped = true
      defer { state.timer = nil }
      return (state.waiters.dismissAll(), state.timer?.task)
    }
    timer?.cancel()
    for waiter in waiters { waiter.promise.land(false) }
  }

  /// Waits until nobody writes the log any more; after ``halt()``.
  func quiet() async { _ = await wait(for: .quiet, within: nil, isCancellable: false) }

  /// Undoes the opening: another was opened at the same time, and is used.
  func abandon() {
    halt()
    for key in state.withLock({ Array($0.book.entries.keys) }) { core.release(key) }
  }

  /// Tells those who wait; called after something has left the queue, or a replay has ended, or the last writer of a stopped queue.
  func grant(_ key: [UInt8]?) {
    let granted = state.withLock { state in state.waiters.satisfied(key, by: &state.book) }
    for waiter in granted { waiter.promise.land(true) }
  }

  private func wait(
    for condition: QueueWaiter.Condition,
    within limit: Duration?,
    isCancellable: Bool = true
  ) async -> FlightPromise<Bool>.Ending {
    let waiter = QueueWaiter(condition)
    let known: Bool? = state.withLock { state in
      if state.book.grants(condition) { return true }
      if state.isStopped, condition != .quiet { return false }
      state.waiters.add(waiter)
      return nil
    }
    if let known { return .landed(known) }
    let ending = await waiter.promise.outcome(within: limit, isCancellable: isCancellable)
    state.withLock { $0.waiters.remove(waiter) }
    return ending
  }
}
