// What can be read of any storage that can be read; `AsyncStorage` has the same for tasks.

extension ReadableStorage {
  /// The value under `key`; nil when the key is absent or expired.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? {
    guard let found = try read(key, StorageRequest.Read()) else { return nil }
    return found.value
  }

  /// The value under `key` and what is known of it; nil when the key is absent or expired.
  ///
  /// - Parameters:
  ///   - key: the key to look up.
  ///   - allowExpired: whether a value is returned that has expired and that nobody has removed yet, to be used until
  ///     there is a new one. ``Entry/isExpired(at:)-(Date)`` tells.
  @inlinable
  public func entry(forKey key: Key, allowExpired: Bool = false) throws(StorageError) -> Entry<Value>? {
    try read(key, StorageRequest.Read(allowsExpired: allowExpired))
  }

  /// The values under several keys, in their order; nil for those that are absent or expired. Not together a snapshot.
  public func values(forKeys keys: [Key]) throws(StorageError) -> [Value?] {
    try read(several: keys, StorageRequest.Read()).map { $0?.value }
  }

  /// Whether the storage still has an expired value under `key`: what `allowExpired` would return.
  public func isExpired(forKey key: Key) throws(StorageError) -> Bool {
    // What is made for the occasion is not what it still has, nor in the way of it.
    func isThere(_ call: StorageRequest.Read) throws(StorageError) -> Bool {
      guard let found = try peek(key, call) else { return false }
      return found.origin != .produced
    }
    guard try isThere(StorageRequest.Read(allowsExpired: true, skipsMemory: true)) else { return false }
    return try !isThere(StorageRequest.Read(skipsMemory: true))
  }

  /// Whether there is a value under `key`. Storages that can tell without reading the value do.
  public func contains(_ key: Key) throws(StorageError) -> Bool {
    guard try peek(key, StorageRequest.Read()) != nil else { return false }
    return true
  }
}

extension ReadableStorage {
  /// A missing value is produced by tasks only; see ``AsyncStorage/value(forKey:expiry:orProduce:)``.
  @available(
    *,
    unavailable,
    message: "a missing value is produced by tasks only: write 'try await storage.async.value(forKey: key) { ... }'"
  )
  public func value(
    forKey key: Key,
    expiry: Expiry? = nil,
    orProduce producer: () async throws -> Value
  ) throws(StorageError) -> Value {
    throw .unsupported(operation: "produce a missing value", view: name)
  }
}

extension UpdatableStorage {
  /// The value under `key` and what is known of it, its version included; nil when the key is absent or expired.
  ///
  /// Of tiers, what has versions is asked first. Where that fails or has nothing, the other answers as it does for a value; such an entry
  /// has no version.
  ///
  /// - Parameters:
  ///   - key: the key to look up.
  ///   - allowExpired: whether a value is returned that has expired and that nobody has removed yet, to be used until
  ///     there is a new one. ``Entry/isExpired(at:)-(Date)`` tells.
  @inlinable
  public func entry(forKey key: Key, allowExpired: Bool = false) throws(StorageError) -> Entry<Value>? {
    try read(key, .entry(allowsExpired: allowExpired))
  }

  /// The value under `key`, which then stays for at least seven eighths of `duration`: sessions that end when they are not used.
  ///
  /// A value that does not expire, or that expires later, keeps its expiry, and one that gains less than an eighth of `duration`
  /// is not written again.
  public func value(
    forKey key: Key,
    extendingBy duration: Duration,
    durability: Durability? = nil
  ) throws(StorageError) -> Value? {
    guard let found = try read(key, StorageRequest.Read()) else { return nil }
    if found.expiry != .never {
      _ = try write(key, StorageRequest.Write(.extend, if: .present, expiry: .after(duration), durability: durability))
    }
    return found.value
  }
}

extension ReadableStorage where Key == Void {
  /// The value; nil when there is none.
  @inlinable
  public func value() throws(StorageError) -> Value? { try value(forKey: ()) }

  /// The value and what is known of it; nil when there is none.
  @inlinable
  public func entry() throws(StorageError) -> Entry<Value>? { try entry(forKey: ()) }
}

extension UpdatableStorage where Key == Void {
  /// The value and what is known of it, its version included; nil when there is none.
  @inlinable
  public func entry() throws(StorageError) -> Entry<Value>? { try entry(forKey: ()) }
}
