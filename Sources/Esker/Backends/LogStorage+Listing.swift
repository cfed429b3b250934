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
    let snapshot: Snapshot
    do throws(StoreError) { snapshot = try keyspace.store.snapshot() } catch { throw .store(error) }
    for record in snapshot.entries(in: keyspace) { try body(record) }
  }

  private func decode(_ record: Snapshot.Entry) throws(StorageError) -> (Key, Entry<Value>) {
    let key = try key(of: record)
    var decoded: Result<Value, any Error>?
    do throws(StoreError) {
      try record.withBytes { (_, value) throws(StoreError) in
        do { decoded = .success(try values.decode(value)) } catch { decoded = .failure(error) }
      }
    } catch {
      throw .store(error)
    }
    switch decoded {
    case .success(let value):
      return (key, Entry(value, origin: .log, expiry: record.expiry, version: record.version))
    case .failure(let error): throw undecodable(key, error)
    case nil: throw .cancelled
    }
  }

  private func key(of record: Snapshot.Entry) throws(StorageError) -> Key {
    let bytes: [UInt8]
    do throws(StoreError) { bytes = try record.key() } catch { throw .store(error) }
    return try key(from: bytes)
  }

  func key(from bytes: [UInt8]) throws(StorageError) -> Key {
    do {
      return try keys.decode(bytes)
    } catch {
      throw .key(printable(bytes), view: name, underlying: error)
    }
  }
}

/// Bytes of a key as text for a message: as they are when they are printable UTF-8, in hexadecimal otherwise, never long.
func printable(_ bytes: [UInt8]) -> String {
  let shown = bytes.prefix(64)
  let rest = bytes.count > shown.count ? "… \(bytes.count) bytes" : ""
  if let text = String(validating: shown, as: UTF8.self), text.unicodeScalars.allSatisfy({ $0.value >= 32 }) {
    return "\"\(text)\"\(rest)"
  }
  return "0x" + shown.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + rest
}
