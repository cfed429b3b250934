extension LogStorage: OrderedStorage where Key: OrderedStorageKey {
  /// Calls `body` with each key of a range and its entry, in order; see ``OrderedStorage``.
  public func forEachEntry(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key, Entry<Value>) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachPage(of: range, order, limit: limit) { (range, limit) throws(StoreError) in
      var page: [(key: [UInt8], value: [UInt8], known: ValueMetadata)] = []
      try keyspace.forEachEntry(in: range, order: order, limit: limit) { (key, value, known) throws(StoreError) in
        page.append((key.copied(), value.copied(), known))
        return true
      }
      return page
    } key: { record in
      record.key
    } _: { (record) throws(StorageError) in
      let pair: (Key, Entry<Value>)
      do throws(StorageError) { pair = try decode(record) } catch { return try failure(error) }
      try body(pair.0, pair.1)
    }
  }

  /// Calls `body` with each key of a range, in order; see ``OrderedStorage``.
  public func forEachKey(
    in range: StorageRequest.Range<Key>,
    order: KeyRange.Direction,
    limit: Int,
    onFailure failure: (StorageError) throws(StorageError) -> Void,
    _ body: (Key) throws(StorageError) -> Void
  ) throws(StorageError) {
    try forEachPage(of: range, order, limit: limit) { (range, limit) throws(StoreError) in
      try keyspace.keys(in: range, order: order, limit: limit)
    } key: { bytes in
      bytes
    } _: { (bytes) throws(StorageError) in
      let key: Key
      do throws(StorageError) { key = try self.key(from: bytes) } catch { return try failure(error) }
      try body(key)
    }
  }

  private func decode(
    _ record: (key: [UInt8], value: [UInt8], known: ValueMetadata)
  ) throws(StorageError) -> (Key, Entry<Value>) {
    let key = try key(from: record.key)
    let value = try value(from: record.value, record.key, key)
    return (key, Entry(value, origin: .log, expiry: record.known.expiry, version: record.known.version))
  }

  /// Reads a range some at a time, and calls `body` with each when nothing is held.
  private func forEachPage<Record>(
    of range: StorageRequest.Range<Key>,
    _ order: KeyRange.Direction,
    limit: Int,
    _ read: (KeyRange, Int) throws(StoreError) -> [Record],
    key: (Record) -> [UInt8],
    _ body: (Record) throws(StorageError) -> Void
  ) throws(StorageError) {
    var rest: KeyRange
    do { rest = try range.bytes(by: keys) } catch { throw .key("an end of a range", view: name, underlying: error) }
    var (left, length) = (limit, 32)
    while left > 0 {
      let most = min(left, length)
      let page = try translating { () throws(StoreError) in try read(rest, most) }
      for record in page { try body(record) }
      guard page.count == most, let last = page.last.map(key) else { return }
      rest = order == .ascending ? rest.after(last) : rest.upTo(last)
      left -= most
      length = 256
    }
  }
}
