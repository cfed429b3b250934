internal import EskerPlatform
internal import Synchronization

/// The suspending twins of a storage's operations.
///
/// What memory knows is answered at once, where the task runs. What may wait for a disk runs on threads of Esker's own, so a task
/// never blocks Swift's cooperative pool. Plain calls may be made beside them, and see the same values; but one that waits for the
/// disk, such as a plain write with `.synced`, holds its thread meanwhile: in a task, that is one of the pool's few.
///
/// A write to a log is logged where the task runs, unless the store has a capacity, so that room may have to be made first. Then
/// the task, and no thread, waits for the disk if the write is to be durable, and all that wait at the same time share one sync.
///
/// A task that is cancelled before its operation has begun, an update before its write, throws ``StorageError/cancelled`` and
/// nothing has happened; once begun, the operation completes, durability included, and its outcome is returned. A value in memory is
/// returned to a cancelled task too.
public struct AsyncStorage<Base: StorageProtocol>: Sendable {
  /// The storage.
  public let base: Base

  @inlinable
  init(_ base: Base) {
    self.base = base
  }
}

extension StorageProtocol {
  /// The suspending twins of the operations.
  @inlinable
  public var async: AsyncStorage<Self> { AsyncStorage(self) }
}

extension AsyncStorage where Base: AsyncReadableStorage {
  /// The value under `key`; nil when the key is absent or expired.
  @inlinable
  public nonisolated(nonsending) func value(forKey key: Base.Key) async throws(StorageError) -> Base.Value? {
    guard let found = try await base.found(key, StorageRequest.Read()) else { return nil }
    return found.value
  }

  /// The value under `key` and what is known of it; nil when the key is absent, or expired and not allowed to be.
  @inlinable
  public nonisolated(nonsending) func entry(
    forKey key: Base.Key,
    allowExpired: Bool = false
  ) async throws(StorageError) -> Entry<Base.Value>? {
    try await base.found(key, StorageRequest.Read(allowsExpired: allowExpired))
  }
}

extension AsyncStorage where Base: AsyncReadableStorage {
  /// Whether there is a value under `key`. Storages that can tell without reading the value do, if they can be read without tasks.
  public nonisolated(nonsending) func contains(_ key: Base.Key) async throws(StorageError) -> Bool {
    try await base.found(key, StorageRequest.Read()) != nil
  }

  /// The values under several keys, in their order; nil for those that are absent or expired. Not together a snapshot. Those that
  /// memory does not know are asked for one after the other.
  public nonisolated(nonsending) func values(forKeys keys: [Base.Key]) async throws(StorageError) -> [Base.Value?] {
    var values: [Base.Value?] = []
    for key in keys { values.append(try await value(forKey: key)) }
    return values
  }
}

extension AsyncStorage where Base: ReadableStorage {
  /// The values under several keys, in their order; nil for those that are absent or expired. Not together a snapshot.
  public func values(forKeys keys: [Base.Key]) async throws(StorageError) -> [Base.Value?] {
    let call = StorageRequest.Read()
    var values: [Base.Value?] = []
    var unknown: [(position: Int, key: Base.Key)] = []
    for (position, key) in keys.enumerated() {
      values.append(nil)
      switch try base.held(key, call) {
      case .entry(let found): values[position] = found.value
      case .absent: break
      case .unknown: unknown.append((position, key))
      }
    }
    if unknown.isEmpty, !keys.isEmpty { return values }
    let asked = unknown.map(\.key)
    let found = try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.read(several: asked, StorageRequest.Read(skipsMemory: true))
    }
    for (place, entry) in zip(unknown, found) { values[place.position] = entry?.value }
    return values
  }

  /// Whether the storage still has an expired value under `key`.
  public func isExpired(forKey key: Base.Key) async throws(StorageError) -> Bool {
    try await IOThreads.shared.run { [base] () throws(StorageError) in try base.isExpired(forKey: key) }
  }

  /// Whether there is a value under `key`. Storages that can tell without reading the value do.
  public func contains(_ key: Base.Key) async throws(StorageError) -> Bool {
    switch try base.held(key, StorageRequest.Read()) {
    case .entry: return true
    case .absent: return false
    case .unknown: break
    }
    return try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.peek(key, StorageRequest.Read(skipsMemory: true)) != nil
    }
  }
}

extension AsyncStorage where Base: AsyncWritableStorage {
  /// Stores `value` under `key`, replacing what was there.
  @inlinable
  public nonisolated(nonsending) func set(
    _ value: Base.Value,
    forKey key: Base.Key,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StorageError) {
    _ = try await base.asyncWrite(key, StorageRequest.Write(.set(value), expiry: expiry, durability: durability))
  }

  /// Removes `key`; true when it was there.
  @inlinable @discardableResult
  public nonisolated(nonsending) func removeValue(
    forKey key: Base.Key,
    durability: Durability? = nil
  ) async throws(StorageError) -> Bool {
    try await base.asyncWrite(key, StorageRequest.Write(.remove, durability: durability)).wasThere
  }
}

extension AsyncStorage where Base: AsyncReadableStorage, Base.Key == Void {
  /// The value; nil when there is none.
  @inlinable
  public nonisolated(nonsending) func value() async throws(StorageError) -> Base.Value? {
    try await value(forKey: ())
  }

  /// The value and what is known of it; nil when there is none.
  @inlinable
  public nonisolated(nonsending) func entry() async throws(StorageError) -> Entry<Base.Value>? {
    try await entry(forKey: ())
  }
}

