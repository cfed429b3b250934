internal import EskerFormat
internal import EskerPlatform

/// Writes that take effect atomically. Exists only in the body of `write`; the interface for C keeps one between calls. Thread safety: one
/// thread at a time.
public struct WriteBatch: ~Copyable {
  /// One operation; its key, then its value, are in `bytes` from `start` on. Without references: counting them takes longer than the rest.
  struct Operation {
    var isPut: Bool
    var start: Int
    var keyLength: Int
    var valueLength: Int
    /// Of key and value, taken while they are at hand: a source must not change while it is lent, as with a single put.
    var checksum: UInt32
    var expiry: Int64
    /// Where its keyspace is in `keyspaces`.
    var keyspace: Int
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
  /// The keyspaces of the operations, in their order; one stands here again if others come in between.
  private(set) var keyspaces: [KeyspaceCore] = []
  var operations: [Operation]
  private(set) var conditions: [Condition] = []
  private(set) var bytes: [UInt8]

  init(defaultKeyspace: KeyspaceCore) {
    self.defaultKeyspace = defaultKeyspace
    (operations, bytes) = defaultKeyspace.engine.batchMemory.take()
  }

  deinit { defaultKeyspace.engine.batchMemory.giveBack(operations, bytes) }

  /// The keys that are looked at when it is committed: of which keyspaces, and where they are in `bytes`.
  var keys: [(keyspace: KeyspaceCore, place: Range<Int>)] {
    operations.map { (keyspaces[$0.keyspace], $0.start..<$0.start + $0.keyLength) }
      + conditions.map { ($0.keyspace, $0.start..<$0.start + $0.keyLength) }
  }

  /// Forgets everything, and keeps the memory for as much again.
  package mutating func removeAll() {
    keyspaces.removeAll(keepingCapacity: true)
    operations.removeAll(keepingCapacity: true)
    conditions.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  /// The number of operations so far.
  public var count: Int { operations.count }

  /// Adds an operation, with a copy of its key and value.
  ///
  /// Safety: the caller keeps both during the call.
  mutating func add(
    isPut: Bool,
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ expiry: Int64,
    _ keyspace: KeyspaceCore
  ) throws(StoreError) {
    guard key.count <= StoreLimits.keyLength else { throw .keyTooLong(key.count) }
    guard value.count <= StoreLimits.valueLength else { throw .valueTooLong(value.count) }
    try checkLength(with: key.count + value.count, operations: 1)
    if keyspaces.last !== keyspace { keyspaces.append(keyspace) }
    let operation = unsafe Operation(
      isPut: isPut,
      start: bytes.count,
      keyLength: key.count,
      valueLength: value.count,
      checksum: RecordEncoder.bodyChecksum(key: key, value: value),
      expiry: expiry,
      keyspace: keyspaces.count - 1
    )
    unsafe bytes.append(contentsOf: key)
    unsafe bytes.append(contentsOf: value)
    operations.append(operation)
  }

  /// Adds a condition on a key.
  ///
  /// Safety: the caller keeps it during the call.
  mutating func add(_ kind: Condition.Kind, _ key: UnsafeRawBufferPointer, _ keyspace: KeyspaceCore) throws(StoreError)
  {
    guard key.count <= StoreLimits.keyLength else { throw .keyTooLong(key.count) }
    try checkLength(with: key.count, operations: 0)
    conditions.append(Condition(kind: kind, start: bytes.count, keyLength: key.count, keyspace: keyspace))
    unsafe bytes.append(contentsOf: key)
  }

  private func checkLength(with more: Int, operations count: Int) throws(StoreError) {
    // 64 bytes bound what a record adds to its key and value: header, extension words and padding.
    let total = bytes.count + more + (operations.count + count) * 64
    guard total <= StoreLimits.batchLength else { throw .batchTooLarge(total) }
  }
}

/// The memory of the last batch of a store, for the next one, which would otherwise get it page by page from the system, and grow it often.
///
/// Thread safety: any thread. Of batches that are made at the same time, one finds it.
struct BatchMemory: ~Copyable {
  /// The most bytes of keys and values, and of operations, for which it is kept.
  private static let limit = 1 << 20
  private let kept = Guarded<(operations: [WriteBatch.Operation], bytes: [UInt8])?>(nil, .leaf)

  func take() -> (operations: [WriteBatch.Operation], bytes: [UInt8]) {
    var memory = kept.withLock { $0.take() } ?? (operations: [], bytes: [])
    memory.operations.removeAll(keepingCapacity: true)
    memory.bytes.removeAll(keepingCapacity: true)
    return memory
  }

  func giveBack(_ operations: [WriteBatch.Operation], _ bytes: [UInt8]) {
    guard bytes.capacity <= Self.limit, operations.capacity * MemoryLayout<WriteBatch.Operation>.stride <= Self.limit
    else { return }
    kept.withLock { $0 = (operations, bytes) }
  }
}
