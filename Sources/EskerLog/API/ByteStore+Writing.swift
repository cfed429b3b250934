// Safety: pointers to keys and values are used only while the caller's spans are lent. The engine copies what it stores.

extension ByteStore {
  /// Stores `value` under `key`, replacing any previous value.
  ///
  /// Always writes, even the bytes that are there already: it reads nothing, so it does not know, and each put has a version of
  /// its own. To save such writes, use `update`, which compares.
  ///
  /// - Parameters:
  ///   - value: the bytes to store.
  ///   - key: the key to store them under.
  ///   - expiry: when the value expires; nil for the default of the keyspace or the store.
  ///   - durability: what the write survives once the call has returned; nil for ``Options/durability``.
  /// - Returns: the write's sequence number, which is the value's version.
  @inlinable @discardableResult
  public func put<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber {
    var sequence: UInt64 = 0
    try key.withBytes { (keySpan) throws(StoreError) in
      try value.withBytes { (valueSpan) throws(StoreError) in
        try unsafe keySpan.withKeyPointer { (key) throws(StoreError) in
          try unsafe valueSpan.withKeyPointer { (value) throws(StoreError) in
            sequence = try unsafe core.put(value, key, expiry, durability: durability)
          }
        }
      }
    }
    return SequenceNumber(rawValue: sequence)
  }

  @inlinable
  func writeValue<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    expiry: Expiry?,
    condition: WriteCondition,
    durability: Durability?
  ) throws(StoreError) -> SequenceNumber {
    var sequence: UInt64 = 0
    try key.withBytes { (keySpan) throws(StoreError) in
      try value.withBytes { (valueSpan) throws(StoreError) in
        try unsafe keySpan.withKeyPointer { (key) throws(StoreError) in
          try unsafe valueSpan.withKeyPointer { (value) throws(StoreError) in
            sequence = try unsafe core.put(value, key, expiry, condition, durability)
          }
        }
      }
    }
    return SequenceNumber(rawValue: sequence)
  }

  /// Removes `key`. Writes nothing if it is absent, except in a store with a capacity, whose readers in other processes may still
  /// see a value that was just evicted. That it is absent gets the durability asked for all the same.
  ///
  /// - Returns: true if the key was present and not expired.
  @inlinable @discardableResult
  public func remove<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> Bool {
    let removal = try writeRemoval(key, condition: .always)
    try core.engine.settle(removal.sequence, durability)
    return removal.wasVisible
  }

  @inlinable
  func writeRemoval<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    condition: WriteCondition
  ) throws(StoreError) -> RemovalResult {
    try key.withBytes { (span) throws(StoreError) -> RemovalResult in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> RemovalResult in
        try unsafe core.remove(key, condition)
      }
    }
  }

  /// Removes every key of this keyspace in constant time. The index is purged in the background.
  public func removeAll(durability: Durability? = nil) throws(StoreError) {
    let sequence = try core.engine.removeAll(in: core)
    try core.engine.settle(sequence, durability)
  }

  /// Removes every expired entry of this keyspace now.
  ///
  /// - Returns: the number of entries removed.
  /// - Complexity: O(entries of the keyspace) for a named keyspace of up to a few hundred keys, else O(entries of the store). O(1) if
  ///   nothing in the keyspace can have expired.
  @discardableResult
  public func removeExpired() throws(StoreError) -> Int {
    try core.engine.inTurn { () throws(StoreError) in try core.engine.maintainer.removeExpired(in: core) }
  }
}

extension ByteStore {
  /// Prefetches what a write of `key` accesses first, for callers that have other work to do before the write.
  package func anticipate(_ key: RawSpan) {
    unsafe key.withUnsafeBytes { unsafe core.anticipate($0) }
  }
}
