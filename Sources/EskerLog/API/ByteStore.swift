/// The operations on one set of keys, offered by ``Keyspace``, and by ``LogStore`` for its default keyspace.
///
/// Keys are 0 to 65,535 bytes long, values at most ``LogStore/maximumValueLength``. Every operation may be called from any
/// thread; writes to a store are totally ordered, and each write's ``SequenceNumber`` is its place in that order.
///
/// Every operation throws ``StoreError/closed`` once the store is closed. Every write may also throw ``StoreError/readOnly``,
/// ``StoreError/keyTooLong(_:)``, ``StoreError/valueTooLong(_:)``, ``StoreError/noSpace(path:needed:)``,
/// ``StoreError/capacityReached(path:capacity:needed:)``, ``StoreError/keyspaceFull(keyspace:bytes:entries:)``,
/// ``StoreError/syncFailed(errno:)`` and ``StoreError/failed(operation:path:errno:)``, and changes nothing when it throws
/// one of these. After ``StoreError/outcomeUnknown(errno:)``, the write may or may not be there once the store is opened again.
/// After ``StoreError/cancelled``, in the async form, it was written but is not known to be durable. See <doc:Errors>.
public protocol ByteStore: Sendable {
  /// The keyspace operated on. Not part of the interface.
  var _core: _KeyspaceCore { get }
}

extension ByteStore {
  @inlinable
  var core: KeyspaceCore { _core }
}

extension RawSpan {
  /// Lends the bytes to the engine as a pointer: its hot path is not generic.
  ///
  /// Safety: `body` must not let the pointer escape. It only calls the engine, which copies what it stores.
  @inlinable @inline(__always)
  func withKeyPointer<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes { (buffer) throws(E) -> R in try unsafe body(buffer) }
  }
}