extension AsyncStorage where Base: AsyncWritableStorage, Base.Key == Void {
  /// Stores the value.
  @inlinable
  public nonisolated(nonsending) func set(
    _ value: Base.Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) async throws(StorageError) {
    try await set(value, forKey: (), expiry: expiry, durability: durability)
  }

  /// Removes the value; true when there was one.
  @inlinable @discardableResult
  public nonisolated(nonsending) func removeValue(durability: Durability? = nil) async throws(StorageError) -> Bool {
    try await removeValue(forKey: (), durability: durability)
  }
}

extension AsyncStorage where Base: EnumerableStorage {
  /// All keys, in no promised order.
  public func keys(skippingUnreadable: Bool = false) async throws(StorageError) -> [Base.Key] {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.keys(skippingUnreadable: skippingUnreadable)
    }
  }

  /// All keys with their entries, in no promised order.
  public func entries(
    skippingUnreadable: Bool = false
  ) async throws(StorageError) -> [(key: Base.Key, entry: Entry<Base.Value>)] {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.entries(skippingUnreadable: skippingUnreadable)
    }
  }

  /// All values, in no promised order.
  public func values(skippingUnreadable: Bool = false) async throws(StorageError) -> [Base.Value] {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.values(skippingUnreadable: skippingUnreadable)
    }
  }

  /// How many entries there are.
  public func count() async throws(StorageError) -> Int {
    try await IOThreads.shared.run { [base] () throws(StorageError) in try base.count() }
  }
}

extension AsyncStorage where Base: ReadableStorage {
  /// Reads all that is stored with the types of today, changes nothing, and tells what fails; see
  /// ``ReadableStorage/check(samples:progress:)``.
  ///
  /// - Parameters:
  ///   - samples: how many keys of each kind of failure the report names.
  ///   - progress: called with the share done, from 0 to 1, on one of Esker's threads; returns false to stop.
  /// - Throws: ``StorageError/cancelled`` also once the task is cancelled: unlike other operations, this one then ends early.
  public func check(
    samples: Int = 5,
    progress: (@Sendable (Double) -> Bool)? = nil
  ) async throws(StorageError) -> Report.Check<Base.Key> {
    let wish = CheckWish()
    let outcome: Result<Report.Check<Base.Key>, StorageError> = await withTaskCancellationHandler {
      do throws(StorageError) {
        return .success(
          try await IOThreads.shared.run { [base] () throws(StorageError) in
            try base.checked(samples: samples) { share in !wish.isCancelled && progress?(share) != false }
          }
        )
      } catch {
        return .failure(error)
      }
    } onCancel: {
      wish.cancel()
    }
    return try outcome.get()
  }
}

/// Whether the task that waits for a check has been cancelled, for the thread that checks.
private final class CheckWish: Sendable {
  // Relaxed: nothing else goes with it.
  private let cancelled = Atomic<Bool>(false)

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func cancel() { cancelled.store(true, ordering: .relaxed) }
}

extension AsyncStorage where Base: OrderedStorage {
  /// The entries of a range in the order of their keys; see ``OrderedStorage``.
  public func entries(
    in range: StorageRequest.Range<Base.Key>,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) async throws(StorageError) -> [(key: Base.Key, entry: Entry<Base.Value>)] {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.entries(in: range, order: order, limit: limit)
    }
  }

  /// The keys of a range in order; see ``OrderedStorage``.
  public func keys(
    in range: StorageRequest.Range<Base.Key>,
    order: KeyRange.Direction = .ascending,
    limit: Int = .max
  ) async throws(StorageError) -> [Base.Key] {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.keys(in: range, order: order, limit: limit)
    }
  }

  /// The entry with the least key of a range; nil if there is none.
  public func first(
    in range: StorageRequest.Range<Base.Key> = .all
  ) async throws(StorageError) -> (key: Base.Key, entry: Entry<Base.Value>)? {
    try await entries(in: range, limit: 1).first
  }

  /// The entry with the greatest key of a range; nil if there is none.
  public func last(
    in range: StorageRequest.Range<Base.Key> = .all
  ) async throws(StorageError) -> (key: Base.Key, entry: Entry<Base.Value>)? {
    try await entries(in: range, order: .descending, limit: 1).first
  }

  /// The number of entries in a range, which are looked up one by one.
  public func count(in range: StorageRequest.Range<Base.Key>) async throws(StorageError) -> Int {
    try await IOThreads.shared.run { [base] () throws(StorageError) in try base.count(in: range) }
  }
}

extension AsyncStorage where Base: OrderedStorage & WritableStorage {
  /// Removes the entries of a range one by one; returns how many there were.
  @discardableResult
  public func removeAll(
    in range: StorageRequest.Range<Base.Key>,
    durability: Durability? = nil
  ) async throws(StorageError) -> Int {
    try await IOThreads.shared.run { [base] () throws(StorageError) in
      try base.removeAll(in: range, durability: durability)
    }
  }
}

extension AsyncStorage where Base: ClearableStorage {
  /// Removes everything; see ``ClearableStorage/removeAll(durability:)``.
  public func removeAll(durability: Durability? = nil) async throws(StorageError) {
    try await IOThreads.shared.run { [base] () throws(StorageError) in try base.removeAll(durability: durability) }
  }

  /// Removes what is expired now; how much there was.
  @discardableResult
  public func removeExpired() async throws(StorageError) -> Int {
    try await IOThreads.shared.run { [base] () throws(StorageError) in try base.removeExpired() }
  }
}
