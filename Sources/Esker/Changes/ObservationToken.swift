internal import Synchronization

/// Keeps an observer registered, until it is cancelled or its last reference is released.
///
/// Safe to use from any thread.
public final class ObservationToken: Sendable {
  private let onCancel: @Sendable () -> Void
  /// Relaxed: it only decides which call comes first.
  private let isCancelled = Atomic<Bool>(false)

  /// A token for an observation that `onCancel` ends, which is called once.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  deinit {
    cancel()
  }

  /// Ends the observation: no further call begins. Does not wait for one that is under way on another thread. Idempotent.
  public func cancel() {
    if !isCancelled.exchange(true, ordering: .relaxed) { onCancel() }
  }
}
