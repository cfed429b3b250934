public import EskerMemory

/// What a front is told of writes to the storage behind it: by whoever makes them, by the bytes of the key.
///
/// A writer *enters before its write can be seen* and *leaves after*. Until then nothing that was read is kept. He may hold a lock
/// meanwhile, so no value ends then: its `deinit` may call the store.
@usableFromInline
protocol WriteFront: AnyObject, Sendable {
  /// What `leaveWrite` is to be given; nil if there can be nothing under such a key.
  func enterWrite(_ key: RawSpan) -> WriteTicket?
  func leaveWrite(_ ticket: WriteTicket, number: UInt64?)
  func enterRemovalOfAll()
  func leaveRemovalOfAll()
  /// Lets go of what was dropped; called without a lock, after a removal of everything.
  func release()
}
