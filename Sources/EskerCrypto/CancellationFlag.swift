#if Crypto
  internal import Synchronization

  /// Whether a task was cancelled, for a thread that works for it.
  final class CancellationFlag: Sendable {
    // Relaxed: nothing is read by it.
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
  }
#endif
