import Synchronization

/// A value that one thread at a time may use; another one is refused, not made to wait.
///
/// Safety: the value is on the heap, and is touched only by who has set `isUsed`, until it is reset. It is freed with its only owner. Whoever
/// makes one gives it a value that nothing else refers to.
@safe
struct Exclusive<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let isUsed = Atomic<Bool>(false)
  private let state: UnsafeMutablePointer<State>

  init(_ state: consuming State) {
    unsafe self.state = .allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs `body` with the value.
  ///
  /// - Throws: ``CallFailure/invalid(_:)`` if another thread uses it; what `body` throws.
  func use<Result>(_ body: (inout State) throws -> Result) throws -> Result {
    guard !isUsed.exchange(true, ordering: .acquiring) else {
      throw CallFailure.invalid(
        "a batch, a cursor or a change feed is used by two threads at once; it belongs to one at a time"
      )
    }
    defer { isUsed.store(false, ordering: .releasing) }
    return try unsafe body(&state.pointee)
  }
}
