import CEskerShims

/// A number that threads can sleep on until it changes: a futex.
///
/// Unlike with a `Condition`, waking threads take no lock, so many can be woken at once without queueing for it. Read the
/// value, check under the lock of your state that there is something to wait for, then wait while the value is unchanged: a
/// change in between is not missed. A wait may end without a change: test the condition in a loop.
///
/// Thread safety: any thread.
///
/// Safety: the word is on the heap because the kernel knows it by its address. It is freed with its only owner, so nobody can be
/// asleep on it. After `init` only C's atomics and the kernel touch it, so threads may share it.
@safe
public struct Turnstile: ~Copyable, @unchecked Sendable {
  private let word: UnsafeMutableRawPointer

  /// Creates a turnstile without waiters.
  public init() {
    unsafe word = .allocate(byteCount: 4, alignment: 4)
    unsafe word.storeBytes(of: 0, as: UInt32.self)
  }

  deinit {
    unsafe word.deallocate()
  }

  /// The current value, to be passed to `wait`.
  public var value: UInt32 { unsafe esker_word_load(word) }

  /// Sleeps until the value differs from `value`; may also wake spuriously.
  public func wait(while value: UInt32) {
    #if SCHEDULES
      if unsafe Schedule.wait(word, while: value) { return }
    #endif
    unsafe esker_word_wait(word, value)
  }

  /// Changes the value without waking any thread; a thread about to wait for a change returns at once.
  public func advance() {
    unsafe esker_word_advance(word)
  }

  /// Wakes one sleeping thread.
  public func wakeOne() {
    #if SCHEDULES
      if unsafe Schedule.wake(word, all: false) { return }
    #endif
    unsafe esker_word_wake(word, false)
  }

  /// Wakes all sleeping threads.
  public func wakeAll() {
    #if SCHEDULES
      if unsafe Schedule.wake(word, all: true) { return }
    #endif
    unsafe esker_word_wake(word, true)
  }
}
