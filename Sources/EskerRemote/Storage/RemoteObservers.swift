internal import EskerPlatform

/// Who is told of changes.
final class RemoteObservers: Sendable {
  private struct State {
    var observers: [UInt64: @Sendable (Coherence.Report) -> Void] = [:]
    var last: UInt64 = 0
  }

  private let state = Guarded(State(), .leaf)

  /// Adds an observer, which must not wait; its number.
  func add(_ observer: @escaping @Sendable (Coherence.Report) -> Void) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.observers[state.last] = observer
      return state.last
    }
  }

  func remove(_ number: UInt64) { _ = state.withLock { $0.observers.removeValue(forKey: number) } }

  func tell(_ report: Coherence.Report) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(report) }
  }
}

/// What is told to whoever iterates over the changes of a storage: passes them on, and says so where some did not fit.
final class ChangeBuffer<Key: Sendable>: Sendable {
  private let continuation: AsyncStream<RemoteChange<Key>>.Continuation
  private let hasMissed = Guarded(false, .leaf)

  init(_ continuation: AsyncStream<RemoteChange<Key>>.Continuation) { self.continuation = continuation }

  func add(_ change: RemoteChange<Key>) {
    hasMissed.withLock { hasMissed in
      if hasMissed, isDropped(.doubtful) { return }
      hasMissed = isDropped(change)
    }
  }

  private func isDropped(_ change: RemoteChange<Key>) -> Bool {
    if case .dropped = continuation.yield(change) { return true }
    return false
  }
}
