extension LogStorage: UpdatableStorage {
  /// Gives `body` the value under `key`, nil when there is none, and stores what it leaves; see ``UpdatableStorage``.
  ///
  /// No lock is held while `body` runs: the write is made only if the value is still the one that `body` saw.
  @discardableResult
  public func update<R>(
    forKey key: Key,
    expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try withBytes(of: key) { (keyBytes) throws(StorageError) in
      while result == nil { result = try attempt(key, keyBytes, expiry, body) }
    }
    guard let result else { throw .cancelled }
    return result
  }

  /// One attempt; nil when another writer was first.
  private func attempt<R>(
    _ key: Key,
    _ keyBytes: RawSpan,
    _ expiry: Expiry?,
    _ body: (inout Value?) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let found: Entry<Value>?
    do {
      found = try seen(keyBytes)
    } catch let error as StoreError {
      throw .store(error)
    } catch {
      throw undecodable(key, error)
    }
    var value = found?.value
    let result = try body(&value)
    var isDone = false
    if let value {
      try withBytes(ofValue: value) { (bytes) throws(StorageError) in
        isDone = try translating { () throws(StoreError) in
          try keyspace.replace(
            bytes,
            forKey: keyBytes,
            ifVersion: found?.version,
            expiry: expiry ?? found?.expiry
          ) != nil
        }
      }
    } else if let version = found?.version {
      isDone = try translating { () throws(StoreError) in
        try keyspace.remove(keyBytes, ifVersion: version)
      }
    } else {
      isDone = true
    }
    return isDone ? result : nil
  }
}
