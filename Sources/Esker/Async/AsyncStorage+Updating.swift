extension AsyncStorage where Base: StorageRequest.AsyncUpdatable {
  /// The value under `key` and what is known of it, its version included if it can be had; nil when the key is absent, or expired and
  /// not allowed to be. See `entry(forKey:allowExpired:)` of ``UpdatableStorage``.
  @inlinable
  public nonisolated(nonsending) func entry(
    forKey key: Base.Key,
    allowExpired: Bool = false
  ) async throws(StorageError) -> Entry<Base.Value>? {
    try await base.found(key, .entry(allowsExpired: allowExpired))
  }

  /// Changes the value under `key` atomically, in the isolation of the caller; see `update(forKey:expiry:durability:_:)` of
  /// ``UpdatableStorage``.
  @discardableResult
  public nonisolated(nonsending) func update<R>(
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    var call = StorageRequest.Read(needsVersion: true)
    while true {
      let found = try await base.found(key, call)
      let began = StorageRequest.nextMoment()
      var value = found?.value
      let result = try body(&value)
      guard var write = base.storing(value, found, expiry, durability) else { return result }
      write.began = began
      if try await base.asyncWrite(key, write).isDone { return result }
      call.skipsMemory = true
    }
  }

  /// Changes the value under `key` atomically, with a body that may throw errors of its own; any error changes nothing.
  @discardableResult
  public nonisolated(nonsending) func update<R>(
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Base.Value?) throws -> R
  ) async throws -> R {
    var failure: (any Error)?
    do throws(StorageError) {
      return try await update(forKey: key, expiry: expiry, durability: durability) {
        (stored: inout Base.Value?) throws(StorageError) -> R in
        try noting(&failure) { try body(&stored) }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none; the value stored.
  @discardableResult
  public nonisolated(nonsending) func update(
    forKey key: Base.Key,
    default value: @autoclosure () -> Base.Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Base.Value) throws(StorageError) -> Void
  ) async throws(StorageError) -> Base.Value {
    try await update(forKey: key, expiry: expiry, durability: durability) {
      (stored: inout Base.Value?) throws(StorageError) -> Base.Value in
      try changing(&stored, from: value, body)
    }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none, with a body that may throw errors of
  /// its own; the value stored.
  @discardableResult
  public nonisolated(nonsending) func update(
    forKey key: Base.Key,
    default value: @autoclosure () -> Base.Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Base.Value) throws -> Void
  ) async throws -> Base.Value {
    try await update(forKey: key, expiry: expiry, durability: durability) {
      (stored: inout Base.Value?) throws -> Base.Value in
      try changing(&stored, from: value, body)
    }
  }

  /// Stores `value` under `key` if there is none; whether it did.
  @discardableResult
  public nonisolated(nonsending) func setIfAbsent(
    _ value: Base.Value,
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StorageError) -> Bool {
    try await base.asyncWrite(key, .exchange(nil, for: value, expiry, durability)).isDone
  }

  /// Stores `value` under `key` if the value there still has that ``Entry/version``; nil means that there must be none.
  ///
  /// - Returns: the new version; nil if another write came first, and nothing was stored.
  @discardableResult
  public nonisolated(nonsending) func compareAndSet(
    _ value: Base.Value,
    forKey key: Base.Key,
    ifVersion version: SequenceNumber?,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StorageError) -> SequenceNumber? {
    try await base.asyncWrite(key, .exchange(version, for: value, expiry, durability)).storedVersion
  }

  /// Removes `key` if the value there still has that ``Entry/version``; whether it did.
  @discardableResult
  public nonisolated(nonsending) func removeValue(
    forKey key: Base.Key,
    ifVersion version: SequenceNumber,
    durability: Durability? = nil
  ) async throws(StorageError) -> Bool {
    try await base.asyncWrite(key, StorageRequest.Write(.remove, if: .version(version), durability: durability)).isDone
  }

  /// Gives the value under `key` another expiry; false when there is none.
  @discardableResult
  public nonisolated(nonsending) func touch(
    _ key: Base.Key,
    expiry: Expiry,
    durability: Durability? = nil
  ) async throws(StorageError) -> Bool {
    try await base.asyncWrite(key, .touch(expiry, durability)).isDone
  }

  /// Makes the value under `key` never expire; false when there is none.
  @discardableResult
  public nonisolated(nonsending) func persist(
    _ key: Base.Key,
    durability: Durability? = nil
  ) async throws(StorageError) -> Bool {
    try await touch(key, expiry: .never, durability: durability)
  }

  /// The value under `key`, which then stays for at least seven eighths of `duration`; see `value(forKey:extendingBy:)` of
  /// ``UpdatableStorage``.
  public nonisolated(nonsending) func value(
    forKey key: Base.Key,
    extendingBy duration: Duration,
    durability: Durability? = nil
  ) async throws(StorageError) -> Base.Value? {
    guard let found = try await base.found(key, StorageRequest.Read()) else { return nil }
    if found.expiry != .never {
      _ = try await base.asyncWrite(key, .extend(by: duration, durability))
    }
    return found.value
  }
}

extension AsyncStorage where Base: StorageRequest.AsyncUpdatable, Base.Value: FixedWidthInteger {
  /// Adds `amount` to the number under `key`, which is 0 when there is none, wrapping on overflow; the sum.
  @discardableResult
  public nonisolated(nonsending) func increment(
    _ key: Base.Key,
    by amount: Base.Value = 1,
    durability: Durability? = nil
  ) async throws(StorageError) -> Base.Value {
    try await update(forKey: key, default: 0, durability: durability) {
      (number: inout Base.Value) throws(StorageError) in number &+= amount
    }
  }
}

extension AsyncStorage where Base: StorageRequest.AsyncUpdatable, Base.Value: RangeReplaceableCollection {
  /// Appends to the text or list under `key`, which is empty when there is none. The whole value is written again.
  public nonisolated(nonsending) func append(
    _ more: Base.Value,
    toKey key: Base.Key,
    durability: Durability? = nil
  ) async throws(StorageError) {
    _ = try await update(forKey: key, default: Base.Value(), durability: durability) {
      (value: inout Base.Value) throws(StorageError) in value += more
    }
  }
}

extension AsyncStorage where Base: StorageRequest.AsyncUpdatable, Base.Key == Void {
  /// The value and what is known of it, its version included; nil when there is none.
  public nonisolated(nonsending) func entry() async throws(StorageError) -> Entry<Base.Value>? {
    try await entry(forKey: ())
  }

  /// Changes the value atomically, in the isolation of the caller; see `update(forKey:expiry:durability:_:)`.
  @discardableResult
  public nonisolated(nonsending) func update<R>(
    _ body: (inout Base.Value?) throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    try await update(forKey: (), body)
  }

  /// Changes the value atomically, with a body that may throw errors of its own; any error changes nothing.
  @discardableResult
  public nonisolated(nonsending) func update<R>(_ body: (inout Base.Value?) throws -> R) async throws -> R {
    try await update(forKey: (), body)
  }
}
