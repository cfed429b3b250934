/// The operations on one set of keys: those of a ``Keyspace``, and of a ``LogStore`` for its default keyspace.
///
/// Keys are 0 to 65,535 bytes long, values at most ``LogStore/maximumValueLength``. Every operation may be called from any
/// thread; writes to one store are ordered, and each write's ``SequenceNumber`` is its place in that order.
///
/// Every operation throws ``StoreError/closed`` after a close. Every write also throws ``StoreError/readOnly``,
/// ``StoreError/keyTooLong(_:)``, ``StoreError/valueTooLong(_:)``, ``StoreError/noSpace(path:needed:)``,
/// ``StoreError/syncFailed(errno:)`` and ``StoreError/failed(operation:path:errno:)``, and changes nothing when it throws,
/// with one exception: when a write with `.synced` durability throws ``StoreError/syncFailed(errno:)`` or, in its async
/// form, ``StoreError/cancelled``, it was written but is not known to be durable.
public protocol ByteStore: Sendable {
  /// The keyspace operated on.
  var core: KeyspaceCore { get }
}

// MARK: Reading

extension ByteStore {
  /// The value of `key`, copied; nil when the key is absent or expired. Takes no lock.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` when the bytes on disk are not what was written.
  /// - Complexity: O(1) and one copy of the value.
  @inlinable
  public func get<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> [UInt8]? {
    try key.withBytes { (span) throws(StoreError) -> [UInt8]? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> [UInt8]? in try unsafe core.get(key) }
    }
  }

  /// Copies the value of `key` into `buffer` and returns the value's length; nil when the key is absent or expired.
  ///
  /// A value longer than the buffer is copied in part: the length returned is the whole value's.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func get<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> Int? {
    try key.withBytes { (span) throws(StoreError) -> Int? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> Int? in try unsafe core.get(key, into: buffer) }
    }
  }

  /// Calls `body` with the value's bytes where they lie, without a copy; nil when the key is absent or expired.
  ///
  /// The bytes stay valid until `body` returns, whatever writers do meanwhile. `body` may take its time and may call the
  /// store.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func withValue<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    guard let lease = try lease(key) else { return nil }
    return try unsafe body(lease.bytes.bytes)
  }

  /// Calls `body`, which may throw errors of its own, with the value's bytes where they lie.
  @inlinable
  public func withValue<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard let lease = try lease(key) else { return nil }
    return try unsafe body(lease.bytes.bytes)
  }

  /// Calls `body` with the value's bytes where they lie and what is known of them, of one and the same write; nil when the key
  /// is absent or expired. One look-up; otherwise as `withValue`.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)``.
  @inlinable
  public func withEntry<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan, ValueMetadata) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    guard let lease = try lease(key) else { return nil }
    return try unsafe body(lease.bytes.bytes, lease.metadata)
  }

  /// Calls `body`, which may throw errors of its own, with the value's bytes where they lie and what is known of them.
  @inlinable
  public func withEntry<R: ~Copyable, K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    _ body: (RawSpan, ValueMetadata) throws -> R
  ) throws -> R? {
    guard let lease = try lease(key) else { return nil }
    return try unsafe body(lease.bytes.bytes, lease.metadata)
  }

  @inlinable
  func lease<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> ValueLease? {
    try key.withBytes { (span) throws(StoreError) -> ValueLease? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> ValueLease? in try unsafe core.lease(key) }
    }
  }

  /// The values of several keys, in the keys' order; nil for each that is absent or expired.
  ///
  /// Overlaps the memory latency of the look-ups: several times as fast as one `get` after the other. Each value is one
  /// that its key had during the call; together they are no snapshot.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` if any of the records is damaged.
  @inlinable
  public func get(_ keys: [some ByteSource]) throws(StoreError) -> [[UInt8]?] {
    var values = [[UInt8]?](repeating: nil, count: keys.count)
    try withValues(forKeys: keys) { (index, value) throws(StoreError) in
      if let value { values[index] = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) } }
    }
    return values
  }

  /// Calls `body` once for each key, in order, with the key's position and its value where it lies; nil for a key that is
  /// absent or expired. Overlaps the memory latency of the look-ups and copies nothing.
  ///
  /// `body` must be brief: while it runs, no memory that the store has given up is freed. Some keys are looked up before
  /// their turn comes: each value is one that its key had during the call, and whether a write that `body` makes shows in
  /// what is delivered after it is open.
  ///
  /// - Throws: what `body` throws; ``StoreError/damaged(_:reason:)`` if a record is damaged: keys before it were delivered.
  @inlinable
  public func withValues<K: ByteSource>(
    forKeys keys: [K],
    _ body: (Int, RawSpan?) throws(StoreError) -> Void
  ) throws(StoreError) {
    let core = core
    // A span lends its elements, where an array would retain each key it hands out.
    let lent = keys.span
    var start = 0
    while start < lent.count {
      let end = min(start + KeyWindow.capacity, lent.count)
      var window = core.openWindow()
      defer { core.close(&window) }
      for position in start..<end {
        lent[position].withBytes { (span) in unsafe span.withKeyPointer { (key) in unsafe core.add(key, to: &window) } }
      }
      core.bringIn(&window)
      for position in start..<end {
        try lent[position].withBytes { (span) throws(StoreError) in
          try unsafe span.withKeyPointer { (key) throws(StoreError) in
            if let value = try unsafe core.value(of: key, at: position - start, in: &window) {
              try unsafe body(position, value.bytes)
            } else {
              try body(position, nil)
            }
          }
        }
      }
      start = end
    }
  }

  /// Whether the key is there and not expired.
  @inlinable
  public func contains<K: ByteSource & ~Copyable & ~Escapable>(_ key: borrowing K) throws(StoreError) -> Bool {
    try metadata(forKey: key) != nil
  }

  /// What is known of a key's value without copying it: length, version, expiry; nil when it is absent or expired.
  @inlinable
  public func metadata<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K
  ) throws(StoreError) -> ValueMetadata? {
    try key.withBytes { (span) throws(StoreError) -> ValueMetadata? in
      try unsafe span.withKeyPointer { (key) throws(StoreError) -> ValueMetadata? in try unsafe core.metadata(key) }
    }
  }

  /// Entries of this keyspace, expired ones that were not reaped yet included. O(1).
  public var count: Int { core.count }

  /// Entries that have expired and were not reaped yet. O(entries).
  public func countExpired() throws(StoreError) -> Int {
    try core.engine.countExpired(in: core)
  }
}

