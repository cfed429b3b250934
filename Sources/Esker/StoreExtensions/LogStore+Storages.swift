extension LogStore {
  /// Typed keys and values in the keyspace called `name`.
  ///
  /// Types with a form of their own, ``StorageValue``, are kept in it, other `Codable` types as CBOR,
  /// `Transformer.binary`. The first view of a keyspace records the forms of its keys and values durably, together with the
  /// keyspace if that is new; views of other forms are refused.
  ///
  /// ```swift
  /// let users = try store.storage("users", of: User.self)
  /// try users.set(anna, forKey: "anna")
  /// ```
  ///
  /// - Parameters:
  ///   - name: what the storage is called.
  ///   - value: the type of the values.
  ///   - capacity: the most that the keyspace may take; see `Keyspace.setCapacity(_:)`. nil keeps what there is.
  ///   - memory: what memory ahead of it may hold, as of a ``HybridStorage``; nil for none.
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys or values have another form;
  ///   ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Value: Codable & Sendable>(
    _ name: String,
    of value: Value.Type = Value.self,
    capacity: Keyspace.Capacity? = nil,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<String, Value> {
    try storage(name, key: String.self, of: value, capacity: capacity, memory: memory)
  }

  /// Typed keys and values in the keyspace called `name`, with keys of any type that can be one.
  ///
  /// ```swift
  /// let boards: Storage<Int, Board> = try store.storage("boards")
  /// ```
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys or values have another form;
  ///   ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Codable & Sendable>(
    _ name: String,
    key: Key.Type = Key.self,
    of value: Value.Type = Value.self,
    capacity: Keyspace.Capacity? = nil,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<Key, Value> {
    let log = try LogStorage(self, name, key: key, of: value)
    try log.use(capacity)
    if let memory { return Storage(HybridStorage(log, limits: memory)) }
    return Storage(log)
  }

  /// Typed keys and values in the keyspace called `name`, with a form of the caller's choice for the values.
  ///
  /// The form is recorded if none is, and may differ from a recorded one: to read what an earlier version of the program wrote, and
  /// to write it anew.
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form;
  ///   ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Value: Sendable>(
    _ name: String,
    transformer: Transformer<Value>,
    capacity: Keyspace.Capacity? = nil,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<String, Value> {
    try storage(name, key: String.self, transformer: transformer, capacity: capacity, memory: memory)
  }

  /// Typed keys and values in the keyspace called `name`, with keys of any type that can be one, and a form of the caller's choice for
  /// the values; see ``storage(_:transformer:capacity:memory:)``.
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form;
  ///   ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Sendable>(
    _ name: String,
    key: Key.Type = Key.self,
    transformer: Transformer<Value>,
    capacity: Keyspace.Capacity? = nil,
    memory: MemoryLimits? = nil
  ) throws(StorageError) -> Storage<Key, Value> {
    let log = try LogStorage(self, name, key: key, transformer: transformer)
    try log.use(capacity)
    if let memory { return Storage(HybridStorage(log, limits: memory)) }
    return Storage(log)
  }

  /// Typed keys and values in the keyspace called `name`, with forms of the caller's choice for both.
  ///
  /// - Throws: ``StorageError/form(of:keyspace:recorded:asked:)`` if the keyspace's keys have another form;
  ///   ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: Sendable, Value: Sendable>(
    keyspace name: String,
    keys: KeyTransformer<Key>,
    values: Transformer<Value>
  ) throws(StorageError) -> Storage<Key, Value> {
    let keyspace = try keyspace(name, keys: keys.id, values: values.id, isOwn: false)
    return Storage(LogStorage(LogView(keyspace: keyspace, keys: keys, values: values)))
  }
}
