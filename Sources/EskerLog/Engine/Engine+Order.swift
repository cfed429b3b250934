internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

extension Engine {
  /// The keys of a keyspace in order, gathered if nobody has asked for them before: other threads wait for that.
  ///
  /// - Complexity: O(1); the first time O(keys) for a small keyspace, else O(entries of the store).
  func keyOrder(of core: KeyspaceCore) throws(StoreError) -> KeyOrder {
    if let order = core.order, order.isComplete { return order }
    core.ordering.lock()
    defer { core.ordering.unlock() }
    while true {
      if let order = core.order, order.isComplete { return order }
      try core.checkPresent()
      try gatherKeys(of: core)
    }
  }

  /// The order to go on with where one is of no use any more.
  func keyOrder(of core: KeyspaceCore, insteadOf order: KeyOrder) throws(StoreError) -> KeyOrder {
    writer.withLock { _ in keydir.forget(order, of: core) }
    env.deliverEvents()
    return try keyOrder(of: core)
  }

  /// Gathers the keys to which the index leads. Those that it gets meanwhile are put in by their writers.
  private func gatherKeys(of core: KeyspaceCore) throws(StoreError) {
    let (tag, order) = writer.withLock { _ in
      // One whose damage nobody has told of.
      if let damaged = core.order { keydir.forget(damaged, of: core) }
      // The records of a keyspace that a reader did not know yet are not counted.
      let order = KeyOrder(isComplete: core.count == 0 && !env.isFollowing)
      core.order = order
      return (core.tag, order)
    }
    if order.isComplete { return }
    defer {
      // Once this has failed, writers need not go on.
      writer.withLock { _ in if core.order === order, !order.isComplete { core.order = nil } }
    }
    var keys = GatheredKeys(tag, order, keydir, capacity: core.count)
    let isSmall = try writer.withAddresses(of: core, tag) { (hash, address, _) throws(StoreError) in
      keys.take(hash & IndexEntry.partialHashMask, address)
    }
    if !isSmall {
      let isWhole = try writer.forEachSlice { entries in
        for entry in entries { keydir.granules.prefetch(entry.address) }
        for entry in entries { keys.take(entry.partialHash, entry.address) }
      }
      if !isWhole { order.noteGap(keydir.indexDamage()) }
    }
    guard let sorted = keys.sorted(), order.complete(with: sorted) else { throw Keydir.outOfMemory(env) }
  }
}

/// The keys of one keyspace that a walk over the index finds.
///
/// Safety: whoever calls ``take(_:_:)`` keeps the record mapped; its key is copied.
private struct GatheredKeys {
  private let tag: KeyspaceTag
  private let order: KeyOrder
  private let keydir: Keydir
  private let hash: KeyHash
  private var keys: KeyCollection

  init(_ tag: KeyspaceTag, _ order: KeyOrder, _ keydir: Keydir, capacity: Int) {
    keys = KeyCollection(capacity: capacity)
    self.tag = tag
    self.order = order
    self.keydir = keydir
    let seed = keydir.env.seed
    hash = KeyHash(seedLow: seed.low, seedHigh: seed.high, keyspace: tag)
  }

  /// Takes the key of the record at an address, if it is of the keyspace. The caller keeps it mapped.
  mutating func take(_ partialHash: UInt64, _ address: UInt64) {
    guard let record = keydir.granules.place(of: address).flatMap({ StoredRecord(at: $0) }) else {
      return order.noteGap(keydir.damage(at: address, .truncated, key: nil))
    }
    let (seed, recordTag) = (keydir.env.seed, record.keyspace)
    let isOurs = recordTag == tag
    unsafe record.withKey { key in
      // What the index knows of the hash says whether keyspace and key are what was written; nothing else is needed.
      let hash = isOurs ? hash : KeyHash(seedLow: seed.low, seedHigh: seed.high, keyspace: recordTag)
      if unsafe hash.hash(key) & IndexEntry.partialHashMask != partialHash {
        order.noteGap(keydir.damage(at: address, .headerChecksum, key: nil))
      } else if isOurs {
        unsafe keys.append(key)
      }
    }
  }

  /// What was taken, in order; nil if there is no memory.
  mutating func sorted() -> KeyImage? { keys.sorted() }
}
