import CEskerShims

/// A number of 32 bits, in a file that several processes have mapped, on which they can sleep until it changes.
///
/// Read the value, look whether there is something to wait for, then wait while the value is unchanged: a change in between is not missed.
/// A wait may end without a change. A process that ends wakes nobody, so waits have a limit. Thread safety: any thread.
///
/// Safety: whoever makes one keeps the mapping as long as it is used. Only C's atomics and the kernel touch the word.
@safe
public struct SharedWord: @unchecked Sendable {
  private let word: UnsafeMutableRawPointer

  /// The four bytes at `word`, which is a multiple of four.
  public init(_ word: UnsafeMutableRawPointer) { unsafe self.word = word }

  /// The current value.
  public var value: UInt32 { unsafe esker_word_load(word) }

  /// Sleeps until the value differs from `value`, for that many nanoseconds at most.
  public func wait(while value: UInt32, nanoseconds: UInt64) {
    #if SCHEDULES
      if unsafe Schedule.wait(shared: word, while: value, nanoseconds: nanoseconds) { return }
    #endif
    unsafe esker_shared_word_wait(word, value, nanoseconds)
  }

  /// Changes the value, and wakes all who sleep on it.
  public func advance() {
    unsafe esker_word_advance(word)
    #if SCHEDULES
      if unsafe Schedule.wake(shared: word) { return }
    #endif
    unsafe esker_shared_word_wake(word)
  }
}
