// Writes: make room in a store with a capacity, call the writer, and notify the change feeds.
//
// Safety: the caller keeps key and value until the call returns.

extension Engine {
  /// Stores a value; returns its sequence number, or 0 if the condition does not hold.
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    expiry: Int64,
    _ condition: WriteCondition,
    isSynced: Bool
  ) throws(StoreError) -> UInt64 {
    let sequence = try makingRoom { () throws(StoreError) in
      try unsafe writer.put(value, key, core, expiry: expiry, condition, isSynced: isSynced)
    }
    feeds.tell()
    return sequence
  }

  func remove(
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ condition: WriteCondition
  ) throws(StoreError) -> Removal {
    let removal = try makingRoom { () throws(StoreError) in try unsafe writer.remove(key, core, condition) }
    feeds.tell()
    return removal
  }

  /// Logs a batch, and gives it its durability.
  func commit(_ batch: consuming WriteBatch, durability: Durability?) throws(StoreError) {
    defer { env.deliverEvents() }
    let sequence = try commit(batch)
    try settle(sequence, durability)
  }

  /// Logs a batch; if a store with a capacity has no room for it, makes room and retries.
  ///
  /// - Returns: the sequence number of the batch's last record; 0 for an empty batch.
  func commit(_ batch: borrowing WriteBatch) throws(StoreError) -> UInt64 {
    for operation in batch.operations { try operation.keyspace.letAheadWrite() }
    var isAgain = false
    while true {
      do throws(StoreError) {
        let sequence = try writer.commit(batch)
        feeds.tell()
        return sequence
      } catch {
        guard env.options.capacity != nil, let needed = error.bytesLacking else { throw error }
        try merger.makeRoom(for: needed, isVolumeFull: isAgain, orThrow: error)
        isAgain = true
      }
    }
  }

  /// Runs a write; if a store with a capacity has no room for it, makes room and retries.
  @inline(__always)
  func makingRoom<R>(_ write: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try write() } catch { return try makeRoomAndWrite(after: error, write) }
  }

  @inline(never)
  private func makeRoomAndWrite<R>(
    after first: StoreError,
    _ write: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var failure = first
    var isVolumeFull = false
    while true {
      guard env.options.capacity != nil, let needed = failure.bytesLacking else {
        env.deliverEvents()
        throw failure
      }
      try merger.makeRoom(for: needed, isVolumeFull: isVolumeFull, orThrow: failure)
      isVolumeFull = true
      do throws(StoreError) { return try write() } catch { failure = error }
    }
  }
}
