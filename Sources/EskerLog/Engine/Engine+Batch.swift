extension Engine {
  /// Logs a batch, and sees to its durability.
  func commit(_ batch: consuming WriteBatch, durability: Durability?) throws(StoreError) {
    defer { env.deliverEvents() }
    let sequence = try commit(batch)
    try settle(sequence, durability)
  }

  /// Logs a batch; when there is no room for it in a store of limited capacity, makes some and does it again.
  ///
  /// - Returns: the number of the batch's last record; 0 for an empty batch.
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
}
