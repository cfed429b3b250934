// Safety: pointers to keys and values are used only while the caller's spans are lent. The engine copies what it stores.

extension ByteStore {
  /// Stores `value` under `key`, replacing what was there.
  ///
  /// - Parameters:
  ///   - value: the bytes to store.
  ///   - key: the key to store them under.
  ///   - expiry: when the value goes; nil: as the keyspace's or the store's default says.
  ///   - durability: what the write survives once the call has returned; nil: as ``Options/durability`` says.
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

  /// Removes `key`. Where it is not there, nothing is written, except in a store with a capacity, whose readers in other
  /// processes may still see what was just evicted.
  ///
  /// - Returns: true when the key was there and not expired.
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
  ) throws(StoreError) -> Removal {
    try key.withBytes { (span) throws(StoreError) -> Removal in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> Removal in try unsafe core.remove(key, condition) }
    }
  }

  /// Removes every key of this keyspace in constant time. The index is cleared of them in the background.
  public func removeAll(durability: Durability? = nil) throws(StoreError) {
    let sequence = try core.engine.removeAll(in: core)
    try core.engine.settle(sequence, durability)
  }

  /// Removes every expired entry of this keyspace now.
  ///
  /// - Returns: how many entries went. O(entries of the store).
  @discardableResult
  public func removeExpired() throws(StoreError) -> Int {
    try core.engine.keeper.removeExpired(in: core)
  }
}

extension ByteStore {
  /// Begins to bring in what a write of `key` looks at first. For callers that have work to do before the write.
  package func anticipate(_ key: RawSpan) {
    unsafe key.withUnsafeBytes { unsafe core.anticipate($0) }
  }
}
