/// Writes that take effect atomically. Exists only in the body of `write`. Thread safety: one thread at a time.
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

  /// What must hold of a key for the batch to take effect; the key is in `bytes` from `start` on.
  struct Condition {
    enum Kind {
      /// The key has this version; nil: it is absent or expired.
      case version(UInt64?)
      case present
    }

    var kind: Kind
    var start: Int
    var keyLength: Int
    var keyspace: KeyspaceCore

    /// Whether a key with this version, or without one, is as it must be.
    func holds(for version: UInt64?) -> Bool {
      switch kind {
      case .version(let expected): version == expected
      case .present: version != nil
      }
    }
  }

  let defaultKeyspace: KeyspaceCore
  var operations: [Operation] = []
  var conditions: [Condition] = []
  var bytes: [UInt8] = []

  init(defaultKeyspace: KeyspaceCore) {
    self.defaultKeyspace = defaultKeyspace
  }

  /// The keys that are looked at when it is committed: of which keyspaces, and where they are in `bytes`.
  var keys: [(keyspace: KeyspaceCore, place: Range<Int>)] {
    operations.map { ($0.keyspace, $0.start..<$0.start + $0.keyLength) }
      + conditions.map { ($0.keyspace, $0.start..<$0.start + $0.keyLength) }
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
    try checkLength(with: 1)
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

  /// Adds a condition on a key that was appended.
  mutating func add(_ kind: Condition.Kind, _ start: Int, _ keyLength: Int, _ keyspace: KeyspaceCore) throws(StoreError)
  {
    try checkLength(with: 0)
    conditions.append(Condition(kind: kind, start: start, keyLength: keyLength, keyspace: keyspace))
  }

  private func checkLength(with more: Int) throws(StoreError) {
    // 64 bytes bound what a record adds to its key and value: header, extension words and padding.
    let total = bytes.count + (operations.count + more) * 64
    guard total <= StoreLimits.batchLength else { throw .batchTooLarge(total) }
  }
}
