/// Typed keys and values, whatever is behind them: the type to write in properties and parameters.
///
/// It holds one reference to a table of closures that were specialised where it was made: a call costs a few nanoseconds more
/// than one of what is behind.
///
/// ```swift
/// struct Sessions {
///   let storage: Storage<String, Session>       // the log, memory, or both: Sessions need not know
/// }
/// ```
public struct Storage<Key: Sendable, Value: Sendable>: UpdatableStorage {
  @usableFromInline let table: StorageTable<Key, Value>

  /// Hides the type of `base`. What `base` can do beyond reading, writing and updating, the storage can too.
  @inlinable
  public init<Base: UpdatableStorage<Key, Value>>(_ base: Base) {
    if let storage = base as? Storage { self = storage } else { table = StorageTable(base) }
  }

  /// A back of the caller's making, from two functions: `get` answers nil for an absent key, `set` removes when given nil.
  ///
  /// Updates through this storage and its copies are serialised; the back need not know of them. Errors that the functions
  /// throw come out as ``StorageError/back(name:underlying:)``.
  public init(
    name: String,
    get: @escaping @Sendable (Key) throws -> Value?,
    set: @escaping @Sendable (Value?, Key) throws -> Void
  ) {
    self.init(CustomStorage(name: name, get: get, set: set).serialized())
  }

  /// What the storage behind is called.
  public var name: String { table.name }

  /// Which storage is behind.
  public var identity: StorageIdentity { table.identity }

  /// Whether the storage behind may wait.
  public var mayBlock: Bool { table.mayBlock }

  /// The value under `key` and what is known of it; nil when the key is absent or expired.
  @inlinable
  public func entry(forKey key: Key) throws(StorageError) -> Entry<Value>? { try table.entry(key) }

  /// The value under `key`; nil when the key is absent or expired.
  @inlinable
  public func value(forKey key: Key) throws(StorageError) -> Value? { try table.value(key) }

  /// Whether the key is there and not expired.
  public func contains(_ key: Key) throws(StorageError) -> Bool { try table.contains(key) }

  /// What memory alone knows of `key`.
  @inlinable
  public func residentEntry(forKey key: Key) throws(StorageError) -> Resident<Value> { try table.resident(key) }

  /// Stores `value` under `key`, replacing what was there.
  @inlinable
  public func set(_ value: Value, forKey key: Key, expiry: Expiry?) throws(StorageError) {
    try table.set(value, key, expiry)
  }

  /// Removes `key`; true when it was there.
  @inlinable @discardableResult
  public func removeValue(forKey key: Key) throws(StorageError) -> Bool { try table.remove(key) }

  /// Gives `body` the value under `key`, nil when there is none, and stores what it leaves; see ``UpdatableStorage``.
  @inlinable @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try table.update(key, expiry) { (value: inout Value?) throws(StorageError) in result = try body(&value) }
    guard let result else { throw .unsupported(operation: "update without calling its body", view: name) }
    return result
  }

  /// Another typed view of the same bytes: both see each other's writes.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind does not keep bytes.
  public func transform<New: Sendable>(to transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    guard let base = table.base as? any TransformableStorage<Key> else {
      throw .unsupported(operation: "show its values as another type", view: name)
    }
    return base.erasedTransform(to: transformer)
  }
}

/// A storage that keeps bytes, of which there can be other views.
public protocol TransformableStorage<Key>: StorageDesign {
  /// What values are found by.
  associatedtype Key: Sendable

  /// Another typed view of the same bytes.
  func erasedTransform<New: Sendable>(to transformer: Transformer<New>) -> Storage<Key, New>
}

extension LogStorage: TransformableStorage {
  /// Another typed view of the same bytes; ``transform(to:)`` has the concrete one.
  @inlinable
  public func erasedTransform<New: Sendable>(to transformer: Transformer<New>) -> Storage<Key, New> {
    Storage<Key, New>(transform(to: transformer))
  }
}

extension Storage: EnumerableStorage, ClearableStorage, ObservableStorage {
  private var enumerable: any EnumerableStorage<Key, Value> {
    get throws(StorageError) {
      guard let base = table.base as? any EnumerableStorage<Key, Value> else {
        throw .unsupported(operation: "list its entries", view: name)
      }
      return base
    }
  }

  private var clearable: any ClearableStorage<Key, Value> {
    get throws(StorageError) {
      guard let base = table.base as? any ClearableStorage<Key, Value> else {
        throw .unsupported(operation: "be emptied", view: name)
      }
      return base
    }
  }

  private var observable: any ObservableStorage<Key, Value> {
    get throws(StorageError) {
      guard let base = table.base as? any ObservableStorage<Key, Value> else {
        throw .unsupported(operation: "be observed", view: name)
      }
      return base
    }
  }

  /// Calls `body` with each key and entry; see ``EnumerableStorage``.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot list its entries.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try enumerable.forEachEntry(onFailure: failure, body)
  }

  /// Calls `body` with each key; see ``EnumerableStorage``.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot list its entries.
  public func forEachKey(_ body: (Key) throws(StorageError) -> Void) throws(StorageError) {
    try enumerable.forEachKey(body)
  }

  /// How many entries there are.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot list its entries.
  public func count() throws(StorageError) -> Int { try enumerable.count() }

  /// Removes everything.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot be emptied.
  public func removeAll() throws(StorageError) { try clearable.removeAll() }

  /// Removes what is expired now; how much there was.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot be emptied.
  @discardableResult
  public func removeExpired() throws(StorageError) -> Int { try clearable.removeExpired() }

  /// Calls `body` with every change from now on; see ``ObservableStorage``.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot be observed.
  public func observe(
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observable.observe(body)
  }

  /// Calls `body` with every change of one key from now on; see ``ObservableStorage``.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` if what is behind cannot be observed.
  public func observe(
    _ key: Key,
    _ body: @escaping @Sendable (StorageChange<Key, Value>) -> Void
  ) throws(StorageError) -> ObservationToken {
    try observable.observe(key, body)
  }
}
