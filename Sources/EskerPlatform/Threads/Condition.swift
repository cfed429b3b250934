import CEskerShims

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Lets threads wait, under a lock, until another thread signals a change.
///
/// A wait may end without a signal: test the condition in a loop.
///
/// Safety: the condition is on the heap because it must not move. It is freed with its only owner, like the mutex of a
/// `Lock`, so nobody can be waiting then. Threads are meant to share it: sending it is safe.
@frozen
@safe
public struct Condition: ~Copyable, @unchecked Sendable {
  @usableFromInline
  let condition: UnsafeMutablePointer<pthread_cond_t>

  /// Creates a condition without waiters.
  public init() {
    unsafe condition = .allocate(capacity: 1)
    let code = unsafe esker_condition_init(condition)
    precondition(code == 0, "a condition could not be made")
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  /// Unlocks `lock`, sleeps until signalled, and locks it again.
  public func wait(_ lock: borrowing Lock) {
    #if SCHEDULES
      if unsafe Schedule.wait(condition, lock.mutex, lock.rank, nanoseconds: nil) != nil { return }
    #endif
    unsafe pthread_cond_wait(condition, lock.mutex)
  }

  /// Like `wait`, but for at most `nanoseconds` of monotonic time; false on timeout.
  public func wait(_ lock: borrowing Lock, nanoseconds: UInt64) -> Bool {
    #if SCHEDULES
      if let wasSignalled = unsafe Schedule.wait(condition, lock.mutex, lock.rank, nanoseconds: nanoseconds) {
        return wasSignalled
      }
    #endif
    return unsafe esker_condition_wait(condition, lock.mutex, nanoseconds) == 0
  }

  /// Wakes one waiter.
  @inlinable
  public func signal() {
    #if SCHEDULES
      if unsafe Schedule.signal(condition, all: false) { return }
    #endif
    unsafe pthread_cond_signal(condition)
  }

  /// Wakes all waiters.
  @inlinable
  public func broadcast() {
    #if SCHEDULES
      if unsafe Schedule.signal(condition, all: true) { return }
    #endif
    unsafe pthread_cond_broadcast(condition)
  }
}
