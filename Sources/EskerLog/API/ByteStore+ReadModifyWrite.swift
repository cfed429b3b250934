// Each of these reads a value, and writes only if nobody has written the key meanwhile; `ByteStore+Attempts` does both, and here
// the write gets its durability. `Keyspace.Async` has the same calls for tasks.

extension ByteStore {
  /// Replaces, removes or keeps a value depending on its current content, atomically.
  ///
  /// `body` runs outside all locks, so it may call the store and take its time. It gets nil if the key is absent or expired. If
  /// another writer changes the key meanwhile, it runs again with the new value, so it should have no side effects.
  ///
  /// A value that is put back as it was, with the expiry that it had, is not written again: the call then only gives the write
  /// that is there already the durability asked for.
  ///
  /// - Returns: the key's version after the call: the sequence number of the write, or of the earlier one if nothing changed; nil
  ///   if `body` returned `.keep`, or `.remove` for an absent key.
  /// - Throws: what `body` throws; what a get and a put throw.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws(StoreError) -> Update
  ) throws(StoreError) -> SequenceNumber? {
    try settled(try logUpdate(forKey: key, durability, body), durability)
  }

  /// Replaces, removes or keeps a value depending on its current content, atomically; `body` may throw any error.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws -> Update
  ) throws -> SequenceNumber? {
    try settled(try logUpdate(forKey: key, durability, body), durability)
  }

  /// Stores `value` if the key's version is still `version`; nil means that the key must be absent or expired.
  ///
  /// Always writes, even the same bytes again, so each success has a version of its own.
  ///
  /// - Returns: the new version, or nil if the key's version was different and nothing was written.
  @discardableResult
  public func compareAndSet<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    ifVersion version: SequenceNumber?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    let start = core.engine.startOfSample()
    return try settled(
      try writeValue(value, forKey: key, expiry: expiry, condition: .version(version), durability: durability).rawValue,
      durability,
      timedFrom: start
    )
  }

  /// Removes `key` if its version is still `version`.
  ///
  /// - Returns: false if the key's version was different, or the key absent or expired, and nothing was removed.
  @discardableResult
  public func remove<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    ifVersion version: SequenceNumber,
    durability: Durability? = nil
  ) throws(StoreError) -> Bool {
    try settled(try writeRemoval(key, condition: .version(version)).sequence, durability) != nil
  }

  /// Stores `value` if the key's value equals `expected`; nil means that the key must be absent or expired. Writes nothing if
  /// that changes neither the value nor its expiry, like `update`.
  ///
  /// - Returns: the key's version after the call, or nil if the value was different and nothing was written.
  @discardableResult
  public func compareAndSet<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    ifValue expected: [UInt8]?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    let start = core.engine.startOfSample()
    return try settled(
      try logValue(value, forKey: key, ifValue: expected, expiry, durability),
      durability,
      timedFrom: start
    )
  }

  /// Stores `value` if the key is absent or expired.
  ///
  /// - Returns: the new version, or nil if the key was present and nothing was written.
  @discardableResult
  public func putIfAbsent<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try compareAndSet(value, forKey: key, ifVersion: nil, expiry: expiry, durability: durability)
  }

  /// Adds `amount` to the counter under `key`, wrapping on overflow, and returns the sum. An absent key counts as 0; an existing
  /// value keeps its expiry. Adding 0 to a counter writes nothing.
  ///
  /// A counter is a little-endian value of 8 bytes.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` if the value is not 8 bytes long; what a get and a put throw.
  @discardableResult
  public func increment<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    by amount: Int64 = 1,
    durability: Durability? = nil
  ) throws(StoreError) -> Int64 {
    let (sum, sequence) = try logIncrement(key, by: amount, durability)
    try core.engine.settle(sequence, durability)
    return sum
  }

  /// Appends `suffix` to the value under `key`. An absent key counts as empty; an existing value keeps its expiry. Rewrites the
  /// whole value, unless the suffix is empty and the key is not absent.
  ///
  /// - Returns: the key's version after the call.
  @discardableResult
  public func append<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ suffix: borrowing V,
    toKey key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber {
    let sequence = try logSuffix(suffix, toKey: key, durability)
    try core.engine.settle(sequence, durability)
    return SequenceNumber(rawValue: sequence)
  }

  /// Sets the expiry of the value under `key`. Writes a whole new record, because a record's expiry never changes; nothing if the
  /// value has that expiry already.
  ///
  /// - Returns: the key's version after the call, or nil if the key is absent or expired.
  @discardableResult
  public func touch<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    expiry: Expiry,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try settled(try logExpiry(expiry, ofKey: key, durability), durability)
  }

  /// Makes the value under `key` never expire. Writes nothing if it does not expire anyway.
  ///
  /// - Returns: the key's version after the call, or nil if the key is absent or expired.
  @discardableResult
  public func persist<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try touch(key, expiry: .never, durability: durability)
  }

  /// Gives a write its durability, and returns its number; nil if there was none.
  private func settled(
    _ sequence: UInt64,
    _ durability: Durability?,
    timedFrom start: UInt64 = 0
  ) throws(StoreError) -> SequenceNumber? {
    guard sequence != 0 else { return nil }
    try core.engine.settle(sequence, durability)
    core.engine.endPut(start)
    return SequenceNumber(rawValue: sequence)
  }
}
