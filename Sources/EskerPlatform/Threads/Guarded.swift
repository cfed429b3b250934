/// A value and the lock that guards it: the holder of the lock has exclusive access.
///
/// Safety: the value is on the heap so that `withLock` can pass it `inout` from a guard that is only borrowed. Only a
/// closure that holds the lock touches it, one at a time, and it is freed with its only owner. Values go in and come out as
/// `sending`, so a value of any type may be shared this way.
@frozen
@safe
public struct Guarded<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  @usableFromInline
  let lock: Lock

  @usableFromInline
  let state: UnsafeMutablePointer<State>

  /// Puts `state` under a lock of its own.
  @inlinable
  public init(_ state: consuming sending State, _ rank: LockRank) {
    lock = Lock(rank)
    unsafe self.state = .allocate(capacity: 1)
    unsafe self.state.initialize(to: state)
  }

  @inlinable
  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Runs `body` with exclusive access to the value.
  ///
  /// Not recursive. A multi-statement closure that throws a typed error must say so: `{ state throws(MyError) in ... }`.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return unsafe try body(&state.pointee)
  }
}
