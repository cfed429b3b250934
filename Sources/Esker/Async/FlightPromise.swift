internal import EskerPlatform

/// An outcome that is there once, and the tasks that wait for it. Whoever waits may stop.
package final class FlightPromise<Outcome: Sendable>: Sendable {
  /// How a wait has ended.
  package enum Ending: Sendable {
    case landed(Outcome)
    case tooLate
    case cancelled
  }

  private struct State {
    var outcome: Outcome?
    var waiters: [UInt64: CheckedContinuation<Ending, Never>] = [:]
    var last: UInt64 = 0
  }

  private let state: Guarded<State> = Guarded(State(), .leaf)

  package init() {}

  /// Waits for the outcome, but no longer than `limit`, and not once the task is cancelled, if that may end the wait.
  package func outcome(within limit: Duration?, isCancellable: Bool = true) async -> Ending {
    let waiter = state.withLock { state in
      state.last += 1
      return state.last
    }
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Ending? = state.withLock { state in
          if let outcome = state.outcome { return .landed(outcome) }
          // A cancellation that came before this found nobody to resume.
          if isCancellable, Task.isCancelled { return .cancelled }
          state.waiters[waiter] = continuation
          return nil
        }
        if let known { return continuation.resume(returning: known) }
        // Not before: it would find nobody to resume.
        timer = limit.map { limit in
          Task { [self] in
            if (try? await Task.sleep(for: limit.bounded)) != nil { resume(waiter, .tooLate) }
          }
        }
      }
    } onCancel: {
      if isCancellable { resume(waiter, .cancelled) }
    }
  }

  /// Whether there is an outcome.
  package var hasLanded: Bool { state.withLock { $0.outcome != nil } }

  /// How many tasks wait.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Tells all who wait, and all who still come.
  package func land(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      state.outcome = outcome
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: .landed(outcome)) }
  }

  private func resume(_ waiter: UInt64, _ ending: Ending) {
    state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: ending)
  }
}
