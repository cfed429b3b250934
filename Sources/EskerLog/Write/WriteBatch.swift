/// Writes that take effect atomically. Exists only in the body of `write` of ``LogStore``. Thread safety: one thread at a time.
public struct WriteBatch: ~Copyable {
  /// One operation; its key, then its value, are in `bytes` from `start` on.
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

  /// The number of operations so far.
  public var count: Int { operations.count }

  mutating func append<B: ByteSource & ~Copyable & ~Escapable>(
    _ source: borrowing B,
    limit: Int,
    otherwise error: (Int) -> StoreError
  ) throws(StoreError) -> Int {
    let start = bytes.count
    let length = source.withBytes { (span) in
      // Safety: the pointer is used only while `source` lends its bytes.
      if span.byteCount <= limit { unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
      return span.byteCount
    }
    guard length <= limit else { throw error(length) }
    return bytes.count - start
  }

  mutating func add(
    _ isPut: Bool,
    _ start: Int,
    _ keyLength: Int,
    _ valueLength: Int,
    _ expiry: Int64,
    _ keyspace: KeyspaceCore
  ) throws(StoreError) {
    // 64 bytes bound what a record adds to its key and value: header, extension words and padding.
    let total = bytes.count + (operations.count + 1) * 64
    guard total <= StoreLimits.batchLength else { throw .batchTooLarge(total) }
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
