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
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Codable & Sendable>(
    _ name: String,
    key: Key.Type = String.self,
    of value: Value.Type = Value.self
  ) throws(StorageError) -> Storage<Key, Value> {
    Storage(try LogStorage(self, name, key: key, of: value))
  }

  /// Typed keys and values in the keyspace called `name`, with a form of the caller's choice for the values.
  ///
  /// - Throws: ``StorageError/store(_:)``, see `LogStore.keyspace(_:)`.
  @inlinable
  public func storage<Key: StorageKey, Value: Sendable>(
    _ name: String,
    key: Key.Type = String.self,
    transformer: Transformer<Value>
  ) throws(StorageError) -> Storage<Key, Value> {
    Storage(try LogStorage(self, name, key: key, transformer: transformer))
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
