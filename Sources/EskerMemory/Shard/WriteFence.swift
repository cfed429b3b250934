import Synchronization

/// The state in which a fill began: see ``MemoryCache/beginFill(_:)``.
public struct FillTicket: Sendable {
  @usableFromInline let word: UInt64

  @inlinable
  init(word: UInt64) {
    self.word = word
  }

  /// Whether writers were in flight, so that the fill is not admitted whatever comes.
  @inlinable var hadWriters: Bool { word & WriteFence.writers != 0 }
}

/// A write that has been announced; see ``MemoryCache/enterWrite(_:releases:)``.
public struct WriteTicket: Sendable {
  /// The number of the shard whose fence it has entered.
  @usableFromInline let shard: Int

  @inlinable
  init(shard: Int) {
    self.shard = shard
  }
}

/// Keeps what was read from the store before a write from being kept after it.
///
/// A ticket is acquired before the store is read, so one without writers in flight sees all that writers have changed. A fill
/// compares it under the shard's lock, under which writers enter, and so finds every writer that entered before; a writer that
/// enters later drops what was filled.
@usableFromInline
struct WriteFence: ~Copyable, Sendable {
  /// The number of writers in flight in the low bits, and above them a count of all writes.
  @usableFromInline let word = Atomic<UInt64>(0)
  /// The number of the last write that has left; `.max` if that had none. A writer stores it before it leaves, so a ticket
  /// without writers in flight, acquired first, is followed by the number of the last of them: relaxed.
  @usableFromInline let last = Atomic<UInt64>(.max)

  @inlinable static var writers: UInt64 { 0xF_FFFF }
  @inlinable static var write: UInt64 { 0x10_0000 }

  @inlinable
  init() {}

  /// Called before the store changes; under the lock.
  ///
  /// Writer and count are raised in one step: of a ticket taken between two, nothing would tell that the writer was about to
  /// change the store, once it has left.
  @inlinable
  func enter() { word.wrappingAdd(Self.write + 1, ordering: .releasing) }

  /// Called after the store has changed, or has failed to; `number` is the write's own, and nil if it has none.
  @inlinable
  func leave(_ number: UInt64?) {
    last.store(number ?? .max, ordering: .relaxed)
    let before = word.wrappingSubtract(1, ordering: .releasing).oldValue
    assert(before & Self.writers != 0, "a writer left that had not entered")
  }

  /// Invalidates all fills in progress; under the lock.
  @inlinable
  func noteWrite() {
    last.store(.max, ordering: .relaxed)
    word.wrappingAdd(Self.write, ordering: .releasing)
  }

  /// For a fill that begins now.
  @inlinable var ticket: FillTicket { FillTicket(word: word.load(ordering: .acquiring)) }

  /// Whether the write of that number was the last to be told, and none is in flight; under the lock.
  @inlinable
  func isLast(_ number: UInt64) -> Bool { !ticket.hadWriters && last.load(ordering: .relaxed) == number }

  /// Whether nobody has written since the ticket was taken, or was writing then; under the lock.
  @inlinable
  func admits(_ ticket: FillTicket) -> Bool {
    !ticket.hadWriters && word.load(ordering: .acquiring) == ticket.word
  }
}
