/// A storage that can change a value depending on what it is, atomically.
public protocol UpdatableStorage<Key, Value>: StorageProtocol {
  /// Gives `body` the value under `key`, nil when there is none, and stores what it leaves; nil removes the key.
  ///
  /// No other write to the key comes between. `body` may run again when another writer was first, so it should have no effect
  /// besides its result; it may call the storage. A value that was there keeps its expiry unless `expiry` says otherwise; a
  /// new one gets the storage's default.
  ///
  /// - Returns: what `body` returned in the end.
  /// - Throws: what `body` throws, having changed nothing; what a read and a write throw.
  @discardableResult
  func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R
}

extension UpdatableStorage {
  /// Changes the value under `key` atomically; see `update(forKey:expiry:_:)`.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Key,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try update(forKey: key, expiry: nil, body)
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none; the value stored.
  @inlinable @discardableResult
  public func update(
    forKey key: Key,
    default value: @autoclosure () -> Value,
    expiry: Expiry? = nil,
    _ body: (inout Value) throws(StorageError) -> Void
  ) throws(StorageError) -> Value {
    try update(forKey: key, expiry: expiry) { (stored: inout Value?) throws(StorageError) -> Value in
      var changed: Value
      if let stored { changed = stored } else { changed = value() }
      try body(&changed)
      stored = changed
      return changed
    }
  }

  /// Changes the value under `key` atomically, with a body that may throw errors of its own; any error changes nothing.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry? = nil,
    _ body: (inout Value?) throws -> R
  ) throws -> R {
    var failure: (any Error)?
    do {
      return try update(forKey: key, expiry: expiry) { (stored: inout Value?) throws(StorageError) -> R in
        do {
          return try body(&stored)
        } catch {
          failure = error
          throw .cancelled
        }
      }
    } catch {
      throw failure ?? error
    }
  }
}

extension UpdatableStorage where Key == Void {
  /// Changes the value atomically; see `update(forKey:expiry:_:)`.
  @inlinable @discardableResult
  public func update<R>(_ body: (inout Value?) throws(StorageError) -> R) throws(StorageError) -> R {
    try update(forKey: (), expiry: nil, body)
  }
}
