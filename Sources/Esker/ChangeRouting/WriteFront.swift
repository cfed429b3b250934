public import EskerMemory

/// Notifies a front of writes to the storage behind it, whoever makes them. Keys are passed as bytes.
///
/// A writer *enters before its write can be seen* and *leaves after*. Until then nothing that was read is kept. He may hold a lock
/// meanwhile, so no value ends then: its `deinit` may call the store.
///
/// Closures, not a protocol: those of single keys specialise where they are made. Through a witness, a set took about four times as
/// long, nearly all to find the types of what memory keeps.
@usableFromInline
struct WriteFront: Sendable {
  /// A write of the key begins. Returns what `leaveWrite` is to be given; nil if there can be nothing under such a key.
  let enterWrite: @Sendable (RawSpan) -> WriteTicket?
  /// The write has been made, under that number, or has failed.
  let leaveWrite: @Sendable (WriteTicket, UInt64?) -> Void
  let enterRemovalOfAll: @Sendable () -> Void
  let leaveRemovalOfAll: @Sendable () -> Void
  /// Lets go of what was dropped; called without a lock, after a removal of everything.
  let release: @Sendable () -> Void

  @usableFromInline
  init(
    enterWrite: @escaping @Sendable (RawSpan) -> WriteTicket?,
    leaveWrite: @escaping @Sendable (WriteTicket, UInt64?) -> Void,
    enterRemovalOfAll: @escaping @Sendable () -> Void,
    leaveRemovalOfAll: @escaping @Sendable () -> Void,
    release: @escaping @Sendable () -> Void
  ) {
    self.enterWrite = enterWrite
    self.leaveWrite = leaveWrite
    self.enterRemovalOfAll = enterRemovalOfAll
    self.leaveRemovalOfAll = leaveRemovalOfAll
    self.release = release
  }
}
