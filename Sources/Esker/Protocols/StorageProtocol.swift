internal import EskerPlatform

/// What all storages have in common, whatever they can do; ``ReadableStorage`` and the other protocols say what that is.
///
/// Calls may come from any thread.
public protocol StorageProtocol<Key, Value>: Sendable {
  /// The type of keys.
  associatedtype Key: Sendable
  /// The type of values.
  associatedtype Value: Sendable

  /// What the storage is called in errors and measurements.
  var name: String { get }

  /// The identity of the entry under `key` within the process. Storages that have the same identity for a key have the same value
  /// under it: if one task produces it, the others wait.
  ///
  /// - Throws: ``StorageError/key(_:view:underlying:)`` for a key that cannot become bytes.
  func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity

  /// The present time by the clock that decides which values have expired: of a log, that of its store. The system's time, where a
  /// storage says nothing else.
  var time: WallTime { get }
}

/// A storage that tasks can read.
///
/// One that is no more than this has no call that blocks: a storage on another machine, for instance.
public protocol AsyncReadableStorage<Key, Value>: StorageProtocol {
  /// What memory alone knows about `key`. Never waits: tasks call it where they run.
  func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value>

  /// The value under `key` and what is known about it; nil when the key is absent or expired.
  nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>?
}

/// A storage that can be read.
public protocol ReadableStorage<Key, Value>: AsyncReadableStorage {
  /// The value under `key` and what is known about it; nil when the key is absent or expired.
  func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>?

  /// The entries of several keys, in their order. Not together a snapshot.
  func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?]

  /// What is known about the value under `key`, without the value; nil when the key is absent or expired.
  func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>?
}

/// A storage that tasks can write.
public protocol AsyncWritableStorage<Key, Value>: StorageProtocol {
  /// Writes. A storage that cannot do what is asked, such as keep an expiry, throws
  /// ``StorageError/unsupported(operation:view:)``.
  ///
  /// A task that is cancelled before the write has begun throws ``StorageError/cancelled``; once begun, the write completes.
  nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt
}

/// A storage that can be written. What a write survives once it has returned is up to what is underneath.
public protocol WritableStorage<Key, Value>: AsyncWritableStorage {
  /// Writes. A storage that cannot do what is asked, such as keep an expiry, throws
  /// ``StorageError/unsupported(operation:view:)``.
  func write(_ key: Key, _ call: StorageRequest.Write<Value>) throws(StorageError) -> StorageRequest.Receipt
}

/// A storage that can change a value depending on what it is, atomically.
///
/// A promise rather than a function: entries have a version, and no other write comes between the check of a write's condition and
/// the write.
public protocol UpdatableStorage<Key, Value>: ReadableStorage, WritableStorage, StorageRequest.AsyncUpdatable {}

extension StorageRequest {
  /// A storage in which tasks can change a value depending on what it is, atomically: the same promise as that of
  /// ``UpdatableStorage``, of one that may have no call that blocks.
  public protocol AsyncUpdatable<Key, Value>: AsyncReadableStorage, AsyncWritableStorage {}
}

/// A storage that can list its entries.
public protocol EnumerableStorage<Key, Value>: ReadableStorage {
  /// Calls `body` with each key and entry, in no particular order: those of a log as they were at one instant, those of memory as
  /// they are when their turn comes.
  ///
  /// An entry that cannot be read is given to `failure`, which may throw to end the enumeration.
  ///
  /// - Complexity: O(what is stored underneath).
  func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError)

  /// Calls `body` with each key, as `forEachEntry` does. Values are not decoded, so only a key that cannot be read is given to
  /// `failure`.
  func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError)

  /// How many entries there are.
  func count() throws(StorageError) -> Int
}

/// A storage that can be emptied at once.
public protocol ClearableStorage<Key, Value>: WritableStorage {
  /// Removes everything.
  ///
  /// - Parameter durability: what the removal survives once the call has returned, where values outlive the process; nil: as the
  ///   store's default says.
  func removeAll(durability: Durability?) throws(StorageError)

  /// Removes the values that are expired now; returns how many there were.
  @discardableResult
  func removeExpired() throws(StorageError) -> Int
}

/// A storage that reports its changes; <doc:Observing> says which, and what it costs.
public protocol ObservableStorage<Key, Value>: ReadableStorage {
  /// Calls `body` with every change from now on, or with those of one key, until the observation is cancelled or released.
  ///
  /// `body` runs on a thread of Esker's own, one change after the other, in the order in which they took effect. No lock is
  /// held meanwhile: it may take its time and call the storage; other observers wait for it, writers do not. If more changes
  /// wait for it than Esker keeps, the rest are counted and reported as `.missed`.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if the storage cannot be observed; ``StorageError/store(_:)`` with
  ///   `.closed` if the store is closed, `.keyspaceRemoved` if the keyspace was removed;
  ///   ``StorageError/back(name:underlying:)`` when no thread can be created.
  func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken

  /// The same, with the changes that a batch or a transaction made at once; those that were not made by one come alone.
  ///
  /// Changes of a batch come together and in its order, and are all there or, if there is no room for them, all counted as missed.
  /// Whoever begins to observe while a batch takes effect hears nothing of it, and finds all of it when it reads. A storage that has
  /// no batches need not implement this: then each change comes alone.
  ///
  /// - Throws: What ``observe(only:_:)`` throws.
  func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken
}

extension ObservableStorage {
  /// Calls `body` with each change alone, as ``observe(only:_:)`` reports it.
  public func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observe(only: key) { body(StorageChange.Batch([$0])) }
  }
}

// MARK: Defaults

extension StorageProtocol {
  /// The system's time.
  public var time: WallTime { Options.Clock.system.now() }
}

extension AsyncReadableStorage {
  /// Nothing: a storage without memory of its own does not know.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    .unknown
  }
}

extension ReadableStorage {
  /// Reads the keys one after the other.
  public func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    var entries: [Entry<Value>?] = []
    entries.reserveCapacity(keys.count)
    for key in keys { entries.append(try read(key, call)) }
    return entries
  }

  /// What a read finds, without the value.
  public func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>? {
    try read(key, call)?.map { _ in }
  }

  /// Reads on one of Esker's threads: a storage of unknown kind may block.
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    try await IOThreads.shared.run { () throws(StorageError) in try read(key, call) }
  }
}

extension WritableStorage {
  /// Writes on one of Esker's threads: a storage of unknown kind may block.
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    try await IOThreads.shared.run { () throws(StorageError) in try write(key, call) }
  }
}

extension AsyncReadableStorage {
  /// What every read of a task does: memory is asked here and now, and once, so that a miss counts once; the rest where it waits.
  @inlinable
  nonisolated(nonsending) func found(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    var call = call
    if !call.skipsMemory {
      switch try held(key, call) {
      case .entry(let entry): return entry
      case .absent: return nil
      case .unknown: call.skipsMemory = true
      }
    }
    return try await asyncRead(key, call)
  }
}
