import CEsker
import EskerLog

/// What a batch of C has collected: a batch of Swift exists only while it is written.
final class BatchObject: HandleObject {
  static var kind: esker_handle_kind { ESKER_HANDLE_BATCH }

  let store: LogStore
  let contents = Exclusive(Contents())

  init(_ store: LogStore) {
    self.store = store
  }

  struct Contents {
    private var operations: [Operation] = []
    /// Keys and values of the operations.
    private var bytes: [UInt8] = []

    private struct Operation {
      enum Action {
        case put(Expiry?)
        case remove
        /// nil: there must be no value.
        case require(SequenceNumber?)
      }

      var action: Action
      var keyspace: Keyspace
      var key: Range<Int>
      var value: Range<Int>
    }
  }
}

// Safety: the caller keeps key and value until its call returns, in which they are copied.
extension BatchObject.Contents {
  mutating func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ keyspace: Keyspace,
    _ expiry: Expiry?
  ) throws {
    try unsafe add(.put(expiry), key, value, keyspace)
  }

  mutating func remove(_ key: UnsafeRawBufferPointer, _ keyspace: Keyspace) throws {
    try unsafe add(.remove, key, UnsafeRawBufferPointer(start: nil, count: 0), keyspace)
  }

  mutating func require(_ key: UnsafeRawBufferPointer, _ version: SequenceNumber?, _ keyspace: Keyspace) throws {
    try unsafe add(.require(version), key, UnsafeRawBufferPointer(start: nil, count: 0), keyspace)
  }

  private mutating func add(
    _ action: Operation.Action,
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer,
    _ keyspace: Keyspace
  ) throws {
    // Here, rather than once the memory was used.
    let total = bytes.count + key.count + value.count
    guard total <= LogStore.maximumBatchLength else { throw StoreError.batchTooLarge(total) }
    let start = bytes.count
    unsafe bytes.append(contentsOf: key)
    unsafe bytes.append(contentsOf: value)
    let end = start + key.count
    operations.append(Operation(action: action, keyspace: keyspace, key: start..<end, value: end..<bytes.count))
  }

  /// Writes everything, and forgets it.
  mutating func commit(to store: LogStore, _ durability: Durability?) throws {
    try store.write(durability: durability) { (batch) throws(StoreError) in
      for operation in operations {
        let (key, keyspace) = (bytes[operation.key], operation.keyspace)
        switch operation.action {
        case .put(let expiry): try batch.put(bytes[operation.value], forKey: key, in: keyspace, expiry: expiry)
        case .remove: try batch.remove(key, in: keyspace)
        case .require(let version): try batch.require(key, version: version, in: keyspace)
        }
      }
    }
    operations.removeAll()
    bytes.removeAll()
  }
}
