/// Typed keys and values, whatever is behind them: the type to write in properties and parameters.
///
/// It holds a reference to a table of closures that were specialised where it was made: a call costs a few nanoseconds more than a
/// direct one. The storage behind it can do all that this type can; for a storage that can do less there is ``PartialStorage``.
///
/// ```swift
/// struct Sessions {
///   let storage: Storage<String, Session>       // the log, memory, or both: Sessions need not know
/// }
/// ```
public struct Storage<Key: Sendable, Value: Sendable>: UpdatableStorage {
  @usableFromInline let table: StorageTable<Key, Value>
  @usableFromInline let listing: ListingTable<Key, Value>

  /// Hides the type of `base`.
  @inlinable
  public init<Base: UpdatableStorage & EnumerableStorage & ClearableStorage & ObservableStorage>(
    _ base: Base
  ) where Base.Key == Key, Base.Value == Value {
    if let storage = base as? Storage {
      self = storage
    } else {
      table = StorageTable(base)
      listing = ListingTable(base)
    }
  }

  /// What the storage behind is called.
  public var name: String { table.name }

  /// The time of the storage behind.
  public var time: WallTime { table.base.time }

  /// The identity of the entry in the storage behind.
  public func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity { try table.identity(key) }

  /// Reads from the storage behind.
  @inlinable
  public func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    try table.read(key, call)
  }

  /// Reads from the storage behind.
  public func read(several keys: [Key], _ call: StorageRequest.Read) throws(StorageError) -> [Entry<Value>?] {
    try table.base.read(several: keys, call)
  }

  /// Asks the storage behind.
  public func peek(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Void>? {
    try table.base.peek(key, call)
  }

  /// What memory alone knows about `key`.
  @inlinable
  public func held(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> StorageRequest.Held<Value> {
    try table.held(key, call)
  }

  /// Reads from the storage behind.
  @inlinable
  public nonisolated(nonsending) func asyncRead(
    _ key: Key,
    _ call: StorageRequest.Read
  ) async throws(StorageError) -> Entry<Value>? {
    try await table.asyncRead(key, call)
  }

  /// Writes to the storage behind.
  @inlinable
  public func write(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) throws(StorageError) -> StorageRequest.Receipt {
    try table.write(key, call)
  }

  /// Writes to the storage behind.
  @inlinable
  public nonisolated(nonsending) func asyncWrite(
    _ key: Key,
    _ call: StorageRequest.Write<Value>
  ) async throws(StorageError) -> StorageRequest.Receipt {
    try await table.asyncWrite(key, call)
  }

  /// Another typed view of the same bytes: both see each other's writes.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if the storage behind does not keep bytes.
  public func transform<New: Sendable>(to transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    try viewed(as: transformer)
  }
}

extension Storage: EnumerableStorage, ClearableStorage, ObservableStorage {
  /// Calls `body` with each key and entry; see ``EnumerableStorage``.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try listing.enumerable.forEachEntry(onFailure: failure, body)
  }

  /// Calls `body` with each key; see ``EnumerableStorage``.
  public func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try listing.enumerable.forEachKey(onFailure: failure, body)
  }

  /// How many entries there are.
  public func count() throws(StorageError) -> Int { try listing.enumerable.count() }

  /// Removes everything.
  public func removeAll(durability: Durability?) throws(StorageError) {
    try listing.clearable.removeAll(durability: durability)
  }

  /// Removes the values that are expired now; returns how many there were.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { try listing.clearable.removeExpired() }

  /// Calls `body` with every change from now on, or with those of one key; see ``ObservableStorage``.
  public func observe(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try listing.observable.observe(only: key, body)
  }

  /// Calls `body` with every change from now on, or with those of one key, with those of a batch at once; see ``ObservableStorage``.
  public func observeBatches(
    only key: Key?,
    _ body: @escaping @Sendable (StorageChange<Key, Value>.Batch) -> Void
  ) throws(StorageError) -> ObservationToken {
    try listing.observable.observeBatches(only: key, body)
  }
}

extension Storage: OrderedStorage where Key: OrderedStorageKey {
  private var ordered: any OrderedStorage<Key, Value> {
    get throws(StorageError) {
      guard let base = table.base as? any OrderedStorage<Key, Value> else {
        throw .unsupported(operation: "read its keys in order", view: name)
      }
      return base
    }
  }

  /// Calls `body` with each key of a range and its entry, in order; see ``OrderedStorage``.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if the storage behind has no order, such as memory alone.
  public func forEachEntry(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try ordered.forEachEntry(in: range, order: order, limit: limit, onFailure: failure, body)
  }

  /// Calls `body` with each key of a range, in order; see ``OrderedStorage``.
  public func forEachKey(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try ordered.forEachKey(in: range, order: order, limit: limit, onFailure: failure, body)
  }
}

extension Storage: ByteBacked {
  private var bytes: any ByteBacked<Key, Value> {
    get throws(StorageError) {
      guard let base = table.base as? any ByteBacked<Key, Value> else {
        throw .notBytes(name)
      }
      return base
    }
  }

  func viewed<New: Sendable>(as transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    try bytes.viewed(as: transformer)
  }

  func add(_ write: StorageRequest.Write<Value>, _ key: Key, to batch: inout WriteBatch) throws(StorageError) {
    try bytes.add(write, key, to: &batch)
  }

  func entry(forKey key: Key, in transaction: inout LogStore.Transaction) throws(StorageError) -> Entry<Value>? {
    try bytes.entry(forKey: key, in: &transaction)
  }
}

extension Storage: LogBacked {
  var logView: LogBacking? { (table.base as? any LogBacked)?.logView }
}

extension Storage: CheckableStorage {
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try findAll(of: table.base, progress: progress, body)
  }
}
