/// Writes that take effect together. Exists only inside the body of `write` of ``LogStore``.
public struct WriteBatch: ~Copyable {
  /// One operation; its bytes lie in `bytes` from `start` on, key first.
  struct Operation {
    var isPut: Bool
    var start: Int
    var keyLength: Int
    var valueLength: Int
    var expiry: Int64
    var keyspace: KeyspaceCore
  }

  let defaultKeyspace: KeyspaceCore
  var operations: [Operation] = []
  var bytes: [UInt8] = []

  init(defaultKeyspace: KeyspaceCore) {
    self.defaultKeyspace = defaultKeyspace
  }

  /// How many operations the batch has so far.
  public var count: Int { operations.count }

  /// Stores `value` under `key` when the batch is committed; later operations on the same key win.
  ///
  /// - Throws: ``StoreError/keyTooLong(_:)``, ``StoreError/valueTooLong(_:)``, ``StoreError/batchTooLarge(_:)``.
  public mutating func put<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
    _ value: borrowing V,
    forKey key: borrowing K,
    in keyspace: Keyspace? = nil,
    expiry: Expiry? = nil
  ) throws(StoreError) {
    let target = keyspace?.core ?? defaultKeyspace
    let start = bytes.count
    do throws(StoreError) {
      let keyLength = try append(key, limit: LogStore.maximumKeyLength) { .keyTooLong($0) }
      let valueLength = try append(value, limit: LogStore.maximumValueLength) { .valueTooLong($0) }
      try add(true, start, keyLength, valueLength, target.engine.resolve(expiry, target), target)
    } catch {
      bytes.removeSubrange(start...)
      throw error
    }
  }

  /// Removes `key` when the batch is committed.
  ///
  /// - Throws: ``StoreError/keyTooLong(_:)``, ``StoreError/batchTooLarge(_:)``.
  public mutating func remove<K: ByteSource & ~Copyable & ~Escapable>(
    _ key: borrowing K,
    in keyspace: Keyspace? = nil
  ) throws(StoreError) {
    let start = bytes.count
    do throws(StoreError) {
      let keyLength = try append(key, limit: LogStore.maximumKeyLength) { .keyTooLong($0) }
      try add(false, start, keyLength, 0, .max, keyspace?.core ?? defaultKeyspace)
    } catch {
      bytes.removeSubrange(start...)
      throw error
    }
  }

  private mutating func append<B: ByteSource & ~Copyable & ~Escapable>(
    _ source: borrowing B,
    limit: Int,
    otherwise error: (Int) -> StoreError
  ) throws(StoreError) -> Int {
    let start = bytes.count
    let length = source.withBytes { (span) in span.byteCount }
    guard length <= limit else { throw error(length) }
    source.withBytes { (span) in unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
    return bytes.count - start
  }

  private mutating func add(
    _ isPut: Bool,
    _ start: Int,
    _ keyLength: Int,
    _ valueLength: Int,
    _ expiry: Int64,
    _ keyspace: KeyspaceCore
  ) throws(StoreError) {
    // 64 bytes bound what a record adds to its key and value: header, extension words and padding.
    let total = bytes.count + (operations.count + 1) * 64
    guard total <= LogStore.maximumBatchLength else { throw .batchTooLarge(total) }
    operations.append(
      Operation(
        isPut: isPut,
        start: start,
        keyLength: keyLength,
        valueLength: valueLength,
        expiry: expiry,
        keyspace: keyspace
      )
    )
  }
}
