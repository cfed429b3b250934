/// Typed storages in a transaction, any number of them, of whatever types.
///
/// ```swift
/// try store.transaction { transaction in
///   guard let balance = try transaction.value(forKey: "anna", in: accounts), balance >= 10 else { return }
///   try transaction.set(balance - 10, forKey: "anna", in: accounts)
/// }
/// ```
extension LogStore.Transaction {
  /// The value of a key of a storage; nil if it is absent or expired. A front is passed by.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a storage that does not keep its values in this store as bytes; what
  ///   reading it throws; ``StorageError/store(_:)`` with a conflict, which the body should let pass.
  public mutating func value<Source: StorageProtocol>(
    forKey key: Source.Key,
    in storage: Source
  ) throws(StorageError) -> Source.Value? {
    guard let source = storage as? any ByteBacked<Source.Key, Source.Value> else {
      throw .notBytes(storage.name)
    }
    return try source.entry(forKey: key, in: &self)?.value
  }

  /// Adds a store of `value` under `key` of a storage, which the transaction reads from now on.
  ///
  /// - Throws: As `set(_:forKey:in:expiry:)` of `WriteBatch`.
  public mutating func set<Target: UpdatableStorage>(
    _ value: Target.Value,
    forKey key: Target.Key,
    in storage: Target,
    expiry: Expiry? = nil
  ) throws(StorageError) {
    try addWrites { (batch) throws(StorageError) in try batch.set(value, forKey: key, in: storage, expiry: expiry) }
  }

  /// Adds a removal of `key` of a storage, which is absent to the transaction from now on.
  ///
  /// - Throws: As ``set(_:forKey:in:expiry:)``.
  public mutating func removeValue<Target: UpdatableStorage>(
    forKey key: Target.Key,
    in storage: Target
  ) throws(StorageError) {
    try addWrites { (batch) throws(StorageError) in try batch.removeValue(forKey: key, in: storage) }
  }
}
