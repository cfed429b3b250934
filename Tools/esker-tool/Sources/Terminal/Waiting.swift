import Foundation

/// Says that a call is under way which takes longer than a second and does not tell how far it is.
///
/// Safety: everything that changes is guarded by `condition`.
final class Waiting: @unchecked Sendable {
  private let action: String
  private let tell: (String) -> Void
  private let start = ContinuousClock.now
  private let condition = NSCondition()
  private var isOver = false
  private var hasEnded = false

  /// - Parameter tell: Called on a thread of its own with what there is to say, until ``end()``.
  init(_ action: String, tell: @escaping (String) -> Void) {
    self.action = action
    self.tell = tell
    Thread.detachNewThread { self.run() }
  }

  /// Calls `body`. What is said meanwhile is on standard error, if that is a terminal, and is gone when this returns.
  static func during<R>(_ action: String, isQuiet: Bool, _ body: () throws -> R) rethrows -> R {
    guard StandardError.isTerminal, !isQuiet else { return try body() }
    let status = StatusLine()
    let waiting = Waiting(action) { status.show($0) }
    defer {
      waiting.end()
      status.clear()
    }
    return try body()
  }

  private func run() {
    condition.lock()
    while !isOver {
      let seconds = (ContinuousClock.now - start).seconds
      if seconds >= 1 { tell("\(action), \(HumanUnits.duration(seconds: seconds))") }
      _ = condition.wait(until: Date(timeIntervalSinceNow: seconds < 1 ? 1 - seconds : 0.5))
    }
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }

  /// Returns when nothing more will be said.
  func end() {
    condition.lock()
    isOver = true
    condition.broadcast()
    while !hasEnded { condition.wait() }
    condition.unlock()
  }
}
