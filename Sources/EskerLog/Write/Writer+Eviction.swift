internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// Keyspaces of limited capacity. A write that does not fit is refused under the lock, before anything is changed, and tried again once
// enough was evicted: so the limits hold at each moment. What is evicted gets a tombstone, as what is removed: it stays away after a
// crash, and readers, snapshots and merges need to know nothing of it.

// Safety: what the index leads to stays mapped under the writer's lock.
extension Writer {
  /// Throws unless a keyspace of limited capacity can take a record, if its condition holds.
  @inline(never)
  func checkBudget(
    of core: KeyspaceCore,
    putting size: Int,
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ condition: WriteCondition
  ) throws(StoreError) {
    var probe = keydir.writeProbe(hash)
    let existing = try unsafe keydir.findForWrite(hash, key, core.tag, &probe)
    guard try holds(condition, existing) else { return }
    let entries = existing.address == 0 ? 1 : 0
    // A key that is written is in use.
    if entries == 0 { core.noteRead(hash) }
    try checkBudget(of: core, adding: size - existing.unpackedSize, entries: entries, writing: (size, 1))
  }

  /// - Parameter written: What is written in all, which has to fit whatever goes.
  private func checkBudget(
    of core: KeyspaceCore,
    adding bytes: Int,
    entries: Int,
    writing written: (bytes: Int, entries: Int)
  ) throws(StoreError) {
    let budget = core.budget
    guard budget.holds(bytes: written.bytes, entries: written.entries) else {
      throw .keyspaceFull(keyspace: core.name, bytes: written.bytes, entries: written.entries)
    }
    guard bytes > 0 || entries > 0 else { return }
    // Room that another write is being made is not taken.
    let pledged = core.keyClock?.pledged ?? (bytes: 0, entries: 0)
    guard
      budget.holds(bytes: core.byteCount + bytes + pledged.bytes, entries: core.count + entries + pledged.entries)
    else { throw .keyspaceFull(keyspace: core.name, bytes: bytes, entries: entries) }
  }

