// Safety: a source lends its bytes during the call, in which they are copied.
extension WriteBatch {
  /// Adds a put of `value` under `key` to the batch. The last operation on a key wins. Copies both.
  ///
  /// - Throws: ``StoreError/keyTooLong(_:)``, ``StoreError/valueTooLong(_:)``, ``StoreError/batchTooLarge(_:)``,
  ///   ``StoreError/otherStore(path:)`` for a keyspace of another store.
  @inlinable
  public mutating func put<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    in keyspace: Keyspace? = nil,
    expiry: Expiry? = nil
  ) throws(StoreError) {
    try key.withBytes { (keySpan) throws(StoreError) in
      try value.withBytes { (valueSpan) throws(StoreError) in
        try unsafe keySpan.withKeyPointer { (key) throws(StoreError) in
          try unsafe valueSpan.withKeyPointer { (value) throws(StoreError) in
            try unsafe put(value, key, keyspace, expiry)
          }
        }
      }
    }
  }

  /// Safety: the caller keeps key and value during the call.
  @usableFromInline
  mutating func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ keyspace: Keyspace?,
    _ expiry: Expiry?
  ) throws(StoreError) {
    let target = try target(keyspace)
    try unsafe add(isPut: true, value, key, target.instant(of: expiry), target)
  }

  /// Adds a removal of `key` to the batch.
  ///
  /// - Throws: ``StoreError/keyTooLong(_:)``, ``StoreError/batchTooLarge(_:)``,
  ///   ``StoreError/otherStore(path:)`` for a keyspace of another store.
  public mutating func remove<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    in keyspace: Keyspace? = nil
  ) throws(StoreError) {
    let target = try target(keyspace)
    try key.withBytes { (span) throws(StoreError) in
      try unsafe span.withKeyPointer { (key) throws(StoreError) in
        try unsafe add(isPut: false, UnsafeRawBufferPointer(start: nil, count: 0), key, .max, target)
      }
    }
  }

  /// Lets the batch take effect only if `key` still has this version when it is logged, or, with nil, is absent or expired. Else
  /// ``StoreError/conflict(keyspace:key:)`` is thrown, and nothing is written. What the batch itself does to the key does not count.
  ///
  /// - Parameters:
  ///   - key: The key whose version counts.
  ///   - version: That of ``ByteStore/metadata(forKey:)``, another read or a write.
  ///   - keyspace: The key's keyspace; nil for the one that the batch was made for.
  /// - Throws: As ``remove(_:in:)``.
  public mutating func require<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    version: SequenceNumber?,
    in keyspace: Keyspace? = nil
  ) throws(StoreError) {
    try require(key, .version(version?.rawValue), try target(keyspace))
  }

  /// Lets the batch take effect only if `key` is absent or expired when it is logged; see ``require(_:version:in:)``.
  public mutating func requireAbsent<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    in keyspace: Keyspace? = nil
  ) throws(StoreError) {
    try require(key, .version(nil), try target(keyspace))
  }

  /// Lets the batch take effect only if `key` has a value when it is logged, whatever it is; see ``require(_:version:in:)``.
  public mutating func requirePresent<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    in keyspace: Keyspace? = nil
  ) throws(StoreError) {
    try require(key, .present, try target(keyspace))
  }

  mutating func require<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    _ kind: Condition.Kind,
    _ target: KeyspaceCore
  ) throws(StoreError) {
    try key.withBytes { (span) throws(StoreError) in
      try unsafe span.withKeyPointer { (key) throws(StoreError) in try unsafe add(kind, key, target) }
    }
  }

  /// The keyspace to write to, which must be one of the batch's own store.
  func target(_ keyspace: Keyspace?) throws(StoreError) -> KeyspaceCore {
    guard let core = keyspace?.core else { return defaultKeyspace }
    guard core.engine === defaultKeyspace.engine else { throw .otherStore(path: core.engine.env.path) }
    return core
  }
}
