// What can be written to any storage that can be written; `AsyncStorage` has the same for tasks.

extension WritableStorage {
  /// Stores `value` under `key`, replacing what was there.
  ///
  /// - Parameters:
  ///   - value: what to store.
  ///   - key: the key to store it under.
  ///   - expiry: when the value expires; nil: as the storage's default says.
  ///   - durability: what the write survives once the call has returned; nil: as the store's default says.
  @inlinable
  public func set(
    _ value: Value,
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) {
    _ = try write(key, StorageRequest.Write(.set(value), expiry: expiry, durability: durability))
  }

  /// Removes `key`; true when it was there.
  @inlinable @discardableResult
  public func removeValue(forKey key: Key, durability: Durability? = nil) throws(StorageError) -> Bool {
    try write(key, StorageRequest.Write(.remove, durability: durability)).wasThere
  }
}

extension ClearableStorage {
  /// Removes everything; what that survives is as the store's default says.
  @inlinable
  public func removeAll() throws(StorageError) { try removeAll(durability: nil) }
}

extension UpdatableStorage {
  /// Stores `value` under `key` if there is none; whether it did.
  @discardableResult
  public func setIfAbsent(
    _ value: Value,
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) -> Bool {
    try write(key, .exchange(nil, for: value, expiry, durability)).isDone
  }

  /// Stores `value` under `key` if the value there still has that ``Entry/version``; nil means that there must be none.
  ///
  /// - Returns: the new version; nil if another write came first, and nothing was stored.
  @discardableResult
  public func compareAndSet(
    _ value: Value,
    forKey key: Key,
    ifVersion version: SequenceNumber?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) -> SequenceNumber? {
    try write(key, .exchange(version, for: value, expiry, durability)).storedVersion
  }

  /// Removes `key` if the value there still has that ``Entry/version``; whether it did.
  @discardableResult
  public func removeValue(
    forKey key: Key,
    ifVersion version: SequenceNumber,
    durability: Durability? = nil
  ) throws(StorageError) -> Bool {
    try write(key, StorageRequest.Write(.remove, if: .version(version), durability: durability)).isDone
  }

  /// Gives the value under `key` another expiry; false when there is none.
  @discardableResult
  public func touch(_ key: Key, expiry: Expiry, durability: Durability? = nil) throws(StorageError) -> Bool {
    try write(key, .touch(expiry, durability)).isDone
  }

  /// Makes the value under `key` never expire; false when there is none.
  @discardableResult
  public func persist(_ key: Key, durability: Durability? = nil) throws(StorageError) -> Bool {
    try touch(key, expiry: .never, durability: durability)
  }
}

extension WritableStorage where Key == Void {
  /// Stores the value.
  @inlinable
  public func set(
    _ value: Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) {
    try set(value, forKey: (), expiry: expiry, durability: durability)
  }

  /// Removes the value; true when there was one.
  @inlinable @discardableResult
  public func removeValue(durability: Durability? = nil) throws(StorageError) -> Bool {
    try removeValue(forKey: (), durability: durability)
  }
}
