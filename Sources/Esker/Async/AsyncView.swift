/// The suspending twins of a storage's operations.
///
/// What memory knows is answered at once. What may wait for a disk runs on threads of Esker's own, so a task never blocks
/// Swift's cooperative pool. Storages that never wait are called directly. Synchronous and asynchronous calls may be mixed
/// freely, from anywhere.
///
/// A write that is to be durable keeps a thread only until it is logged. Then its task waits for the disk, and all that wait at
/// the same time share one sync. This holds for the durability of the store, through compositions too. A write that the body
/// of an update makes, or one that names its durability, waits where it is made.
///
/// A task that is cancelled before its operation has begun throws ``StorageError/cancelled`` and nothing has happened; once
/// begun, the operation ends, durability included, and its outcome is returned.
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

extension AsyncView {
  /// Runs `body`, which writes: the thread is free again when everything is logged, and the task waits for the disk.
  func write<R: Sendable>(
    _ body: @escaping @Sendable () throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    let syncs = DeferredSyncs()
    let result: R
    do throws(StorageError) {
      result = try await run { () throws(StorageError) in try syncs.collect(body) }
    } catch {
      // A part may have been written: what the error says of the rest holds when that part is durable.
      try? await syncs.settle()
      throw error
    }
    do throws(StoreError) { try await syncs.settle() } catch { throw .store(error) }
    return result
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
    try await write { [base] () throws(StorageError) in try base.set(value, forKey: key, expiry: expiry) }
  }

  /// Removes `key`; true when it was there.
  @discardableResult
  public func removeValue(forKey key: Base.Key) async throws(StorageError) -> Bool {
    try await write { [base] () throws(StorageError) in try base.removeValue(forKey: key) }
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
    try await write { [base] () throws(StorageError) in
      try base.update(forKey: key, expiry: expiry) { (value: inout Base.Value?) throws(StorageError) -> R in
        try DeferredSyncs.suspend { () throws(StorageError) in try body(&value) }
      }
    }
  }

  /// Changes the value under `key` atomically, beginning with `value` when there is none; the value stored.
  @discardableResult
  public func update(
    forKey key: Base.Key,
    default value: Base.Value,
    expiry: Expiry? = nil,
    _ body: @escaping @Sendable (inout Base.Value) throws(StorageError) -> Void
  ) async throws(StorageError) -> Base.Value {
    try await update(forKey: key, expiry: expiry) { (found: inout Base.Value?) throws(StorageError) -> Base.Value in
      var changed = found ?? value
      try body(&changed)
      found = changed
      return changed
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
    try await write { [base] () throws(StorageError) in try base.removeAll() }
  }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() async throws(StorageError) -> Int {
    try await write { [base] () throws(StorageError) in try base.removeExpired() }
  }
}
