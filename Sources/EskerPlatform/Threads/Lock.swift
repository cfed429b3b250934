#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A mutual exclusion lock for critical sections of any length: waiters sleep.
///
/// Not recursive; must be unlocked by the thread that locked it. It is a `pthread_mutex_t` because that one stays fast with
/// more threads than cores.
///
/// Safety: the mutex is on the heap because it must not move and its address is its identity. It is freed with its only
/// owner, so no reference can be left. Threads are meant to share it: sending it is safe.
@frozen
@safe
public struct Lock: ~Copyable, @unchecked Sendable {
  @usableFromInline
  let mutex: UnsafeMutablePointer<pthread_mutex_t>

  #if DEBUG
    @usableFromInline
    let rank: LockRank
  #endif

  /// Creates an unlocked lock.
  public init(_ rank: LockRank) {
    #if DEBUG
      self.rank = rank
    #endif
    unsafe mutex = .allocate(capacity: 1)
    precondition(unsafe Self.make(mutex) == 0, "a mutex could not be made")
  }

  /// Makes a mutex whose waiters spin briefly before they sleep, where the system has one: most locks are held for less time
  /// than it takes to wake a thread.
  private static func make(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
    #if canImport(Glibc)
      var attributes = pthread_mutexattr_t()
      guard unsafe pthread_mutexattr_init(&attributes) == 0 else { return unsafe pthread_mutex_init(mutex, nil) }
      defer { unsafe pthread_mutexattr_destroy(&attributes) }
      unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
      return unsafe pthread_mutex_init(mutex, &attributes)
    #else
      return unsafe pthread_mutex_init(mutex, nil)
    #endif
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Waits until the lock is free and takes it.
  @inlinable
  public func lock() {
    #if DEBUG
      rank.willBeTaken()
    #endif
    #if SCHEDULES
      unsafe Schedule.willLock(UInt(bitPattern: mutex), rank)
    #endif
    unsafe pthread_mutex_lock(mutex)
    #if DEBUG
      rank.wasTaken()
    #endif
  }

  /// Takes the lock if it is free; false if it is not.
  @inlinable
  public func tryLock() -> Bool {
    #if SCHEDULES
      unsafe Schedule.willTryLock(UInt(bitPattern: mutex), rank)
    #endif
    let isTaken = unsafe pthread_mutex_trylock(mutex) == 0
    #if SCHEDULES
      if isTaken { unsafe Schedule.didTryLock(UInt(bitPattern: mutex), rank) }
    #endif
    #if DEBUG
      if isTaken { rank.wasTaken() }
    #endif
    return isTaken
  }

  /// Releases the lock.
  @inlinable
  public func unlock() {
    #if DEBUG
      rank.wasGivenBack()
    #endif
    unsafe pthread_mutex_unlock(mutex)
    #if SCHEDULES
      unsafe Schedule.didUnlock(UInt(bitPattern: mutex), rank)
    #endif
  }

  /// Runs `body` with the lock held.
  @inlinable
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
