extension LogStore {
  /// Typed keys and values in the keyspace called `name`.
  ///
  /// Types with a form of their own, ``StorageValue``, are kept in it, other `Codable` types as CBOR,
  /// ``Transformer/binary``. A storage whose keys are neither text nor bytes has a keyspace of its own, apart from that of text
  /// keys: `name#int64` for `Int`.
  ///
  /// ```swift
  /// let users = try store.storage("users", of: User.self)
  /// try users.set(anna, forKey: "anna")
  /// ```
  ///
  /// - Parameters:
  ///   - name: what the storage is called.
  ///   - value: the type of the values.
  ///   - memory: what memory ahead of it may hold, as of a ``HybridStorage``; nil for none.
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Value: Codable & Sendable>(
    _ name: String,
    of value: Value.Type = Value.self,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<String, Value> {
    try storage(name, key: String.self, of: value, memory: memory)
  }

  /// Typed keys and values in the keyspace called `name`, with keys of any type that can be one.
  ///
  /// ```swift
  /// let boards: Storage<Int, Board> = try store.storage("boards")
  /// ```
  ///
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Codable & Sendable>(
    _ name: String,
    key: Key.Type = Key.self,
    of value: Value.Type = Value.self,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<Key, Value> {
    let log = try LogStorage(self, name, key: key, of: value)
    if let memory { return Storage(HybridStorage(log, limits: memory)) }
    return Storage(log)
  }

  /// Typed keys and values in the keyspace called `name`, with a form of the caller's choice for the values.
  ///
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Sendable>(
    _ name: String,
    key: Key.Type = String.self,
    transformer: Transformer<Value>,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<Key, Value> {
    let log = try LogStorage(self, name, key: key, transformer: transformer)
    if let memory { return Storage(HybridStorage(log, limits: memory)) }
    return Storage(log)
  }

  /// Typed keys and values in the keyspace called exactly `name`, with forms of the caller's choice for both.
  ///
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: Sendable, Value: Sendable>(
    keyspace name: String,
    keys: KeyTransformer<Key>,
    values: Transformer<Value>
  ) throws(StorageError) -> Storage<Key, Value> {
    let keyspace = try translating { () throws(StoreError) -> Keyspace in try self.keyspace(name) }
    return Storage(LogStorage(keyspace: keyspace, keys: keys, values: values))
  }
}
