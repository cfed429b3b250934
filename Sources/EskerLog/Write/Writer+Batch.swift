internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Writer {
  /// Logs a batch contiguously, then applies it to the index. Its last record, published last, commits it.
  ///
  /// - Returns: the sequence number of the batch's last record; 0 for an empty batch.
  func commit(_ batch: borrowing WriteBatch) throws(StoreError) -> UInt64 {
    guard !batch.operations.isEmpty else {
      try env.checkWritable()
      if !batch.conditions.isEmpty { try withLock { (_) throws(StoreError) in try checkConditions(of: batch) } }
      return 0
    }
    return try writing { (isAlone) throws(StoreError) in try commit(batch, isAlone) }
  }

  private func commit(_ batch: borrowing WriteBatch, _ isAlone: Bool) throws(StoreError) -> WriteAttempt<UInt64> {
    try withLock { (state) throws(StoreError) -> WriteAttempt<UInt64> in
      try checkConditions(of: batch)
      for core in batch.keyspaces { try core.checkPresent() }
      var total = 0
      for operation in batch.operations {
        total += header(operation, of: batch.keyspaces[operation.keyspace].tag, hash: 0, isLast: true).size
      }
      try checkBudgets(of: batch)
      guard try hasRoom(for: total, isAlone: isAlone, &state) else { return .lacksSpace(total) }
      try keydir.reserve(batch.operations.count)
      var isWatched = false
      // Safety: the batch's bytes are lent until all records are entered, and do not change.
      try unsafe batch.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
        isWatched = unsafe notifyWatchers(of: batch, bytes) { core, key in unsafe core.notifyWillWrite(key) }
        defer {
          if isWatched {
            _ = unsafe notifyWatchers(of: batch, bytes) { core, key in unsafe core.notifyDidWrite(key, nil) }
          }
        }
        let records = try unsafe append(batch, bytes, &state)
        // Nothing throws from here on, until the batch has ended.
        if isWatched { notifyListeners(of: batch) { $0.notifyBeginOfBatch(state.nextSequence &- 1) } }
        unsafe enter(records, of: batch, bytes, isWatched: isWatched, state.keys)
      }
      // Its records stay together.
      state.freeze()
      let sequence = state.nextSequence &- 1
      commits.publish(sequence)
      if isWatched { notifyListeners(of: batch) { $0.notifyEndOfBatch() } }
      try checkTail(state)
      return .done(sequence)
    }
  }

  /// Where a record of a batch was appended.
  private struct Appended {
    var hash: UInt64
    var address: UInt64
    var size: Int
  }

  /// Appends all records of a batch, for which there is room.
  ///
  /// Safety: keys and values lie in the bytes of the batch, which the caller lends. There is room for all records together, and each one
  /// is appended once. The incarnation of a keyspace stays allocated as long as its core, which the batch holds.
  private func append(
    _ batch: borrowing WriteBatch,
    _ bytes: UnsafeRawBufferPointer,
    _ state: inout WriterState
  ) throws(StoreError) -> [Appended] {
    var records: [Appended] = []
    records.reserveCapacity(batch.operations.count)
    let last = batch.operations.count - 1
    var keyspace = 0
    var core = batch.keyspaces[0]
    for (position, operation) in batch.operations.enumerated() {
      if operation.keyspace != keyspace {
        keyspace = operation.keyspace
        core = batch.keyspaces[keyspace]
      }
      let (key, value) = unsafe Self.parts(operation, of: bytes)
      let incarnation = unsafe core.incarnation
      let hash = unsafe incarnation.pointee.hash.hash(key)
      var header = unsafe header(operation, of: incarnation.pointee.tag, hash: hash, isLast: position == last)
      let address = try unsafe append(&header, key, value, operation.checksum, false, isOfBatch: true, &state)
      records.append(Appended(hash: hash, address: address, size: header.size))
    }
    return records
  }

  /// Has the index lead to the records of a batch. Their buckets, and the records that they replace, arrive while others are entered.
  ///
  /// Safety: keys and values lie in the bytes of the batch, which the caller lends; cores and incarnations as above.
  private func enter(
    _ records: [Appended],
    of batch: borrowing WriteBatch,
    _ bytes: UnsafeRawBufferPointer,
    isWatched: Bool,
    _ keys: borrowing KeydirState
  ) {
    for record in records.prefix(Self.bucketsAhead) { keydir.reader.prefetch(record.hash) }
    var keyspace = 0
    var core = batch.keyspaces[0]
    for position in records.indices {
      if position + Self.bucketsAhead < records.count {
        keydir.reader.prefetch(records[position + Self.bucketsAhead].hash)
      }
      if position + Self.recordsAhead < records.count {
        _ = keydir.prefetchRecord(records[position + Self.recordsAhead].hash)
      }
      let (operation, record) = (batch.operations[position], records[position])
      if operation.keyspace != keyspace {
        keyspace = operation.keyspace
        core = batch.keyspaces[keyspace]
      }
      let (key, value) = unsafe Self.parts(operation, of: bytes)
      keydir.grow()
      // The batch is in the log: the next opening will index what cannot be indexed now.
      var probe = keydir.writeProbe(record.hash)
      guard let existing = try? unsafe keydir.findForWrite(record.hash, key, core.incarnation.pointee.tag, &probe)
      else {
        keydir.noteIncomplete()
        continue
      }
      if operation.isPut {
        keydir.upsert(
          record.hash,
          to: record.address,
          record.size,
          unpacked: record.size,
          expiring: operation.expiry,
          replacing: existing,
          at: probe,
          core,
          keys
        )
        if isWatched, core.isWatched.load(ordering: .relaxed) { unsafe core.notifyPut(key, value, replacing: existing) }
      } else if existing.address != 0 {
        keydir.removeEntry(record.hash, existing, core, keys)
        if isWatched, core.isWatched.load(ordering: .relaxed) { unsafe core.notifyRemoval(key, of: existing) }
      }
    }
  }

  /// How many operations ahead a bucket, and then the record to which it leads, are fetched from memory.
  private static let bucketsAhead = 16
  private static let recordsAhead = 8

  /// The number of the last write, if every key still is as the batch requires.
  ///
  /// - Parameter instant: That of an earlier call: if nothing was written since, nothing is looked up; nil: anything may have gone.
  func newestInstant(after instant: UInt64?, of batch: borrowing WriteBatch) throws(StoreError) -> UInt64 {
    try withLock { (_) throws(StoreError) in
      // While others write, the index may be ahead of what is published.
      try env.checkWritable()
      let published = commits.publishedSequence
      if published != instant { try checkConditions(of: batch) }
      return published
    }
  }

  /// Throws unless every key is as the batch requires. Called under the writer's lock.
  private func checkConditions(of batch: borrowing WriteBatch) throws(StoreError) {
    if batch.conditions.isEmpty { return }
    // Again, now that no close can begin: it waits for this lock before it gives segments up.
    try env.checkWritable()
    // All at one moment.
    let now = env.time.now
    // Safety: the keys lie in the batch's bytes, which are lent until the loop has ended and do not change.
    try unsafe batch.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for condition in batch.conditions {
        let core = condition.keyspace
        try core.checkPresent()
        let key = unsafe UnsafeRawBufferPointer(
          rebasing: bytes[condition.start..<condition.start + condition.keyLength]
        )
        let incarnation = unsafe core.incarnation
        let hash = unsafe incarnation.pointee.hash.hash(key)
        var probe = keydir.writeProbe(hash)
        let existing = try unsafe keydir.findForWrite(hash, key, incarnation.pointee.tag, &probe)
        if let damage = existing.damage {
          throw unsafe keydir.damage(at: existing.address, damage, key: [UInt8](key))
        }
        guard condition.holds(for: existing.visibleVersion(at: now)) else {
          throw unsafe .conflict(keyspace: core.name, key: [UInt8](key))
        }
      }
    }
  }

  /// Calls `notify` with each key of a watched keyspace; whether there are any.
  private func notifyWatchers(
    of batch: borrowing WriteBatch,
    _ bytes: UnsafeRawBufferPointer,
    _ notify: (KeyspaceCore, UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    var isWatched = false
    // Safety: the caller lends the bytes, and a key is used only during the call.
    guard batch.keyspaces.contains(where: { $0.isWatched.load(ordering: .relaxed) }) else { return false }
    for operation in batch.operations {
      let core = batch.keyspaces[operation.keyspace]
      guard core.isWatched.load(ordering: .relaxed) else { continue }
      isWatched = true
      unsafe notify(core, Self.parts(operation, of: bytes).key)
    }
    return isWatched
  }

  /// Calls `notify` with each watched keyspace that the batch writes to, perhaps more than once.
  private func notifyListeners(of batch: borrowing WriteBatch, _ notify: (KeyspaceCore) -> Void) {
    var last: KeyspaceCore?
    for core in batch.keyspaces where core.isWatched.load(ordering: .relaxed) {
      if core === last { continue }
      last = core
      notify(core)
    }
  }

  func header(_ operation: WriteBatch.Operation, of tag: KeyspaceTag, hash: UInt64, isLast: Bool) -> RecordHeader {
    RecordHeader(
      sequence: 0,
      kind: operation.isPut ? .put : .tombstone,
      keyHash: hash,
      keyLength: operation.keyLength,
      valueLength: operation.valueLength,
      expiry: operation.expiry,
      keyspace: tag,
      batchContinues: !isLast
    )
  }

  private static func parts(
    _ operation: WriteBatch.Operation,
    of bytes: UnsafeRawBufferPointer
  ) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    // Safety: `WriteBatch` appended key and value there, and removes them only together with their operation.
    let valueStart = operation.start + operation.keyLength
    return unsafe (
      UnsafeRawBufferPointer(rebasing: bytes[operation.start..<valueStart]),
      UnsafeRawBufferPointer(rebasing: bytes[valueStart..<valueStart + operation.valueLength])
    )
  }
}
