import EskerPlatform

/// A task of a scenario that another thread cancels, be it there already or not.
final class CancelledTask: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Guarded(State(), .unranked)

  func begin(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock {
      $0.task = task
      return $0.isCancelled
    }
    if isCancelled { cancel(task) }
  }

  func cancel() {
    let task = state.withLock {
      $0.isCancelled = true
      return $0.task
    }
    if let task { cancel(task) }
  }

  private func cancel(_ task: Task<Void, Never>) {
    Schedule.note("cancels a task")
    Schedule.hurry { task.cancel() }
  }
}
