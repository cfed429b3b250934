/// A storage that can be read.
///
/// Calls may come from any thread.
public protocol ReadableStorage<Key, Value>: StorageDesign {
  /// What values are found by.
  associatedtype Key: Sendable
  /// What is found.
  associatedtype Value: Sendable

  /// The value under `key` and what is known of it; nil when the key is absent or expired.
  func entry(forKey key: Key) throws(StorageError) -> Entry<Value>?

  /// The value under `key`; nil when the key is absent or expired.
  func value(forKey key: Key) throws(StorageError) -> Value?

  /// Whether there is a value under `key`. Storages that can tell without reading the value do.
  func contains(_ key: Key) throws(StorageError) -> Bool

  /// What memory alone knows of `key`. Never waits: tasks call it where they run.
  func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value>
}

extension ReadableStorage {
  /// The value of the entry.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    guard let entry = try entry(forKey: key) else { return nil }
    return entry.value
  }

  /// Nothing: a storage without memory of its own does not know.
  @inlinable
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> { .unknown }

  /// Whether there is an entry.
  @inlinable
  public func contains(_ key: Key) throws(StorageError) -> Bool {
    guard try entry(forKey: key) != nil else { return false }
    return true
  }

  /// Whether the storage still shows an entry whose time is over.
  ///
  /// Never true of the log and of memory, for which what is expired is absent; a back of the caller's making may differ.
  public func isExpired(forKey key: Key) throws(StorageError) -> Bool {
    guard let entry = try entry(forKey: key) else { return false }
    return entry.isExpired()
  }
}

extension ReadableStorage where Key == Void {
  /// The value; nil when there is none.
  @inlinable
  public func value() throws(StorageError) -> Value? { try value(forKey: ()) }

  /// The value and what is known of it; nil when there is none.
  @inlinable
  public func entry() throws(StorageError) -> Entry<Value>? { try entry(forKey: ()) }
}
