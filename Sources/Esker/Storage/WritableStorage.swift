/// A storage that can be written.
///
/// Calls may come from any thread. What a write survives once it has returned is up to what is underneath.
public protocol WritableStorage<Key, Value>: StorageDesign {
  /// What values are found by.
  associatedtype Key: Sendable
  /// What is kept.
  associatedtype Value: Sendable

  /// Stores `value` under `key`, replacing what was there. Without an expiry, the storage's default applies.
  func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError)

  /// Removes `key`; true when it was there.
  @discardableResult
  func removeValue(forKey key: Key) throws(StorageError) -> Bool
}

extension WritableStorage {
  /// Stores `value` under `key`, replacing what was there. The storage's default says when it goes.
  @inlinable
  public func set(_ value: Value, forKey key: Key) throws(StorageError) {
    try set(value, forKey: key, expiry: nil)
  }
}

extension WritableStorage where Key == Void {
  /// Stores the value.
  @inlinable
  public func set(_ value: Value, expiry: Expiry? = nil) throws(StorageError) {
    try set(value, forKey: (), expiry: expiry)
  }

  /// Removes the value; true when there was one.
  @inlinable @discardableResult
  public func removeValue() throws(StorageError) -> Bool { try removeValue(forKey: ()) }
}

/// A storage that can be read and written.
public protocol StorageProtocol<Key, Value>: ReadableStorage, WritableStorage {}

/// A storage that can be emptied at once.
public protocol ClearableStorage<Key, Value>: WritableStorage {
  /// Removes everything.
  func removeAll() throws(StorageError)

  /// Removes what is expired now; how much there was.
  @discardableResult
  func removeExpired() throws(StorageError) -> Int
}
