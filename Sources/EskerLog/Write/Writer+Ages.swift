internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// The keys of a keyspace of limited capacity by age, after an opening.

// Safety: what the index leads to stays mapped under the writer's lock, and as long as a pin.
extension Writer {
  /// Gathers the keys of a keyspace by age, after an opening. Those that the index gets meanwhile come behind.
  ///
  /// - Complexity: O(keys) for a small keyspace, else O(entries of the store).
  func gather(into clock: KeyClock, of core: KeyspaceCore) throws(StoreError) {
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
  func hash(of record: StoredRecord, _ tag: KeyspaceTag) -> UInt64? {
    guard record.keyspace == tag else { return nil }
    let hash = KeyHash(seedLow: env.seed.low, seedHigh: env.seed.high, keyspace: tag)
    return unsafe record.withKey { key in unsafe hash.hash(key) }
  }
}
