import Foundation

/// So many steps, that some threads share: a test does the same amount of work on every machine, however long that takes.
final class Effort: @unchecked Sendable {
  private let lock = NSLock()
  private var left: Int

  init(_ steps: Int) {
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

  /// Takes all that are left.
  func end() { lock.withLock { left = 0 } }
}
