internal import Esker
internal import EskerLog
internal import EskerPlatform

extension RemoteQueue {
  /// Waits until every write that was acknowledged before has left the queue: it arrived, was lost, or was replaced by a later one.
  func drained() async throws(StorageError) {
    let newest = state.withLock { $0.book.newest }
    switch await wait(for: .drained(newest), within: nil) {
    case .done: return
    case .cancelled: throw .cancelled
    case .stopped, .timedOut: throw .back(name: name, underlying: RemoteError.stopped)
    }
  }

  /// Waits until no write of a key waits.
  func settled(_ key: [UInt8], within limit: Duration) async throws(StorageError) {
    if state.withLock({ $0.book.entries[key] == nil }) { return }
    switch await wait(for: .key(key), within: limit) {
    case .done: return
    case .cancelled: throw .cancelled
    case .stopped: throw .back(name: name, underlying: RemoteError.stopped)
    case .timedOut: throw .back(name: name, underlying: RemoteError.timedOut)
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
    for waiter in waiters { waiter.resume(returning: .stopped) }
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
    let granted = state.withLock { state in
      var waiters = QueueWaiters()
      swap(&waiters, &state.waiters)
      defer { swap(&waiters, &state.waiters) }
      return waiters.granted(key) { isGranted($0, &state) }
    }
    for waiter in granted { waiter.resume(returning: .done) }
  }

  private func isGranted(_ wish: QueueWaiters.Wish, _ state: inout State) -> Bool {
    switch wish {
    case .drained(let record): state.book.isDrained(to: record)
    case .key(let key): state.book.entries[key] == nil
    case .quiet: state.book.isQuiet
    }
  }

  private func wait(
    for wish: QueueWaiters.Wish,
    within limit: Duration?,
    isCancellable: Bool = true
  ) async -> QueueWaiters.Ending {
    let number = state.withLock { $0.waiters.nextNumber() }
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: QueueWaiters.Ending? = state.withLock { state in
          if isGranted(wish, &state) { return .done }
          if state.isStopped, wish != .quiet { return .stopped }
          // A cancellation that came before this found nobody to resume.
          if isCancellable, Task.isCancelled { return .cancelled }
          state.waiters.add(number, wish, continuation)
          return nil
        }
        if let known { return continuation.resume(returning: known) }
        // Not before: it would find nobody to dismiss.
        timer = limit.map { limit in
          Task { [self] in
            if (try? await Task.sleep(for: limit.bounded)) != nil { dismiss(number, .timedOut) }
          }
        }
      }
    } onCancel: {
      if isCancellable { dismiss(number, .cancelled) }
    }
  }

  private func dismiss(_ number: UInt64, _ ending: QueueWaiters.Ending) {
    state.withLock { $0.waiters.remove(number) }?.resume(returning: ending)
  }
}
