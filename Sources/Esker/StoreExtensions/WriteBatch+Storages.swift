/// Typed writes in a batch: several storages of a store, of whatever types, change together or not at all.
///
/// ```swift
/// try store.write { batch in
///   try batch.set(anna, forKey: "anna", in: users)
///   try batch.removeValue(forKey: "anna", in: invitations)
/// }
/// ```
extension WriteBatch {
  /// Adds a store of `value` under `key` of a storage to the batch. The last operation on a key wins.
  ///
  /// - Throws: ``StorageError/unsupported(operation:view:)`` for a storage that does not keep its values in this store as bytes;
  ///   ``StorageError/encoding(view:type:underlying:)``, ``StorageError/key(_:view:underlying:)``,
  ///   ``StorageError/store(_:)``.
  public mutating func set<Target: UpdatableStorage>(
    _ value: Target.Value,
    forKey key: Target.Key,
    in storage: Target,
    expiry: Expiry? = nil
  ) throws(StorageError) {
    try add(StorageRequest.Write(.set(value), expiry: expiry), key, storage)
  }

  /// Adds a removal of `key` of a storage to the batch.
  ///
  /// - Throws: as ``set(_:forKey:in:expiry:)``.
  public mutating func removeValue<Target: UpdatableStorage>(
    forKey key: Target.Key,
    in storage: Target
  ) throws(StorageError) {
    try add(StorageRequest.Write(.remove), key, storage)
  }

  private mutating func add<Target: UpdatableStorage>(
    _ write: StorageRequest.Write<Target.Value>,
    _ key: Target.Key,
    _ storage: Target
  ) throws(StorageError) {
    guard let target = storage as? any ByteBacked<Target.Key, Target.Value> else {
      throw .notBytes(storage.name)
    }
    try target.add(write, key, to: &self)
  }
}
