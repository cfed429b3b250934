import Foundation

/// So many steps, that some threads share: a test does the same amount of work on every machine, however long that takes.
final class Effort: @unchecked Sendable {
  private let lock = NSLock()
  private let total: Int
  private var left: Int

  init(_ steps: Int) {
    total = steps
    left = steps
  }

  /// Takes a step; false when none is left.
  func step() -> Bool {
    lock.withLock {
      left -= 1
      return left >= 0
    }
  }

  /// Whether there are steps left, for threads that only go along.
  var isLeft: Bool { lock.withLock { left > 0 } }

  /// Waits while somebody has done so many things for each step that was taken, and steps are left. Who goes along without end takes the
  /// processor from who takes steps.
  func goAlong(_ done: Int, perStep most: Int) {
    while lock.withLock({ left > 0 && done > (total - left + 1) * most }) { usleep(200) }
  }

  /// Takes all that are left.
  func end() { lock.withLock { left = 0 } }
}
