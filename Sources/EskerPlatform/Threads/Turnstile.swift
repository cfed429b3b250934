import CEskerShims

/// A number that threads sleep on until it changes.
///
/// Unlike with a `Condition`, those who wake take no lock, so that many can be woken at once without queueing for one. Read
/// the value, find out under whatever guards your state that there is something to wait for, then wait while the value is
/// still the same: a change in between is not missed. A wait may end without a change: test what you wait for in a loop.
///
/// Thread safety: any thread.
///
/// Safety: the word is on the heap because its address is its identity. It is freed with its only owner, so nobody can be
/// asleep at it. After `init` only C's atomics and the kernel touch it, so threads may share it.
@safe
public struct Turnstile: ~Copyable, @unchecked Sendable {
  private let word: UnsafeMutableRawPointer

  /// A turnstile nobody waits at.
  public init() {
    unsafe word = .allocate(byteCount: 4, alignment: 4)
    unsafe word.storeBytes(of: 0, as: UInt32.self)
  }

  deinit {
    unsafe word.deallocate()
  }

  /// The value to wait for a change of.
  public var value: UInt32 { unsafe esker_word_load(word) }

  /// Sleeps until the value is another than `value`, or for no reason.
  public func wait(while value: UInt32) {
    unsafe esker_word_wait(word, value)
  }

  /// Changes the value without waking anybody; whoever is about to wait for a change does not.
  public func advance() {
    unsafe esker_word_advance(word)
  }

  /// Wakes one of those who sleep.
  public func wakeOne() {
    unsafe esker_word_wake(word, false)
  }

  /// Wakes all who sleep.
  public func wakeAll() {
    unsafe esker_word_wake(word, true)
  }
}
