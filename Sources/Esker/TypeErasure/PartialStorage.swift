/// Typed keys and values that can be read, written and updated, whatever is behind them: as ``Storage``, for what can be neither
/// listed nor emptied nor observed, such as a back of two functions or a view of some keys.
public struct PartialStorage<Key: Sendable, Value: Sendable>: UpdatableStorage {
  @usableFromInline let table: StorageTable<Key, Value>

  /// Hides the type of `base`.
  @inlinable
  public init<Base: UpdatableStorage<Key, Value>>(_ base: Base) {
    if let storage = base as? PartialStorage { self = storage } else { table = StorageTable(base) }
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
}

extension PartialStorage: ByteBacked {
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

extension PartialStorage: LogBacked {
  var logView: LogBacking? { (table.base as? any LogBacked)?.logView }
}

extension PartialStorage: CheckableStorage {
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try findAll(of: table.base, progress: progress, body)
  }
}
