/// A storage for tasks whose keys or values are turned by functions that suspend: a cipher in another process, a decoder on the
/// graphics processor; see ``AsyncStorage/mapValues(to:_:from:)``.
///
/// What it can do its base can: one of a read-only storage cannot be written. There is no `update`: while a value is turned,
/// somebody else may write. Maps are applied in the task that calls; one that throws `CancellationError`, or ``StorageError/cancelled``
/// as other storages do, makes the call throw ``StorageError/cancelled``, and nothing was written.
public struct AsyncMapped<Base: StorageProtocol, Key: Sendable, Value: Sendable>: Sendable {
  let base: AsyncStorage<Base>
  let turnKey: @Sendable (Key) async throws -> Base.Key
  let decode: @Sendable (Base.Value) async throws -> Value
  let encode: @Sendable (Value) async throws -> Base.Value

  /// The same with values turned once more; see ``AsyncStorage/mapValues(to:_:from:)``.
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Value) async throws -> New,
    from encode: @escaping @Sendable (New) async throws -> Value
  ) -> AsyncMapped<Base, Key, New> {
    AsyncMapped<Base, Key, New>(
      base: base,
      turnKey: turnKey,
      decode: { [inner = self.decode] in try await decode(try await inner($0)) },
      encode: { [inner = self.encode] in try await inner(try await encode($0)) }
    )
  }

  /// The same with keys turned once more; see ``AsyncStorage/mapKeys(to:_:)``.
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ turn: @escaping @Sendable (New) async throws -> Key
  ) -> AsyncMapped<Base, New, Value> {
    AsyncMapped<Base, New, Value>(
      base: base,
      turnKey: { [turnKey] in try await turnKey(try await turn($0)) },
      decode: decode,
      encode: encode
    )
  }

  private func turned(_ key: Key) async throws(StorageError) -> Base.Key {
    do {
      return try await turnKey(key)
    } catch {
      throw translated(error) { .key("\(key)", view: base.base.name, underlying: $0) }
    }
  }

  /// How an error of a map comes out. That the task was cancelled is no fault of what was to be turned.
  private func translated(_ error: any Error, as fault: (any Error) -> StorageError) -> StorageError {
    if error is CancellationError { return .cancelled }
    if case .cancelled = error as? StorageError { return .cancelled }
    return fault(error)
  }
}

extension AsyncMapped where Base: AsyncReadableStorage {
  /// The value under `key`, turned, and what is known of it; nil when the key is absent or expired.
  public func entry(forKey key: Key) async throws(StorageError) -> Entry<Value>? {
    guard let found = try await base.entry(forKey: try await turned(key)) else { return nil }
    return Entry(
      try await decoded(found.value, key),
      origin: found.origin,
      expiry: found.expiry,
      version: found.version
    )
  }

  /// The value under `key`, turned; nil when the key is absent or expired.
  public func value(forKey key: Key) async throws(StorageError) -> Value? {
    guard let found = try await base.value(forKey: try await turned(key)) else { return nil }
    return try await decoded(found, key)
  }

  /// Whether there is a value under `key`; it is not turned.
  public func contains(_ key: Key) async throws(StorageError) -> Bool {
    try await base.entry(forKey: try await turned(key)) != nil
  }

  private func decoded(_ value: Base.Value, _ key: Key) async throws(StorageError) -> Value {
    do {
      return try await decode(value)
    } catch {
      throw translated(error) {
        .decoding(key: "\(key)", view: base.base.name, expected: "\(Value.self)", underlying: $0)
      }
    }
  }
}

extension AsyncMapped where Base: AsyncWritableStorage {
  /// Stores what `value` turns into under `key`, replacing what was there.
  public func set(
    _ value: Value,
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StorageError) {
    let old: Base.Value
    do {
      old = try await encode(value)
    } catch {
      throw translated(error) { .encoding(view: base.base.name, type: "\(Value.self)", underlying: $0) }
    }
    try await base.set(old, forKey: try await turned(key), expiry: expiry, durability: durability)
  }

  /// Removes `key`; true when it was there.
  @discardableResult
  public func removeValue(forKey key: Key, durability: Durability? = nil) async throws(StorageError) -> Bool {
    try await base.removeValue(forKey: try await turned(key), durability: durability)
  }
}

extension AsyncStorage {
  /// Values of another type, turned both ways by functions that may suspend.
  ///
  /// What they throw comes out as `StorageError.decoding` or `.encoding`; a value that cannot be encoded changes nothing.
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Base.Value) async throws -> New,
    from encode: @escaping @Sendable (New) async throws -> Base.Value
  ) -> AsyncMapped<Base, Base.Key, New> {
    AsyncMapped(base: self, turnKey: { $0 }, decode: decode, encode: encode)
  }

  /// Keys of another type, each looked up as what `turn`, which may suspend, turns it into.
  public func mapKeys<New: Sendable>(
    to type: New.Type = New.self,
    _ turn: @escaping @Sendable (New) async throws -> Base.Key
  ) -> AsyncMapped<Base, New, Base.Value> {
    AsyncMapped(base: self, turnKey: turn, decode: { $0 }, encode: { $0 })
  }
}

extension AsyncStorage where Base: AsyncReadableStorage {
  /// Values turned into another type by a function that may suspend, for reading only.
  public func mapValues<New: Sendable>(
    to type: New.Type = New.self,
    _ decode: @escaping @Sendable (Base.Value) async throws -> New
  ) -> AsyncMapped<Composed<Base, StorageStep.ReadOnly<Base.Key, Base.Value>>, Base.Key, New> {
    // Not called: what is for reading only is not written.
    AsyncMapped(base: base.readOnly().async, turnKey: { $0 }, decode: decode, encode: { _ in throw OneWay() })
  }
}

extension AsyncStorage where Base: AsyncWritableStorage {
  /// Values of another type stored as what they turn into by a function that may suspend, for writing only.
  public func mapValues<New: Sendable>(
    from encode: @escaping @Sendable (New) async throws -> Base.Value
  ) -> AsyncMapped<Composed<Base, StorageStep.WriteOnly<Base.Key, Base.Value>>, Base.Key, New> {
    // Not called: what is for writing only is not read.
    AsyncMapped(base: base.writeOnly().async, turnKey: { $0 }, decode: { _ in throw OneWay() }, encode: encode)
  }
}

/// Never seen.
private struct OneWay: Error {}