  /// Throws unless keyspaces of limited capacity can take what a batch adds to them. Called under the lock.
  func checkBudgets(of batch: borrowing WriteBatch) throws(StoreError) {
    guard batch.operations.contains(where: { $0.keyspace.isLimited }) else { return }
    /// What an operation makes of its key: the last one counts.
    struct Change {
      var before: Int
      var after: Int
      var isThere: Bool
      var isPut: Bool
    }
    var changes: [UInt32: (core: KeyspaceCore, keys: [UInt64: Change])] = [:]
    // Safety: the keys lie in the batch's bytes, which are lent until the loop has ended and do not change.
    try unsafe batch.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for operation in batch.operations where operation.keyspace.isLimited {
        let core = operation.keyspace
        let key = unsafe UnsafeRawBufferPointer(
          rebasing: bytes[operation.start..<operation.start + operation.keyLength]
        )
        let hash = unsafe core.incarnation.pointee.hash.hash(key)
        let after = operation.isPut ? header(operation, hash: hash, isLast: true).size : 0
        if changes[core.id]?.keys[hash] != nil {
          changes[core.id]?.keys[hash]?.after = after
          changes[core.id]?.keys[hash]?.isPut = operation.isPut
          continue
        }
        var probe = keydir.writeProbe(hash)
        let existing = try unsafe keydir.findForWrite(hash, key, core.tag, &probe)
        let isThere = existing.address != 0
        if isThere { core.noteRead(hash) }
        changes[core.id, default: (core, [:])].keys[hash] = Change(
          before: existing.unpackedSize,
          after: after,
          isThere: isThere,
          isPut: operation.isPut
        )
      }
    }
    for (core, keys) in changes.values {
      let bytes = keys.values.reduce(0) { $0 + $1.after - $1.before }
      let entries = keys.values.reduce(0) { $0 + ($1.isPut ? 1 : 0) - ($1.isThere ? 1 : 0) }
      let written = keys.values.reduce((bytes: 0, entries: 0)) { ($0.0 + $1.after, $0.1 + ($1.isPut ? 1 : 0)) }
      try checkBudget(of: core, adding: bytes, entries: entries, writing: written)
    }
  }

  // MARK: Eviction

  /// The most that goes under one hold of the lock, and the most that are looked at.
  private static let mostEvicted = 64
  private static let mostExamined = 1024

  /// Evicts from a keyspace until a write of so much fits; at once some more, so that the next writes find room.
  ///
  /// - Throws: ``StoreError/keyspaceFull(keyspace:bytes:entries:)`` if that is more than the keyspace may have, or if what is left cannot be
  ///   evicted, since it cannot be read.
  func evict(from core: KeyspaceCore, toAdd bytes: Int, entries: Int) throws(StoreError) {
    var evicted = (entries: 0, bytes: 0)
    defer {
      if evicted.entries > 0 { env.emit(.evicted(records: evicted.entries, bytes: evicted.bytes)) }
    }
    // Each key is spared once, or keys that are read all the time would keep a writer for ever.
    var spares = Int.max
    var gatherings = 0
    while let clock = core.keyClock {
      guard core.budget.holds(bytes: bytes, entries: entries) else {
        throw .keyspaceFull(keyspace: core.name, bytes: bytes, entries: entries)
      }
      if withLock({ _ in fits(bytes, entries, in: core, core.budget) }) {
        // Perhaps only beside what is pledged to others.
        if evicted.entries == 0, clock.pledged.entries > 0 { letOthersIn() }
        return
      }
      clock.pledge(bytes, entries)
      defer { clock.pledge(-bytes, -entries) }
      if !clock.isGathered {
        // All that could be found is gone, twice: what is left cannot be read, and its bytes are anybody's guess.
        if gatherings == 2 { return try disregardBytes(of: core, toAdd: bytes, entries) }
        gatherings += 1
        try gather(into: clock, of: core)
      }
      spares = min(spares, clock.count)
      let step = try writing(.removal) { (isAlone) throws(StoreError) in
        try evictSome(from: core, clock, toAdd: bytes, entries, &spares, isAlone)
      }
      evicted = (evicted.entries + step.entries, evicted.bytes + step.bytes)
      if step.isLast { return }
      letOthersIn()
    }
  }

  private func disregardBytes(of core: KeyspaceCore, toAdd bytes: Int, _ entries: Int) throws(StoreError) {
    try withLock { (_) throws(StoreError) in
      core.setCount(core.count, byteCount: 0)
      guard fits(bytes, entries, in: core, core.budget) else {
        throw .keyspaceFull(keyspace: core.name, bytes: bytes, entries: entries)
      }
    }
  }

  private func fits(_ bytes: Int, _ entries: Int, in core: KeyspaceCore, _ budget: KeyspaceBudget) -> Bool {
    budget.holds(bytes: core.byteCount + bytes, entries: core.count + entries)
  }

  /// Evicts a few entries. It was the last time if there is room.
  private func evictSome(
    from core: KeyspaceCore,
    _ clock: KeyClock,
    toAdd bytes: Int,
    _ entries: Int,
    _ spares: inout Int,
    _ isAlone: Bool
  ) throws(StoreError) -> WriteAttempt<(entries: Int, bytes: Int, isLast: Bool)> {
    try withLock { (state) throws(StoreError) in
      try env.checkWritable()
      try core.checkPresent()
      let budget = core.budget
      var evicted = (entries: 0, bytes: 0)
      for _ in 0..<Self.mostExamined {
        let target = evicted.entries == 0 ? budget : budget.lowered
        if evicted.entries == Self.mostEvicted || fits(bytes, entries, in: core, target) { break }
        guard let hash = clock.next() else {
          clock.forget()
          break
        }
        if core.takeMark(hash), spares > 0 {
          spares -= 1
          clock.renew(hash)
          continue
        }
        guard let victim = victim(hash, of: core) else { continue }
        guard let size = try evict(victim, of: core, hash, isAlone, &state) else {
          clock.putBack(hash)
          // Room for the tombstone is made without the lock.
          return evicted.entries > 0
            ? .done((evicted.entries, evicted.bytes, false)) : .lacksSpace(victim.tombstoneSize)
        }
        clock.countEvicted(bytes: size)
        evicted = (evicted.entries + 1, evicted.bytes + size)
      }
      return .done((evicted.entries, evicted.bytes, fits(bytes, entries, in: core, budget)))
    }
  }

  /// A record that is to go.
  private struct Victim {
    var record: StoredRecord
    var existing: CurrentRecord
    var tombstoneSize: Int
  }

  /// The present record of a keyspace's key with that hash; nil if there is none, or its key cannot be read. The value is not looked at.
  private func victim(_ hash: UInt64, of core: KeyspaceCore) -> Victim? {
    var probe = keydir.writeProbe(hash)
    while let address = probe.next() {
      guard let record = keydir.granules.place(of: address).flatMap({ StoredRecord(at: $0) }),
        self.hash(of: record, core.tag) == hash
      else { continue }
      return Victim(
        record: record,
        existing: CurrentRecord(
          address: address,
          sequence: record.sequence,
          expiry: record.expiry,
          size: record.size,
          unpackedSize: record.unpackedSize
        ),
        tombstoneSize: RecordLayout.size(
          keyLength: record.keyLength,
          valueLength: 0,
          expiry: .max,
          keyspace: core.tag
        )
      )
    }
    return nil
  }

  /// Appends a tombstone for a record, and takes it out of the index; nil if there is no room. Returns the bytes that went.
  private func evict(
    _ victim: Victim,
    of core: KeyspaceCore,
    _ hash: UInt64,
    _ isAlone: Bool,
    _ state: inout WriterState
  ) throws(StoreError) -> Int? {
    guard try hasRoom(for: victim.tombstoneSize, isAlone: isAlone, &state) else { return nil }
    try unsafe victim.record.withKey { (key) throws(StoreError) in
      let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      var header = RecordHeader(
        sequence: 0,
        kind: .tombstone,
        keyHash: hash,
        keyLength: key.count,
        valueLength: 0,
        keyspace: core.tag
      )
      let isWatched = core.isWatched.load(ordering: .relaxed)
      if isWatched { unsafe core.notifyWillWrite(key) }
      var written: UInt64?
      defer { if isWatched { unsafe core.notifyDidWrite(key, written) } }
      let checksum = unsafe RecordEncoder.bodyChecksum(key: key, value: empty)
      _ = unsafe try append(&header, key, empty, checksum, false, &state)
      keydir.removeEntry(hash, victim.existing, core, state.keys)
      state.free(victim.existing, env.epochs)
      written = header.sequence
      commits.publish(header.sequence)
      try checkTail(state)
      let isGone = victim.existing.visibleVersion(at: time.now) == nil
      if isWatched { unsafe core.notifyLoss([UInt8](key), victim.existing, isGone ? .expiry : .eviction) }
    }
    return victim.existing.unpackedSize
  }

  // MARK: Gathering

  /// Gathers the keys of a keyspace by age, after an opening. Those that the index gets meanwhile come behind.
  ///
  /// - Complexity: O(keys) for a small keyspace, else O(entries of the store).
  private func gather(into clock: KeyClock, of core: KeyspaceCore) throws(StoreError) {
    core.ordering.lock()
    defer { core.ordering.unlock() }
    if clock.isGathered { return }
    let tag = withLock { _ in
      clock.beginGathering()
      return core.tag
    }
    var found: [(sequence: UInt64, hash: UInt64)]? = []
    defer {
      let hashes = found?.sorted { $0.sequence < $1.sequence }.map(\.hash)
      withLock { _ in clock.endGathering(core.tag == tag ? hashes : []) }
    }
    do throws(StoreError) {
      let isSmall = try withAddresses(of: core, tag) { (hash, address, _) throws(StoreError) in
        if let entry = entry(at: address, hash & IndexEntry.partialHashMask, of: tag) { found?.append(entry) }
      }
      if isSmall { return }
      found = []
      // What cannot be read is not evicted.
      try forEachSlice { entries in
        for entry in entries { keydir.granules.prefetch(entry.address) }
        for entry in entries {
          if let entry = self.entry(at: entry.address, entry.partialHash, of: tag) { found?.append(entry) }
        }
      }
    } catch {
      found = nil
      throw error
    }
  }

  /// The hash of the key of a record that the index has for that part of a hash; nil if it is of another keyspace, or cannot be read.
  private func entry(
    at address: UInt64,
    _ partialHash: UInt64,
    of tag: KeyspaceTag
  ) -> (sequence: UInt64, hash: UInt64)? {
    guard let record = keydir.granules.place(of: address).flatMap({ StoredRecord(at: $0) }),
      let hash = hash(of: record, tag), hash & IndexEntry.partialHashMask == partialHash
    else { return nil }
    return (record.sequence, hash)
  }

  /// The hash of a record's key; nil if it says that it is of another keyspace.
  ///
  /// Compared with that in the index, it says whether keyspace and key are what was written: the checksum would read the value too.
  private func hash(of record: StoredRecord, _ tag: KeyspaceTag) -> UInt64? {
    guard record.keyspace == tag else { return nil }
    let hash = KeyHash(seedLow: env.seed.low, seedHigh: env.seed.high, keyspace: tag)
    return unsafe record.withKey { key in unsafe hash.hash(key) }
  }
}
