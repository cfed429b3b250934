internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Maintainer {
  /// Removes all expired entries from the index; returns how many there were.
  ///
  /// The records stay in the log, where they hide older ones. The store time is saved first, so that setting the wall
  /// clock back does not revive the entries after the next opening.
  func removeExpired(in core: KeyspaceCore?) throws(StoreError) -> Int {
    defer { env.deliverEvents() }
    try env.checkWritable()
    try core?.checkPresent()
    let now = env.checkedNow
    guard mayHaveExpired(core, at: now) else { return 0 }
    if let core {
      guard try countExpired(in: core, at: now) > 0 else { return 0 }
      try catalog.saveTime()
      let (removed, isAll) = try purgeExpired(in: core, at: now)
      if isAll { return removed }
      return removed + purge { record in record.expiry <= now && record.keyspace == core.tag }
    } else {
      guard try countEntries(where: { $0.expiry <= now }) > 0 else { return 0 }
      try catalog.saveTime()
    }
    return purge { record in record.expiry <= now }
  }

  /// Removes the expired entries of a small keyspace, found by its hash list; not all if it has none.
  private func purgeExpired(in core: KeyspaceCore, at now: Int64) throws(StoreError) -> (removed: Int, isAll: Bool) {
    var removed = 0
    let tag = core.tag
    let isSmall = try writer.withAddresses(of: core, tag) { (hash, address, state) throws(StoreError) in
      guard core.tag == tag, let record = record(at: address), record.headIsIntact, record.keyspace == tag,
        record.expiry <= now, keydir.removeEntry(hash, at: address, record.size, of: tag, state.keys)
      else { return }
      notifyExpiry(core, record, address)
      state.notePurge()
      removed += 1
    }
    return (removed, isSmall)
  }

  private func record(at address: UInt64) -> StoredRecord? {
    catalog.granules.place(of: address).flatMap { StoredRecord(at: $0) }
  }

  func countExpired(in core: KeyspaceCore) throws(StoreError) -> Int {
    try core.checkPresent()
    let now = env.checkedNow
    try env.checkOpen()
    guard mayHaveExpired(core, at: now) else { return 0 }
    return try countExpired(in: core, at: now)
  }

  private func countExpired(in core: KeyspaceCore, at now: Int64) throws(StoreError) -> Int {
    let tag = core.tag
    var expired: Set<UInt64> = []
    let isSmall = try writer.withAddresses(of: core, tag) { (_, address, _) throws(StoreError) in
      if let record = record(at: address), record.expiry <= now, record.keyspace == tag { expired.insert(address) }
    }
    return try isSmall ? expired.count : countEntries { $0.expiry <= now && $0.keyspace == tag }
  }

  /// Whether a keyspace, or any of them, may have an entry that has expired.
  private func mayHaveExpired(_ core: KeyspaceCore?, at now: Int64) -> Bool {
    core?.expiry.mayHavePassed(at: now) ?? keydir.keyspaces.all.contains { $0.expiry.mayHavePassed(at: now) }
  }

  /// The number of entries of some keyspaces that have not expired.
  ///
  /// Walks over the index only if one of them may have, and counts what is alive of those. Subtracting what has expired from all
  /// would be wrong if another thread removes entries meanwhile. What is written meanwhile may or may not be counted;
  /// entries that cannot be read are not.
  func countLive(in cores: [KeyspaceCore]) throws(StoreError) -> Int {
    try env.checkOpen()
    let now = env.checkedNow
    for core in cores { try core.checkPresent() }
    let suspects = cores.filter { $0.expiry.mayHavePassed(at: now) }
    if suspects.isEmpty { return cores.reduce(0) { $0 + $1.count } }
    var walks: [KeyspaceTag: (number: UInt64, alive: Int, expired: Int, earliest: Int64)] = [:]
    writer.withLock { _ in
      for core in suspects { walks[core.tag] = (core.expiry.beginWalk(), 0, 0, .max) }
    }
    _ = try countEntries { record in
      let expiry = record.expiry
      if expiry <= now {
        walks[record.keyspace]?.expired += 1
      } else {
        walks[record.keyspace]?.alive += 1
        if expiry < walks[record.keyspace]?.earliest ?? .min { walks[record.keyspace]?.earliest = expiry }
      }
      return true
    }
    return writer.withLock { _ in
      cores.reduce(0) { sum, core in
        // None of a keyspace that was not walked over, or that was emptied since.
        guard let walk = walks[core.tag] else { return sum + core.count }
        if walk.expired == 0 { core.expiry.endWalk(walk.number, earliest: walk.earliest) }
        return sum + walk.alive
      }
    }
  }

  /// Removes the entries that satisfy a condition from the index, a few buckets at a time; returns how many there were.
  @discardableResult
  func purge(isOfBackground: Bool = false, where condition: (StoredRecord) -> Bool) -> Int {
    var removed = 0
    var bucket = 0
    while bucket < keydir.bucketCount, !env.isClosed, !(isOfBackground && env.isSuspended) {
      removed += writer.withLock { state in
        if env.isClosed { return 0 }
        let taken = keydir.removeEntries(
          inBuckets: bucket..<bucket + Writer.sliceLength,
          state.keys,
          where: condition,
          onRemoved: notifyExpiry
        )
        if taken > 0 { state.notePurge() }
        return taken
      }
      bucket += Writer.sliceLength
      writer.letOthersIn()
    }
    return removed
  }

  /// Reports an entry's expiry to its keyspace's listeners. The entry belongs to the keyspace's current incarnation.
  ///
  /// Relaxed: listeners are added under the writer's lock, which the caller holds.
  private func notifyExpiry(_ core: KeyspaceCore, _ record: StoredRecord, _ address: UInt64) {
    if core.isWatched.load(ordering: .relaxed) { core.notifyLoss(record.key, CurrentRecord(address: address), .expiry) }
  }

  /// The number of entries that satisfy a condition, which is asked once about each that stays meanwhile.
  private func countEntries(where condition: (StoredRecord) -> Bool) throws(StoreError) -> Int {
    var count = 0
    try writer.forEachSlice { entries in
      for entry in entries {
        if let record = record(at: entry.address), condition(record) { count += 1 }
      }
    }
    return count
  }

  /// Removes the entries of emptied and removed keyspaces from the index, a few buckets at a time.
  func purgeEmptiedKeyspaces() {
    // One that is broken off begins anew once the store goes on.
    purge(isOfBackground: true) { record in
      guard let core = keydir.keyspaces[record.keyspace.id] else {
        return keydir.keyspaces.isRemoved(record.keyspace.id)
      }
      return record.keyspace.incarnation < core.tag.incarnation
    }
  }
}
