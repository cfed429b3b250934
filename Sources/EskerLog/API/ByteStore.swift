/// The operations on one set of keys: those of a ``Keyspace``, and of a ``LogStore`` for its default keyspace.
///
/// Keys are 0 to 65,535 bytes long, values at most ``LogStore/maximumValueLength``. Every operation may be called from any
/// thread; writes to one store are ordered, and each write's ``SequenceNumber`` is its place in that order.
///
/// Every operation throws ``StoreError/closed`` after a close. Every write also throws ``StoreError/readOnly``,
/// ``StoreError/keyTooLong(_:)``, ``StoreError/valueTooLong(_:)``, ``StoreError/noSpace(path:needed:)``,
/// ``StoreError/capacityReached(path:capacity:needed:)``,
/// ``StoreError/syncFailed(errno:)`` and ``StoreError/failed(operation:path:errno:)``, and changes nothing when it throws
/// one of these. Two others say something else: ``StoreError/outcomeUnknown(errno:)``, that the write may or may not be
/// there after the next opening, and ``StoreError/cancelled``, in the async form, that it was written and is not known to be
/// durable. <doc:Errors> has a table.
public protocol ByteStore: Sendable {
  /// The keyspace operated on.
  var core: KeyspaceCore { get }
}

extension RawSpan {
  /// Lends the bytes as a pointer to the engine, whose hot path is concrete and works on addresses.
  ///
  /// Safety: `body` must not let the pointer escape. It only calls the engine, which copies what it stores.
  @inlinable @inline(__always)
  func withKeyPointer<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes { (buffer) throws(E) -> R in try unsafe body(buffer) }
  }
}
