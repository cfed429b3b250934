extension Keyspace.Async {
  /// Stores `value` if the key's version is still `version`; see
  /// ``ByteStore/compareAndSet(_:forKey:ifVersion:expiry:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func compareAndSet<V: ByteSource, K: ByteSource>(
    _ value: V,
    forKey key: K,
    ifVersion version: SequenceNumber?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber? {
    let start = core.engine.startOfSample()
    try await core.prepareWrite(of: key)
    let sequence = try CoreView(core: core).writeValue(
      value,
      forKey: key,
      expiry: expiry,
      condition: .version(version),
      durability: .buffered
    )
    return try await settled(sequence.rawValue, durability, timedFrom: start)
  }

  /// Stores `value` if the key's value equals `expected`; see
  /// ``ByteStore/compareAndSet(_:forKey:ifValue:expiry:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func compareAndSet<V: ByteSource, K: ByteSource>(
    _ value: V,
    forKey key: K,
    ifValue expected: [UInt8]?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber? {
    let start = core.engine.startOfSample()
    try await core.prepareWrite(of: key)
    let sequence = try CoreView(core: core).logValue(value, forKey: key, ifValue: expected, expiry, .buffered)
    return try await settled(sequence, durability, timedFrom: start)
  }

  /// Removes `key` if its version is still `version`; see ``ByteStore/remove(_:ifVersion:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func remove<K: ByteSource>(
    _ key: K,
    ifVersion version: SequenceNumber,
    durability: Durability? = nil
  ) async throws(StoreError) -> Bool {
    try await core.prepareWrite(of: key)
    let removal = try CoreView(core: core).writeRemoval(key, condition: .version(version))
    return try await settled(removal.sequence, durability) != nil
  }

  /// Stores `value` if the key is absent or expired; see ``ByteStore/putIfAbsent(_:forKey:expiry:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func putIfAbsent<V: ByteSource, K: ByteSource>(
    _ value: V,
    forKey key: K,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber? {
    try await compareAndSet(value, forKey: key, ifVersion: nil, expiry: expiry, durability: durability)
  }

  /// Adds `amount` to the counter under `key`, and returns the sum; see ``ByteStore/increment(_:by:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func increment<K: ByteSource>(
    _ key: K,
    by amount: Int64 = 1,
    durability: Durability? = nil
  ) async throws(StoreError) -> Int64 {
    try await core.prepareWrite(of: key)
    let (sum, sequence) = try CoreView(core: core).logIncrement(key, by: amount, .buffered)
    try await core.engine.settleAsync(sequence, durability)
    return sum
  }

  /// Appends `suffix` to the value under `key`; see ``ByteStore/append(_:toKey:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func append<V: ByteSource, K: ByteSource>(
    _ suffix: V,
    toKey key: K,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber {
    try await core.prepareWrite(of: key)
    let sequence = try CoreView(core: core).logSuffix(suffix, toKey: key, .buffered)
    try await core.engine.settleAsync(sequence, durability)
    return SequenceNumber(rawValue: sequence)
  }

  /// Sets the expiry of the value under `key`; see ``ByteStore/touch(_:expiry:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func touch<K: ByteSource>(
    _ key: K,
    expiry: Expiry,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber? {
    try await core.prepareWrite(of: key)
    return try await settled(try CoreView(core: core).logExpiry(expiry, ofKey: key, .buffered), durability)
  }

  /// Makes the value under `key` never expire; see ``ByteStore/persist(_:durability:)``.
  @discardableResult
  public nonisolated(nonsending) func persist<K: ByteSource>(
    _ key: K,
    durability: Durability? = nil
  ) async throws(StoreError) -> SequenceNumber? {
    try await touch(key, expiry: .never, durability: durability)
  }

  /// Returns a copy of the value of `key`, and extends its expiry; see ``ByteStore/get(_:extendingBy:durability:)``.
  public nonisolated(nonsending) func get<K: ByteSource>(
    _ key: K,
    extendingBy duration: Duration,
    durability: Durability? = nil
  ) async throws(StoreError) -> [UInt8]? {
    try await core.prepareWrite(of: key)
    let (value, sequence) = try CoreView(core: core).logExtension(key, by: duration, .buffered)
    if sequence != 0 { try await core.engine.settleAsync(sequence, durability) }
    return value
  }
}
