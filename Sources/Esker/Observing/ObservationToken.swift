internal import Synchronization

/// Keeps an observer registered: until it is cancelled or the last reference to it goes.
///
/// Safe to use from any thread.
public final class ObservationToken: Sendable {
  private let onCancel: @Sendable () -> Void
  /// Relaxed: it only decides which call comes first.
  private let isCancelled = Atomic<Bool>(false)

  /// An observation that `onCancel`, called once, ends.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  deinit {
    cancel()
  }

  /// Ends the observation. A call that is under way on another thread is not waited for; no further one begins. Idempotent.
  public func cancel() {
    if !isCancelled.exchange(true, ordering: .relaxed) { onCancel() }
  }
}
