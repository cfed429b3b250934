internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

// Safety: the caller keeps key and value during the write. The incarnation of a keyspace stays allocated as long as its core, which the
// caller holds. Records are stored as `append` says, and found as `Keydir.findForWrite` says, all under the writer's lock.
extension Writer {
  /// Appends a record with `value`, and makes it the newest of its key. Returns its sequence number, or 0 if the condition does
  /// not hold.
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    expiry: Int64,
    _ condition: WriteCondition,
    isSynced: Bool
  ) throws(StoreError) -> UInt64 {
    guard key.count <= StoreLimits.keyLength else { throw .keyTooLong(key.count) }
    guard value.count <= StoreLimits.valueLength else { throw .valueTooLong(value.count) }
    switch try unsafe put(value, key, core, expiry, condition, isSynced, isAlone: false) {
    case .done(let sequence): return sequence
    case .lacksSpace(let size): return try unsafe putWithRoom(for: size, value, key, core, expiry, condition, isSynced)
    }
  }

  // A separate function, because a closure retains what it captures even if it is not called.
  @inline(never)
  private func putWithRoom(
    for size: Int,
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ expiry: Int64,
    _ condition: WriteCondition,
    _ isSynced: Bool
  ) throws(StoreError) -> UInt64 {
    try writeWithRoom(for: size, .write) { (isAlone) throws(StoreError) in
      try unsafe put(value, key, core, expiry, condition, isSynced, isAlone: isAlone)
    }
  }

  @inline(__always)
  private func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ expiry: Int64,
    _ condition: WriteCondition,
    _ isSynced: Bool,
    isAlone: Bool
  ) throws(StoreError) -> WriteAttempt<UInt64> {
    // Do everything that does not depend on the place in the log before taking the lock.
    var incarnation = unsafe core.incarnation
    var hash = unsafe incarnation.pointee.hash.hash(key)
    keydir.reader.prefetch(hash)
    let bodyChecksum = unsafe RecordEncoder.bodyChecksum(key: key, value: value)
    return try withLock { (state) throws(StoreError) -> WriteAttempt<UInt64> in
      if unsafe incarnation != core.incarnation {
        // The keyspace was emptied meanwhile; this write comes after that.
        unsafe incarnation = core.incarnation
        unsafe hash = incarnation.pointee.hash.hash(key)
      }
      guard unsafe !incarnation.pointee.tag.isRemoved else { throw .keyspaceRemoved(core.name) }
      var header = unsafe RecordHeader(
        sequence: 0,
        kind: .put,
        keyHash: hash,
        keyLength: key.count,
        valueLength: value.count,
        expiry: expiry,
        keyspace: incarnation.pointee.tag
      )
      if core.isLimited { try unsafe checkBudget(of: core, putting: header.size, hash, key, condition) }
      guard try hasRoom(for: header.size, isAlone: isAlone, &state) else { return .lacksSpace(header.size) }
      try keydir.reserve()
      let isWatched = core.isWatched.load(ordering: .relaxed)
      var (isNotified, written): (Bool, UInt64?) = (false, nil)
      defer { if isNotified { unsafe core.notifyDidWrite(key, written) } }
      let address: UInt64
      let existing: CurrentRecord
      var probe: WriteProbe
      if case .always = condition, !keydir.needsMigration {
        isNotified = isWatched
        if isNotified { unsafe core.notifyWillWrite(key) }
        // The record first: the bucket arrives while it is copied. Nothing can reject the write from here on.
        address = try unsafe append(&header, key, value, bodyChecksum, isSynced, &state)
        probe = keydir.writeProbe(hash)
        existing = try unsafe keydir.findForWrite(hash, key, incarnation.pointee.tag, &probe)
      } else {
        probe = keydir.writeProbe(hash)
        existing = try unsafe keydir.findForWrite(hash, key, incarnation.pointee.tag, &probe)
        guard try holds(condition, existing) else { return .done(0) }
        isNotified = isWatched
        if isNotified { unsafe core.notifyWillWrite(key) }
        address = try unsafe append(&header, key, value, bodyChecksum, isSynced, &state)
      }
      let size = header.size
      keydir.upsert(
        hash,
        to: address,
        size,
        unpacked: size,
        expiring: expiry,
        replacing: existing,
        at: probe,
        core,
        state.keys
      )
      if existing.address != 0 { state.free(existing, env.epochs) }
      written = header.sequence
      commits.publish(header.sequence)
      try checkTail(state)
      if isWatched { unsafe core.notifyPut(key, value, replacing: existing) }
      return .done(header.sequence)
    }
  }

  /// Appends a tombstone, and removes the key from the index. Writes nothing if the key is absent, except in a store with a capacity if
  /// the condition allows that.
  func remove(
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ condition: WriteCondition
  ) throws(StoreError) -> RemovalResult {
    guard key.count <= StoreLimits.keyLength else { throw .keyTooLong(key.count) }
    switch try unsafe remove(key, core, condition, isAlone: false) {
    case .done(let removal): return removal
    case .lacksSpace(let size): return try unsafe removeWithRoom(for: size, key, core, condition)
    }
  }

  @inline(never)
  private func removeWithRoom(
    for size: Int,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ condition: WriteCondition
  ) throws(StoreError) -> RemovalResult {
    try writeWithRoom(for: size, .removal) { (isAlone) throws(StoreError) in
      try unsafe remove(key, core, condition, isAlone: isAlone)
    }
  }

  @inline(__always)
  private func remove(
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ condition: WriteCondition,
    isAlone: Bool
  ) throws(StoreError) -> WriteAttempt<RemovalResult> {
    var incarnation = unsafe core.incarnation
    var hash = unsafe incarnation.pointee.hash.hash(key)
    keydir.reader.prefetch(hash)
    let bodyChecksum = unsafe RecordEncoder.bodyChecksum(key: key, value: UnsafeRawBufferPointer(start: nil, count: 0))
    return try withLock { (state) throws(StoreError) -> WriteAttempt<RemovalResult> in
      if unsafe incarnation != core.incarnation {
        unsafe incarnation = core.incarnation
        unsafe hash = incarnation.pointee.hash.hash(key)
      }
      try env.checkWritable()
      guard unsafe !incarnation.pointee.tag.isRemoved else { throw .keyspaceRemoved(core.name) }
      var probe = keydir.writeProbe(hash)
      let existing = try unsafe keydir.findForWrite(hash, key, incarnation.pointee.tag, &probe)
      let isThere = existing.address != 0
      // A reader in another process may still show what was just evicted: the tombstone in the log tells it.
      guard isThere || (env.settings.capacity != nil && condition.allowsAbsence) else {
        // The key is gone for good once what has removed it is durable.
        return .done(RemovalResult(sequence: condition.isAlways ? commits.publishedSequence : 0, wasVisible: false))
      }
      let wasVisible = isThere && (existing.damage != nil || existing.visibleVersion(at: time.now) != nil)
      if isThere, try !holds(condition, existing) { return .done(RemovalResult(sequence: 0, wasVisible: wasVisible)) }
      var header = unsafe RecordHeader(
        sequence: 0,
        kind: .tombstone,
        keyHash: hash,
        keyLength: key.count,
        valueLength: 0,
        keyspace: incarnation.pointee.tag
      )
      guard try hasRoom(for: header.size, isAlone: isAlone, &state) else { return .lacksSpace(header.size) }
      let isWatched = core.isWatched.load(ordering: .relaxed)
      var written: UInt64?
      if isWatched { unsafe core.notifyWillWrite(key) }
      defer { if isWatched { unsafe core.notifyDidWrite(key, written) } }
      _ = try unsafe append(&header, key, UnsafeRawBufferPointer(start: nil, count: 0), bodyChecksum, false, &state)
      if isThere {
        keydir.removeEntry(hash, existing, core, state.keys)
        state.free(existing, env.epochs)
      }
      written = header.sequence
      commits.publish(header.sequence)
      try checkTail(state)
      if isThere, isWatched { unsafe core.notifyRemoval(key, of: existing) }
      return .done(RemovalResult(sequence: header.sequence, wasVisible: wasVisible))
    }
  }

  func holds(_ condition: WriteCondition, _ existing: CurrentRecord) throws(StoreError) -> Bool {
    guard case .version(let expected) = condition else { return true }
    if let found = existing.damage { throw keydir.damage(at: existing.address, found, key: nil) }
    return existing.visibleVersion(at: time.now) == expected?.rawValue
  }

  /// Writes a record and publishes it: in the space of a dead one of its size, or at the tail, where the caller has checked that there
  /// is room.
  ///
  /// A record that will be synced at once is written by a system call instead of through the mapping: syncing a page that was
  /// stored to through a mapping flushes it from every processor's TLB, and the next store faults, which costs more than the
  /// call. If the process dies during the call, the body's checksum detects the torn record.
  ///
  /// - Parameter isOfBatch: The records of a batch stand together, so that it is seen whether all of them are there.
  @inline(__always)
  func append(
    _ header: inout RecordHeader,
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer,
    _ bodyChecksum: UInt32,
    _ isSynced: Bool,
    isOfBatch: Bool = false,
    _ state: inout WriterState
  ) throws(StoreError) -> UInt64 {
    let sequence = state.nextSequence
    header.sequence = sequence
    header.durableLag = RecordHeader.durableLag(
      sequence: sequence,
      durable: commits.durableSequence
    )
    let size = header.size
    if state.lastReuse != 0, !isOfBatch { markForReaders(&state) }
    let room = isSynced || isOfBatch ? nil : takeReusableSpace(for: size, &state)
    let offset = room ?? state.offset
    let offsetUnits = offset >> 3
    let isCall = unsafe isSynced && size <= state.scratch.count
    state.announce(at: offset, size: size, replaces: room != nil)
    // Safety: `hasRoom` has found room for the record below the end of what is accessible of the tail, whose mapping `state.tail`
    // keeps, and only the holder of the lock stores behind the last record; or nothing leads to the record whose room this is, and
    // no reader that it once led to is left. Otherwise the record fits into `scratch`.
    let place = unsafe isCall ? state.scratch.baseAddress ?? state.base : state.base + offset
    let firstWord = unsafe RecordEncoder.write(
      header,
      key: key,
      value: value,
      bodyChecksum: bodyChecksum,
      salt: state.salt,
      offsetUnits: UInt32(truncatingIfNeeded: offsetUnits),
      to: place
    )
    onPublish?()
    unsafe RecordEncoder.publish(firstWord, at: place)
    if isCall { unsafe try write(UnsafeRawBufferPointer(start: place, count: size), state) }
    onPublish?()
    state.pass(size, at: offset, replaces: room != nil)
    if room != nil { env.session?.endReuse() }
    return state.startUnits &+ UInt64(offsetUnits)
  }

  /// Writes a record's bytes at the tail by a system call. After a failure it is unknown what is there, so nothing more is
  /// written; the next opening may find the record.
  @inline(never)
  private func write(_ record: UnsafeRawBufferPointer, _ state: borrowing WriterState) throws(StoreError) {
    guard let tail = state.tail else { return }
    // The only system call made under the writer's lock.
    do throws(PlatformError) {
      try LockRank.apart { () throws(PlatformError) in unsafe try tail.file.write(record, at: state.offset) }
    } catch {
      commits.fail(error.code)
      throw .outcomeUnknown(errno: error.code)
    }
  }

  /// Throws if the last stores were lost because the tail's file was truncated or its device failed.
  @inline(__always)
  func checkTail(_ state: borrowing WriterState) throws(StoreError) {
    if let flag = state.faultFlag, flag.isRaised { throw lostTail() }
  }

  @inline(never)
  private func lostTail() -> StoreError {
    commits.fail(PlatformError.inputOutput)
    return .outcomeUnknown(errno: PlatformError.inputOutput)
  }
}
