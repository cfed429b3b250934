extension LogStorage: EnumerableStorage {
  /// Calls `body` with each key and entry of the keyspace, as they were at one instant; writes go on meanwhile.
  ///
  /// - Complexity: O(entries of the keyspace) for a named one of up to a few hundred keys, else O(entries of the store): keyspaces
  ///   share the log.
  public func forEachEntry(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachRecord { (record) throws(StorageError) in
      let pair: (Key, Entry<Value>)
      do throws(StorageError) {
        pair = try decode(record)
      } catch {
        return try failure(error)
      }
      try body(pair.0, pair.1)
    }
  }

  /// Calls `body` with each key of the keyspace, as they were at one instant; writes go on meanwhile.
  ///
  /// - Complexity: O(entries of the keyspace) for a named one of up to a few hundred keys, else O(entries of the store): keyspaces
  ///   share the log.
  public func forEachKey(
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachRecord { (record) throws(StorageError) in
      let key: Key
      do throws(StorageError) { key = try self.key(of: record) } catch { return try failure(error) }
      try body(key)
    }
  }

  /// The number of entries of the keyspace, without expired ones.
  ///
  /// - Complexity: O(1) as long as no entry can have expired; see `ByteStore.count()`.
  public func count() throws(StorageError) -> Int {
    try translating { () throws(StoreError) in try keyspace.count() }
  }

  private func forEachRecord(_ body: (Snapshot.Entry) throws(StorageError) -> Void) throws(StorageError) {
    let snapshot = try translating { () throws(StoreError) in try keyspace.store.snapshot() }
    for record in snapshot.entries(in: keyspace) { try body(record) }
  }

  private func decode(_ record: borrowing Snapshot.Entry) throws(StorageError) -> (Key, Entry<Value>) {
    let key = try key(of: record)
    return (key, try entry(of: record, key))
  }

  private func entry(of record: borrowing Snapshot.Entry, _ key: Key) throws(StorageError) -> Entry<Value> {
    var decoded: Result<Value, any Error>?
    do throws(StoreError) {
      try record.withBytes { (key, value) throws(StoreError) in
        do { decoded = .success(try self.decoded(value, key)) } catch { decoded = .failure(error) }
      }
    } catch {
      throw .store(error)
    }
    switch decoded {
    case .success(let value): return Entry(value, origin: .log, expiry: record.expiry, version: record.version)
    case .failure(let error): throw undecodable(key, error)
    case nil: throw .cancelled
    }
  }

  private func key(of record: borrowing Snapshot.Entry) throws(StorageError) -> Key {
    try key(from: try keyBytes(of: record))
  }

  private func keyBytes(of record: borrowing Snapshot.Entry) throws(StorageError) -> [UInt8] {
    do throws(StoreError) { return try record.key() } catch { throw .store(error) }
  }

  func key(from bytes: [UInt8]) throws(StorageError) -> Key {
    do {
      return try keys.decode(bytes)
    } catch {
      throw .key(printable(bytes), view: name, underlying: error)
    }
  }
}

extension LogStorage: CheckableStorage {
  func forEachFinding(
    progress: (Double) throws(StorageError) -> Void,
    _ body: (Finding<Key, Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    let snapshot = try translating { () throws(StoreError) in try keyspace.store.snapshot() }
    try snapshot.forEachEntry(in: keyspace, progress: progress) { (record) throws(StorageError) in
      try body(finding(record))
    }
  }

  private func finding(_ record: borrowing Snapshot.Entry) -> Finding<Key, Value> {
    var bytes: [UInt8]?
    var key: Key?
    do throws(StorageError) {
      let found = try keyBytes(of: record)
      bytes = found
      let known = try self.key(from: found)
      key = known
      return Finding(key: known, bytes: found, outcome: .success(try entry(of: record, known)))
    } catch {
      return Finding(key: key, bytes: bytes, outcome: .failure(error))
    }
  }
}
