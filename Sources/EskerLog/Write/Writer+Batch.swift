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
    let checksums = bodyChecksums(batch)
    return try writing { (isAlone) throws(StoreError) in try commit(batch, checksums, isAlone) }
  }

  private func commit(
    _ batch: borrowing WriteBatch,
    _ checksums: [UInt32],
    _ isAlone: Bool
  ) throws(StoreError) -> WriteAttempt<UInt64> {
    try withLock { (state) throws(StoreError) -> WriteAttempt<UInt64> in
      try checkConditions(of: batch)
      var total = 0
      for operation in batch.operations {
        try operation.keyspace.checkPresent()
        total += header(operation, hash: 0, isLast: true).size
      }
      try checkBudgets(of: batch)
      guard try hasRoom(for: total, isAlone: isAlone, &state) else { return .lacksSpace(total) }
      try keydir.reserve(batch.operations.count)
      var addresses: [(hash: UInt64, address: UInt64, size: Int)] = []
      addresses.reserveCapacity(batch.operations.count)
      let last = batch.operations.count - 1
      var isWatched = false
      // Safety: keys and values lie in the batch's bytes, which are lent until both loops have ended and do not change. There is
      // room for all records together, and each one is appended once.
      try unsafe batch.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
        isWatched = unsafe notifyWatchers(of: batch, bytes) { core, key in unsafe core.notifyWillWrite(key) }
        defer {
          if isWatched {
            _ = unsafe notifyWatchers(of: batch, bytes) { core, key in unsafe core.notifyDidWrite(key, nil) }
          }
        }
        for (position, operation) in batch.operations.enumerated() {
          let (key, value) = unsafe Self.parts(operation, of: bytes)
          let hash = unsafe operation.keyspace.incarnation.pointee.hash.hash(key)
          var header = header(operation, hash: hash, isLast: position == last)
          let address = try unsafe append(&header, key, value, checksums[position], false, isOfBatch: true, &state)
          addresses.append((hash, address, header.size))
        }
        // Nothing throws from here on, until the batch has ended.
        if isWatched { notifyListeners(of: batch) { $0.notifyBeginOfBatch(state.nextSequence &- 1) } }
        for (position, operation) in batch.operations.enumerated() {
          let (key, value) = unsafe Self.parts(operation, of: bytes)
          let (hash, address, size) = addresses[position]
          let core = operation.keyspace
          keydir.grow()
          // The batch is in the log: the next opening will index what cannot be indexed now.
          var probe = keydir.writeProbe(hash)
          guard let existing = try? unsafe keydir.findForWrite(hash, key, core.incarnation.pointee.tag, &probe) else {
            keydir.noteIncomplete()
            continue
          }
          if operation.isPut {
            keydir.upsert(
              hash,
              to: address,
              size,
              unpacked: size,
              expiring: operation.expiry,
              replacing: existing,
              at: probe,
              core,
              state.keys
            )
            if core.isWatched.load(ordering: .relaxed) { unsafe core.notifyPut(key, value, replacing: existing) }
          } else if existing.address != 0 {
            keydir.removeEntry(hash, existing, core, state.keys)
            if core.isWatched.load(ordering: .relaxed) { unsafe core.notifyRemoval(key, of: existing) }
          }
        }
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
    for operation in batch.operations where operation.keyspace.isWatched.load(ordering: .relaxed) {
      isWatched = true
      unsafe notify(operation.keyspace, Self.parts(operation, of: bytes).key)
    }
    return isWatched
  }

  /// Calls `notify` with each watched keyspace that the batch writes to, perhaps more than once.
  private func notifyListeners(of batch: borrowing WriteBatch, _ notify: (KeyspaceCore) -> Void) {
    var last: KeyspaceCore?
    for operation in batch.operations where operation.keyspace.isWatched.load(ordering: .relaxed) {
      if operation.keyspace === last { continue }
      last = operation.keyspace
      notify(operation.keyspace)
    }
  }

  func header(_ operation: WriteBatch.Operation, hash: UInt64, isLast: Bool) -> RecordHeader {
    RecordHeader(
      sequence: 0,
      kind: operation.isPut ? .put : .tombstone,
      keyHash: hash,
      keyLength: operation.keyLength,
      valueLength: operation.valueLength,
      expiry: operation.expiry,
      keyspace: operation.keyspace.tag,
      batchContinues: !isLast
    )
  }

  private func bodyChecksums(_ batch: borrowing WriteBatch) -> [UInt32] {
    // Safety: keys and values are used only while the batch lends its bytes.
    unsafe batch.bytes.withUnsafeBytes { bytes in
      batch.operations.map { operation in
        let (key, value) = unsafe Self.parts(operation, of: bytes)
        return unsafe RecordEncoder.bodyChecksum(key: key, value: value)
      }
    }
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
