/// The suspending twins of a storage's operations.
///
/// What memory knows is answered at once. What may wait for a disk runs on threads of Esker's own, so a task never blocks
/// Swift's cooperative pool. Storages that never wait are called directly. Synchronous and asynchronous calls may be mixed
/// freely, from anywhere.
///
/// A task that is cancelled before its operation has begun throws ``StorageError/cancelled`` and nothing has happened; once
/// begun, the operation ends and its outcome is returned.
public struct AsyncView<Base: StorageDesign>: Sendable {
  /// The storage.
  public let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
  }

  /// Runs `body` here if the storage never waits, on a thread of Esker's otherwise.
  @usableFromInline
  func run<R: Sendable>(_ body: @escaping @Sendable () throws(StorageError) -> R) async throws(StorageError) -> R {
    guard base.mayBlock else {
      if Task.isCancelled { throw .cancelled }
      return try body()
    }
    return try await IOThreads.shared.run(body)
  }
}

extension ReadableStorage {
  /// The suspending twins of the operations.
  @inlinable
  public var async: AsyncView<Self> { AsyncView(self) }
}

extension WritableStorage {
  /// The suspending twins of the operations.
  @inlinable @_disfavoredOverload
  public var async: AsyncView<Self> { AsyncView(self) }
}

extension AsyncView where Base: ReadableStorage {
  /// The value under `key` and what is known of it; nil when the key is absent or expired.
  @inlinable
  public func entry(forKey key: Base.Key) async throws(StorageError) -> Entry<Base.Value>? {
    switch try base.residentEntry(forKey: key) {
    case .present(let entry): return entry
    case .absent: return nil
    case .unknown: return try await run { [base] () throws(StorageError) in try base.entry(forKey: key) }
    }
  }

  /// The value under `key`; nil when the key is absent or expired.
  @inlinable
  public func value(forKey key: Base.Key) async throws(StorageError) -> Base.Value? {
    switch try base.residentEntry(forKey: key) {
    case .present(let entry): return entry.value
    case .absent: return nil
    case .unknown: return try await run { [base] () throws(StorageError) in try base.value(forKey: key) }
    }
  }

  /// Whether there is a value under `key`.
  public func contains(_ key: Base.Key) async throws(StorageError) -> Bool {
    switch try base.residentEntry(forKey: key) {
    case .present: return true
    case .absent: return false
    case .unknown: return try await run { [base] () throws(StorageError) in try base.contains(key) }
    }
  }
}

extension AsyncView where Base: ReadableStorage, Base.Key == Void {
  /// The value; nil when there is none.
  public func value() async throws(StorageError) -> Base.Value? { try await value(forKey: ()) }
}

extension AsyncView where Base: WritableStorage {
  /// Stores `value` under `key`, replacing what was there.
  public func set(_ value: Base.Value, forKey key: Base.Key, expiry: Expiry? = nil) async throws(StorageError) {
    try await run { [base] () throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }
  }

  /// Removes `key`; true when it was there.
  @discardableResult
  public func removeValue(forKey key: Base.Key) async throws(StorageError) -> Bool {
    try await run { [base] () throws(StorageError) in try base.removeValue(forKey: key) }
  }
}

extension AsyncView where Base: WritableStorage, Base.Key == Void {
  /// Stores the value.
  public func set(_ value: Base.Value, expiry: Expiry? = nil) async throws(StorageError) {
    try await set(value, forKey: (), expiry: expiry)
  }
}

extension AsyncView where Base: UpdatableStorage {
  /// Changes the value under `key` atomically; see ``UpdatableStorage``. `body` runs where the storage's work does.
  @discardableResult
  public func update<R: Sendable>(
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    _ body: @escaping @Sendable (inout Base.Value?) throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    try await run { [base] () throws(StorageError) in try base.update(forKey: key, expiry: expiry, body) }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none; the value stored.
  @discardableResult
  public func update(
    forKey key: Base.Key,
    default value: Base.Value,
    expiry: Expiry? = nil,
    _ body: @escaping @Sendable (inout Base.Value) throws(StorageError) -> Void
  ) async throws(StorageError) -> Base.Value {
    try await run { [base] () throws(StorageError) in
      try base.update(forKey: key, default: value, expiry: expiry, body)
    }
  }
}

extension AsyncView where Base: EnumerableStorage {
  /// All keys with their entries, as they were at one instant, in no promised order.
  public func entries() async throws(StorageError) -> [(key: Base.Key, entry: Entry<Base.Value>)] {
    try await run { [base] () throws(StorageError) in try base.entries() }
  }

  /// All keys, as they were at one instant, in no promised order.
  public func keys() async throws(StorageError) -> [Base.Key] {
    try await run { [base] () throws(StorageError) in try base.keys() }
  }

  /// All values, as they were at one instant, in no promised order.
  public func values() async throws(StorageError) -> [Base.Value] {
    try await run { [base] () throws(StorageError) in try base.values() }
  }

  /// How many entries there are.
  public func count() async throws(StorageError) -> Int {
    try await run { [base] () throws(StorageError) in try base.count() }
  }
}

extension AsyncView where Base: ClearableStorage {
  /// Removes everything.
  public func removeAll() async throws(StorageError) {
    try await run { [base] () throws(StorageError) in try base.removeAll() }
  }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() async throws(StorageError) -> Int {
    try await run { [base] () throws(StorageError) in try base.removeExpired() }
  }
}
