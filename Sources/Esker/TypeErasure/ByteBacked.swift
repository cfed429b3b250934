/// A storage that keeps bytes: there can be other views of them, and a batch can write them.
protocol ByteBacked<Key, Value>: StorageProtocol {
  /// Another typed view of the same bytes.
  func viewed<New: Sendable>(as transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New>

  /// Adds a write, to be made with the others of the batch.
  func add(_ write: StorageRequest.Write<Value>, _ key: Key, to batch: inout WriteBatch) throws(StorageError)

  /// Reads an entry in a transaction; nil if there is none.
  func entry(forKey key: Key, in transaction: inout LogStore.Transaction) throws(StorageError) -> Entry<Value>?
}

extension StorageError {
  /// The error for a storage that does not keep bytes in the store.
  static func notBytes(_ view: String) -> StorageError {
    .unsupported(operation: "show its values as another type, or be used in a batch or a transaction", view: view)
  }
}

extension LogStorage: ByteBacked {
  func viewed<New: Sendable>(as transformer: Transformer<New>) throws(StorageError) -> Storage<Key, New> {
    Storage<Key, New>(transform(to: transformer))
  }

  func add(_ write: StorageRequest.Write<Value>, _ key: Key, to batch: inout WriteBatch) throws(StorageError) {
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      guard case .set(let value) = write.action else {
        do throws(StoreError) { try batch.remove(keyBytes, in: keyspace) } catch { throw .store(error) }
        return
      }
      try withBytes(ofValue: value, keyBytes) { (bytes) throws(StorageError) in
        do throws(StoreError) {
          try batch.put(bytes, forKey: keyBytes, in: keyspace, expiry: write.expiry)
        } catch {
          throw .store(error)
        }
      }
    }
  }

  func entry(forKey key: Key, in transaction: inout LogStore.Transaction) throws(StorageError) -> Entry<Value>? {
    var entry: Entry<Value>?
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      let found: LogStore.Transaction.Entry?
      do throws(StoreError) { found = try transaction.entry(forKey: keyBytes, in: keyspace) } catch {
        throw .store(error)
      }
      guard let found else { return }
      let value = try value(from: found.value, keyBytes.copied(), key)
      entry = Entry(value, origin: .log, expiry: found.expiry, version: found.version)
    }
    return entry
  }
}
