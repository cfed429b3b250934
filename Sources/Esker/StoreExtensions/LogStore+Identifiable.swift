/// A type whose values are stored under a name that stays when the type is renamed or moved.
public protocol PinnedName {
  /// The name of the type's storage.
  static var storageName: String { get }
}

/// The name of the storage in which values of a type are kept by their own id.
///
/// A private or local type has none that is the same at the next launch: the runtime tells it apart by an address.
///
/// - Throws: ``StorageError/unnamed(type:)``.
@usableFromInline
func storageName(of type: (some Any).Type) throws(StorageError) -> String {
  if let pinned = type as? any PinnedName.Type { return pinned.storageName }
  let name = String(reflecting: type)
  if name.contains("(unknown context at ") { throw .unnamed(type: "\(type)") }
  return name
}

/// Values that know their own key. Each type has a storage of its own, named after it, so that equal ids of two types never
/// collide; ``PinnedName`` keeps the name when the type is renamed. A private or local type must conform to it: its own name is
/// different at each launch, so these calls throw ``StorageError/unnamed(type:)`` otherwise.
///
/// ``EskerLog/LogStore/storage(of:)`` has all other operations, and those for tasks: `store.storage(of: User.self).async`.
extension LogStore {
  /// The storage in which values of the type are kept by their own id.
  @inlinable
  public func storage<Value: Identifiable & Codable & Sendable>(
    of type: Value.Type = Value.self
  ) throws(StorageError) -> Storage<Value.ID, Value> where Value.ID: StorageKey {
    Storage(try LogStorage(self, try storageName(of: type), key: Value.ID.self, of: type))
  }

  /// Stores `value` under its own id.
  @inlinable
  public func set<Value: Identifiable & Codable & Sendable>(
    _ value: Value,
    expiry: Expiry? = nil,
    durability: Durability? = nil
  ) throws(StorageError) where Value.ID: StorageKey {
    try identified(Value.self).set(value, forKey: value.id, expiry: expiry, durability: durability)
  }

  /// The value of the type with that id; nil when it is absent or expired.
  @inlinable
  public func value<Value: Identifiable & Codable & Sendable>(
    _ type: Value.Type = Value.self,
    id: Value.ID
  ) throws(StorageError) -> Value? where Value.ID: StorageKey {
    try identified(type).value(forKey: id)
  }

  /// Removes the value of the type with that id; true when it was there.
  @inlinable @discardableResult
  public func removeValue<Value: Identifiable & Codable & Sendable>(
    _ type: Value.Type,
    id: Value.ID,
    durability: Durability? = nil
  ) throws(StorageError) -> Bool where Value.ID: StorageKey {
    try identified(type).removeValue(forKey: id, durability: durability)
  }

  /// Made once for each type of value: it takes ten times as long as a call.
  @inlinable
  func identified<Value: Identifiable & Codable & Sendable>(
    _ type: Value.Type
  ) throws(StorageError) -> LogStorage<Value.ID, Value> where Value.ID: StorageKey {
    let view = try keptView(for: type) { (store) throws(StorageError) -> LogView<Value.ID, Value> in
      let storage = try LogStorage(store, try storageName(of: type), key: Value.ID.self, of: type)
      // Nothing observes it. The broadcaster that all views share may keep the store open.
      return LogView(storage, broadcaster: ChangeBroadcaster(keyspace: storage.keyspace))
    }
    return LogStorage(view)
  }

  @usableFromInline
  func keptView<Key: Sendable, Value: Sendable>(
    for type: Value.Type,
    _ make: (LogStore) throws(StorageError) -> LogView<Key, Value>
  ) throws(StorageError) -> LogView<Key, Value> {
    try keeping(for: type, while: { !$0.keyspace.isRemoved }, make)
  }
}