// MARK: Writing

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

  /// Removes `key`.
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
    try core.engine.removeExpired(in: core)
  }
}

// MARK: Read-modify-write

extension ByteStore {
  /// Replaces, removes or keeps a value depending on what it is, atomically.
  ///
  /// `body` runs outside all locks, so it may call the store and take its time; when another writer changed the key
  /// meanwhile, it runs again with the new value. It should therefore have no effect besides its result.
  ///
  /// - Returns: the sequence number of the write, or nil when `body` answered `.keep`, or `.remove` for an absent key.
  /// - Throws: what `body` throws; what a put throws.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws(StoreError) -> Update
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      try core.letAheadWrite()
      let lease = try lease(key)
      let answer: Update
      if let lease { answer = try unsafe body(lease.bytes.bytes) } else { answer = try body(nil) }
      if let outcome = try apply(answer, to: key, seen: lease?.version, durability) { return outcome.sequence }
    }
  }

  /// Replaces, removes or keeps a value depending on what it is, atomically, with a body that may throw errors of its own.
  @discardableResult
  public func update<K: ByteSource & ~Copyable & ~Escapable>(
    forKey key: borrowing K,
    durability: Durability? = nil,
    _ body: (RawSpan?) throws -> Update
  ) throws -> SequenceNumber? {
    while true {
      try core.letAheadWrite()
      let lease = try lease(key)
      let answer: Update
      if let lease { answer = try unsafe body(lease.bytes.bytes) } else { answer = try body(nil) }
      if let outcome = try apply(answer, to: key, seen: lease?.version, durability) { return outcome.sequence }
    }
  }

  /// Carries out one attempt of an update; nil when another writer was first.
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

  /// Stores `value` if the key's version is still `version`; with nil: if the key is absent or expired.
  ///
  /// - Returns: the new version, or nil when the key's version was another one and nothing was written.
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
  /// - Returns: false when the key's version was another one, or it was absent or expired, and nothing was removed.
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

  /// Stores `value` if the key's value is byte for byte `expected`; with nil: if the key is absent or expired.
  ///
  /// - Returns: the new version, or nil when the value was another one and nothing was written.
  @discardableResult
  public func compareAndSet<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    ifValue expected: [UInt8]?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      try core.letAheadWrite()
      let lease = try lease(key)
      guard lease.map({ unsafe $0.bytes.elementsEqual(expected ?? []) && expected != nil }) ?? (expected == nil) else {
        return nil
      }
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
  /// - Returns: the new version, or nil when the key was there and nothing was written.
  @discardableResult
  public func putIfAbsent<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try compareAndSet(value, forKey: key, ifVersion: nil, expiry: expiry, durability: durability)
  }

  /// Adds `amount` to the counter under `key`, wrapping around at the limits, and returns the sum. An absent key counts
  /// as 0, and a value's expiry stays.
  ///
  /// A counter is a value of 8 bytes, little-endian.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` when the value is not 8 bytes long; what a put throws.
  @discardableResult
  public func increment<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    by amount: Int64 = 1,
    durability: Durability? = nil
  ) throws(StoreError) -> Int64 {
    while true {
      try core.letAheadWrite()
      let lease = try lease(key)
      var sum = amount
      if let lease {
        guard unsafe lease.bytes.count == 8 else { throw try notACounter(key, length: unsafe lease.bytes.count) }
        sum = unsafe Int64(littleEndian: lease.bytes.loadUnaligned(as: Int64.self)) &+ amount
      }
      let bytes = unsafe withUnsafeBytes(of: sum.littleEndian) { unsafe [UInt8]($0) }
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
  ) throws(StoreError) -> StoreError {
    let bytes = key.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
    return .damaged(
      DamageLocation(path: core.engine.path, key: bytes),
      reason: "the value has \(length) bytes, a counter has 8"
    )
  }

  /// Appends `suffix` to the value under `key`; an absent key counts as empty, and a value's expiry stays. Rewrites the
  /// whole value.
  @discardableResult
  public func append<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ suffix: borrowing V,
    toKey key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber {
    while true {
      try core.letAheadWrite()
      let lease = try lease(key)
      var bytes = [UInt8]()
      if let lease { unsafe bytes.append(contentsOf: lease.bytes) }
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

  /// Gives the value under `key` a new expiry. Writes a whole new record, so that the newest record alone says when the key
  /// expires.
  ///
  /// - Returns: the new version, or nil when the key is absent or expired.
  @discardableResult
  public func touch<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    expiry: Expiry,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    while true {
      try core.letAheadWrite()
      guard let lease = try lease(key) else { return nil }
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

  /// Lets the value under `key` stay until it is removed.
  ///
  /// - Returns: the new version, or nil when the key is absent or expired.
  @discardableResult
  public func persist<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    durability: Durability? = nil
  ) throws(StoreError) -> SequenceNumber? {
    try touch(key, expiry: .never, durability: durability)
  }
}

extension RawSpan {
  /// Lends the bytes as a pointer to the engine, whose hot path is concrete and works on addresses.
  @inlinable @inline(__always)
  func withKeyPointer<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes { (buffer) throws(E) -> R in try unsafe body(buffer) }
  }
}
