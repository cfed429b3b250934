internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// What goes from a keyspace of limited capacity gets a tombstone, as what is removed: it stays away after a crash, and readers, snapshots
// and merges need to know nothing of it.

// Safety: what the index leads to stays mapped under the writer's lock.
extension Writer {
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
      defer { clock.release(bytes, entries) }
      if !clock.isGathered { try gather(into: clock, of: core) }
      spares = min(spares, clock.count)
      let step = try writing(.removal) { (isAlone) throws(StoreError) in
        try evictSome(from: core, clock, toAdd: bytes, entries, &spares, isAlone)
      }
      evicted = (evicted.entries + step.entries, evicted.bytes + step.bytes)
      if step.isLast { return }
      letOthersIn()
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
          // Another thread gathers the keys, or some have just gone.
          guard clock.isGathered, evicted.entries == 0 else { break }
          // What is left cannot be read, and its bytes are anybody's guess.
          core.setCount(core.count, byteCount: 0)
          guard fits(bytes, entries, in: core, budget) else {
            throw .keyspaceFull(keyspace: core.name, bytes: bytes, entries: entries)
          }
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

  /// The present record of a keyspace's key with that hash; nil if there is none, or its key or its lengths cannot be read. The value is
  /// not looked at.
  private func victim(_ hash: UInt64, of core: KeyspaceCore) -> Victim? {
    var probe = keydir.writeProbe(hash)
    while let address = probe.next() {
      guard let record = keydir.granules.place(of: address).flatMap({ StoredRecord(at: $0) }),
        record.lengthsAreIntact, self.hash(of: record, core.tag) == hash
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
}
