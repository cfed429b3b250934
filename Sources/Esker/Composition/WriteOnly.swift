/// A storage that can only be written; see ``WritableStorage/writeOnly()``.
public struct WriteOnly<Base: WritableStorage>: WritableStorage {
  @usableFromInline let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
  }

  /// The name of what is behind.
  @inlinable public var name: String { base.name }
  /// The identity of what is behind: it is the same storage.
  @inlinable public var identity: StorageIdentity { base.identity }
  /// As what is behind.
  @inlinable public var mayBlock: Bool { base.mayBlock }

  /// Stores the value in what is behind.
  @inlinable
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry?) throws(StorageError) {
    try base.set(value, forKey: key, expiry: expiry)
  }

  /// Removes the key from what is behind.
  @inlinable @discardableResult
  public func removeValue(forKey key: Base.Key) throws(StorageError) -> Bool { try base.removeValue(forKey: key) }
}

extension WriteOnly: ClearableStorage where Base: ClearableStorage {
  /// Removes everything.
  public func removeAll() throws(StorageError) { try base.removeAll() }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { try base.removeExpired() }
}

extension WritableStorage {
  /// The same storage for writing only: the compiler refuses reads.
  @inlinable
  public func writeOnly() -> WriteOnly<Self> { WriteOnly(self) }
}
