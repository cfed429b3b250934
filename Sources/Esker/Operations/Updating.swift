extension UpdatableStorage {
  /// Gives `body` the value under `key`, nil when there is none, and stores what it leaves; nil removes the key.
  ///
  /// No other write to the key comes between. `body` may run again when another writer was first, so it should have no effect
  /// besides its result; no lock is held meanwhile, so it may call the storage. A value that was there keeps its expiry unless
  /// `expiry` says otherwise; a new one gets the storage's default. What a log has already is not written
  /// again, but behind another tier it is.
  ///
  /// - Returns: what `body` returned in the end.
  /// - Throws: what `body` throws, having changed nothing; what a read and a write throw.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var call = StorageRequest.Read(needsVersion: true)
    while true {
      let found = try read(key, call)
      var value = found?.value
      let result = try body(&value)
      guard let write = storing(value, found, expiry, durability) else { return result }
      if try self.write(key, write).isDone { return result }
      call.skipsMemory = true
      call.counting = .nothing
    }
  }

  /// Changes the value under `key` atomically, with a body that may throw errors of its own; any error changes nothing.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Value?) throws -> R
  ) throws -> R {
    var failure: (any Error)?
    do throws(StorageError) {
      return try update(forKey: key, expiry: expiry, durability: durability) {
        (stored: inout Value?) throws(StorageError) -> R in
        try noting(&failure) { try body(&stored) }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none; the value stored.
  @inlinable @discardableResult
  public func update(
    forKey key: Key,
    default value: @autoclosure () -> Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Value) throws(StorageError) -> Void
  ) throws(StorageError) -> Value {
    try update(forKey: key, expiry: expiry, durability: durability) {
      (stored: inout Value?) throws(StorageError) -> Value in
      try changing(&stored, from: value, body)
    }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none, with a body that may throw errors of
  /// its own; the value stored.
  @discardableResult
  public func update(
    forKey key: Key,
    default value: @autoclosure () -> Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil,
    _ body: (inout Value) throws -> Void
  ) throws -> Value {
    try update(forKey: key, expiry: expiry, durability: durability) { (stored: inout Value?) throws -> Value in
      try changing(&stored, from: value, body)
    }
  }
}

extension StorageRequest.AsyncUpdatable {
  /// The write of what a body left; nil if there is nothing to write. What was found without a version, such as a default, is
  /// not there.
  @usableFromInline
  func storing(
    _ value: Value?,
    _ found: Entry<Value>?,
    _ expiry: Expiry?,
    _ durability: Durability?
  ) -> StorageRequest.Write<Value>? {
    let version = found?.version
    let condition: StorageRequest.Condition = version.map { .version($0) } ?? .absent
    guard let value else {
      return version == nil ? nil : StorageRequest.Write(.remove, if: condition, durability: durability)
    }
    let kept = version == nil ? expiry : expiry ?? found?.expiry
    var write = StorageRequest.Write(.set(value), if: condition, expiry: kept, durability: durability)
    write.skipsUnchanged = true
    return write
  }
}

/// Calls a body of the caller's that may throw any error, which is noted; `.cancelled` stands for it until it is thrown.
func noting<R>(_ failure: inout (any Error)?, _ body: () throws -> R) throws(StorageError) -> R {
  do { return try body() } catch {
    failure = error
    throw .cancelled
  }
}

/// Changes what is stored, or `value` where nothing is; what it is then.
@inlinable
func changing<Value, Failure: Error>(
  _ stored: inout Value?,
  from value: () -> Value,
  _ body: (inout Value) throws(Failure) -> Void
) throws(Failure) -> Value {
  var changed: Value
  if let stored { changed = stored } else { changed = value() }
  try body(&changed)
  stored = changed
  return changed
}

extension UpdatableStorage where Value: FixedWidthInteger {
  /// Adds `amount` to the number under `key`, which is 0 when there is none, wrapping on overflow; the sum.
  @discardableResult
  public func increment(
    _ key: Key,
    by amount: Value = 1,
    durability: Durability? = nil
  ) throws(StorageError) -> Value {
    try update(forKey: key, default: 0, durability: durability) { (number: inout Value) throws(StorageError) in
      number &+= amount
    }
  }
}

extension UpdatableStorage where Value: RangeReplaceableCollection {
  /// Appends to the text or list under `key`, which is empty when there is none. The whole value is written again.
  public func append(_ more: Value, toKey key: Key, durability: Durability? = nil) throws(StorageError) {
    _ = try update(forKey: key, default: Value(), durability: durability) { (value: inout Value) throws(StorageError) in
      value += more
    }
  }
}

extension UpdatableStorage where Key == Void {
  /// Changes the value atomically; see `update(forKey:expiry:durability:_:)`.
  @inlinable @discardableResult
  public func update<R>(_ body: (inout Value?) throws(StorageError) -> R) throws(StorageError) -> R {
    try update(forKey: (), body)
  }

  /// Changes the value atomically, with a body that may throw errors of its own; any error changes nothing.
  @discardableResult
  public func update<R>(_ body: (inout Value?) throws -> R) throws -> R {
    try update(forKey: (), body)
  }
}
