public import Foundation

/// Data as a key or a value. Its bytes are one run, so nothing is copied; a slice lends its own bytes only.
extension Data: ByteSource {
  /// Calls `body` with the data's bytes, which are valid only until it returns.
  @inlinable
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(bytes)
  }
}

extension ByteStore {
  /// The value of `key`, copied into a `Data`; nil when the key is absent or expired.
  ///
  /// Takes no lock.
  ///
  /// - Throws: `StoreError.closed`; `StoreError.damaged` when the bytes on disk are not what was written.
  /// - Complexity: O(1) and one copy of the value.
  @inlinable
  public func getData<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> Data? {
    try withValue(forKey: key) { (value) throws(StoreError) -> Data in Data(value) }
  }
}
