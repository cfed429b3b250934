import Synchronization

/// Where threads that write come to rest.
final class Gate: Sendable {
  private let count: Atomic<Int>

  init(threads: Int) {
    count = Atomic(threads)
  }

  /// Threads that may be writing.
  var running: Int { count.load(ordering: .sequentiallyConsistent) }

  /// A thread stops writing.
  func enter() { count.subtract(1, ordering: .sequentiallyConsistent) }

  /// It goes on.
  func leave() { count.add(1, ordering: .sequentiallyConsistent) }
}
