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

  func notify(_ report: Coherence.Report) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer(report) }
  }
}
