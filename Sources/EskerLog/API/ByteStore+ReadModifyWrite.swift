extension ByteStore {
  /// Replaces, removes or keeps a value depending on its current content, atomically.
  ///
  /// `body` runs outside all locks, so it may call the store and take its time. It gets nil if the key is absent or expired. If
  /// another writer changes the key meanwhile, it runs again with the new value, so it should have no side effects.
  ///
  /// - Returns: the sequence number of the write, or nil if `body` returned `.keep`, or `.remove` for an absent key.
  /// - Throws: what `body` throws; what a get and a put throw.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws(StoreError) -> Update
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      let lease = try lease(key)
      let answer: Update
      if let lease {
        answer = try lease.withBytes { (span) throws(StoreError) in try body(span) }
      } else {
        answer = try body(nil)
      }
      if let outcome = try apply(answer, to: key, seen: lease?.version, durability) { return outcome.sequence }
    }
  }

  /// Replaces, removes or keeps a value depending on its current content, atomically; `body` may throw any error.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws -> Update
  ) throws -> SequenceNumber? {
    while true {
      let lease = try lease(key)
      let answer: Update
      if let lease { answer = try lease.withBytes { span in try body(span) } } else { answer = try body(nil) }
      if let outcome = try apply(answer, to: key, seen: lease?.version, durability) { return outcome.sequence }
    }
  }

  /// Makes one attempt at an update; nil if another writer was faster.
  private func apply<K: ByteSource & ~Copyable & ~Escapable>(
    _ update: Update,
    to key: borrowing K,
    seen version: SequenceNumber?,
    _ durability: Durability?
  ) throws(StoreError) -> (sequence: SequenceNumber?, Void)? {
    let condition = WriteCondition.version(version)
    let sequence: UInt64
    switch update.action {
    case .keep:
      return (nil, ())
    case .put(let value, let expiry):
      sequence = try writeValue(
        value,
        forKey: key,
        expiry: expiry,
        condition: condition,
        durability: durability
      ).rawValue
    case .remove:
      guard version != nil else { return (nil, ()) }
      sequence = try writeRemoval(key, condition: condition).sequence
    }
    guard sequence != 0 else { return nil }
    try core.engine.settle(sequence, durability)
    return (SequenceNumber(rawValue: sequence), ())
  }

  /// Stores `value` if the key's version is still `version`; nil means that the key must be absent or expired.
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
    let sequence = try writeValue(
      value,
      forKey: key,
      expiry: expiry,
      condition: .version(version),
      durability: durability
    )
    guard sequence.rawValue != 0 else { return nil }
    try core.engine.settle(sequence.rawValue, durability)
    return sequence
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
    let removal = try writeRemoval(key, condition: .version(version))
    try core.engine.settle(removal.sequence, durability)
    return removal.sequence != 0
  }

  /// Stores `value` if the key's value equals `expected`; nil means that the key must be absent or expired.
  ///
  /// - Returns: the new version, or nil if the value was different and nothing was written.
  @discardableResult
  public func compareAndSet<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    ifValue expected: [UInt8]?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      let lease = try lease(key)
      let isExpected = lease.map { lease in expected.map { lease.isEqual(to: $0) } ?? false } ?? (expected == nil)
      guard isExpected else { return nil }
      let sequence = try compareAndSet(
        value,
        forKey: key,
        ifVersion: lease?.version,
        expiry: expiry,
        durability: durability
      )
      if let sequence { return sequence }
    }
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
  /// value keeps its expiry.
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
    while true {
      let lease = try lease(key)
      var sum = amount
      if let lease {
        let length = lease.metadata.length
        guard length == 8 else { throw notACounter(key, length: length) }
        // Safety: there are eight bytes, and all of their values are valid.
        sum = lease.withBytes { unsafe Int64(littleEndian: $0.unsafeLoadUnaligned(as: Int64.self)) } &+ amount
      }
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
      let expiry = lease.map(\.expiry)
      if try compareAndSet(bytes, forKey: key, ifVersion: lease?.version, expiry: expiry, durability: durability) != nil
      {
        return sum
      }
    }
  }

  private func notACounter<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    length: Int
  ) -> StoreError {
    // Safety: the bytes are copied while the key lends them.
    let bytes = key.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    return .damaged(
      DamageLocation(path: core.engine.env.path, key: bytes),
      reason: "not a counter: the value has \(length) bytes instead of 8"
    )
  }

  /// Appends `suffix` to the value under `key`. An absent key counts as empty; an existing value keeps its expiry. Rewrites the
  /// whole value.
  ///
  /// - Returns: the new version.
  @discardableResult
  public func append<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ suffix: borrowing V,
    toKey key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber {
    while true {
      let lease = try lease(key)
      var bytes = lease?.copy ?? []
      // Safety: the bytes are copied while the suffix lends them.
      suffix.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
      let expiry = lease.map(\.expiry)
      let sequence = try compareAndSet(
        bytes,
        forKey: key,
        ifVersion: lease?.version,
        expiry: expiry,
        durability: durability
      )
      if let sequence { return sequence }
    }
  }

  /// Sets the expiry of the value under `key`. Writes a whole new record, because a record's expiry never changes.
  ///
  /// - Returns: the new version, or nil if the key is absent or expired.
  @discardableResult
  public func touch<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    expiry: Expiry,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      guard let lease = try lease(key) else { return nil }
      // Safety: the lease keeps the value until it has been written.
      defer { withExtendedLifetime(lease) {} }
      let sequence = try unsafe compareAndSet(
        lease.bytes,
        forKey: key,
        ifVersion: lease.version,
        expiry: expiry,
        durability: durability
      )
      if let sequence { return sequence }
    }
  }

  /// Makes the value under `key` never expire.
  ///
  /// - Returns: the new version, or nil if the key is absent or expired.
  @discardableResult
  public func persist<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try touch(key, expiry: .never, durability: durability)
  }
}
