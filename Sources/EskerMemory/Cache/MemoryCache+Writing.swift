import EskerPlatform
import Synchronization

extension MemoryCache {
  /// Stores a value for a key, replacing any earlier one; returns whether it was kept.
  ///
  /// It is not kept if it costs more than the whole limit, if its expiry is not after `now`, or if no room could be made
  /// because every other shard was busy; the key then has no value. Other entries are evicted to make room.
  ///
  /// - Parameters:
  ///   - cost: What the entry counts towards the cost limit, in the caller's unit; a negative cost counts as 0.
  ///   - expiry: The time from which on it is no longer returned, in milliseconds of the caller's clock; `Int64.max` for
  ///     never.
  ///   - version: Kept with the value, in the caller's numbers.
  ///
  /// Complexity: constant on average.
  @inlinable
  @discardableResult
  public func put(
    _ value: Value,
    forKey key: Key,
    cost: Int = 1,
    expiry: Int64 = .max,
    version: UInt64 = 0,
    now: Int64
  ) -> Bool {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      shard.pointee.fence.noteWrite()
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      let entry = MemoryEntry(value, cost: cost, expiry: expiry, version: version)
      return store(entry, key, hash, slot, in: shard, now: now, &garbage)
    }
  }

  /// Removes a key; true if it had a value, even an expired one.
  ///
  /// Complexity: constant on average.
  @inlinable
  @discardableResult
  public func remove(_ key: Key) -> Bool {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      shard.pointee.fence.noteWrite()
      return remove(key, hash, in: shard, garbage)
    }
  }

  /// Reads and writes a key's entry atomically: no other write to the key comes between.
  ///
  /// `body` gets the entry, or `nil` if it is missing or expired, and may change, create or remove it. If it throws, nothing
  /// changes; likewise if the entry has the same version afterwards, and that is not 0. It runs under a lock and must not call
  /// the cache.
  ///
  /// An entry that cannot be kept, for one of the reasons given for ``put(_:forKey:cost:expiry:version:now:)``, is dropped.
  /// Complexity: constant on average, besides `body`.
  @inlinable
  public func update<Result, Failure: Error>(
    _ key: Key,
    now: Int64,
    _ body: (inout MemoryEntry<Value>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let hash = Self.hash(key)
    let shard = shard(hash)
    // Outlives the lock, since values in it may be destroyed with it.
    var entry: MemoryEntry<Value>?
    defer { withExtendedLifetime(entry) {} }
    return try withLocked(shard) { garbage throws(Failure) in
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      if slot != 0, shard.pointee.node(slot).expiry > now { entry = shard.pointee.entry(slot) }
      let before = entry?.version ?? 0
      let result = try body(&entry)
      if before != 0, entry?.version == before { return result }
      shard.pointee.fence.noteWrite()
      if let entry {
        _ = store(entry, key, hash, slot, in: shard, now: now, &garbage)
      } else if slot != 0 {
        drop(slot, in: shard, now: now, garbage)
      }
      return result
    }
  }

  /// Removes every entry.
  ///
  /// Shards are emptied one after another: an entry that is put meanwhile may stay, unless a listener observes the cache.
  /// Complexity: linear in the number of entries.
  ///
  /// - Parameter releases: Pass false while holding a lock that a value's `deinit` may take: values are then kept until the
  ///   next write to their shard, or ``release()``.
  public func removeAll(releases: Bool = true) {
    // Held throughout, so that no observed write comes between.
    notifying.withLock {
      notify(.removedAll)
      for index in 0...shards.mask {
        let shard = shards[index]
        shard.pointee.lock.withLock {
          shard.pointee.fence.noteWrite()
          shard.pointee.forEachSlot { slot in shard.pointee.drop(slot, context) }
        }
      }
    }
    if releases { release() }
  }

  /// Destroys removed values that were kept; see ``removeAll(releases:)``.
  public func release() {
    for index in 0...shards.mask { withLocked(shards[index]) { _ in } }
  }

  /// Destroys removed values that were kept in a key's shard; see ``enterWrite(_:releases:)``.
  @inlinable
  public func release(_ key: Key) {
    withLocked(shard(Self.hash(key))) { _ in }
  }

  /// Removes expired entries; returns how many.
  ///
  /// Complexity: linear in the number of entries.
  @discardableResult
  public func removeExpired(now: Int64) -> Int {
    var removed = 0
    for index in 0...shards.mask {
      let shard = shards[index]
      withLocked(shard) { garbage in
        shard.pointee.forEachSlot { slot in
          if shard.pointee.node(slot).expiry > now { return }
          expire(slot, in: shard, garbage)
          removed += 1
        }
      }
    }
    return removed
  }

  /// Evicts entries of this cache until at most `count` are left, counting the caches that share the limits.
  ///
  /// Does not change the limit. Complexity: linear in the number of entries evicted.
  public func trim(toCount count: Int) {
    context.pool.trim([self]) { self.count > count }
  }

  /// Evicts entries of this cache until the total cost is at most `cost`, counting the caches that share the limits.
  ///
  /// Does not change the limit. Complexity: linear in the number of entries evicted.
  public func trim(toCost cost: Int) {
    context.pool.trim([self]) { self.cost > cost }
  }
}

// Under the lock of `shard`.
extension MemoryCache {
  @inlinable
  func remove(
    _ key: Key,
    _ hash: UInt64,
    in shard: ShardHandle<Key, Value>,
    _ garbage: borrowing CacheGarbage<Key, Value>
  ) -> Bool {
    let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot == 0 { return false }
    drop(slot, in: shard, now: .min, garbage)
    return true
  }

  /// Removes the entry in a slot, and notifies the listener.
  @inlinable @inline(__always)
  func drop(
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: borrowing CacheGarbage<Key, Value>
  ) {
    if garbage.isNotified { return dropNotifying(slot, in: shard, now: now) }
    shard.pointee.drop(slot, context)
  }

  /// Makes `entry` the one for its key, whose current slot is `slot` (0: none), and notifies the listener.
  @inlinable @inline(__always)
  func store(
    _ entry: MemoryEntry<Value>,
    _ key: Key,
    _ hash: UInt64,
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: inout CacheGarbage<Key, Value>
  ) -> Bool {
    if garbage.isNotified { return storeNotifying(entry, key, hash, slot, in: shard, now: now, &garbage) }
    return keep(entry, key, hash, slot, in: shard, now: now, &garbage)
  }

  @inlinable
  func keep(
    _ entry: MemoryEntry<Value>,
    _ key: Key,
    _ hash: UInt64,
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: inout CacheGarbage<Key, Value>
  ) -> Bool {
    let cost = max(0, entry.cost)
    if cost > context.pool.cost.limit || context.pool.count.limit == 0 || entry.expiry <= now {
      if slot != 0 { shard.pointee.drop(slot, context) }
      return false
    }
    var accessState: AccessState
    if slot != 0 {
      let node = shard.pointee.node(slot)
      shard.pointee.noteUse(node)
      accessState = shard.pointee.accessState(slot)
      let old = shard.pointee.upkeep(slot).cost
      if context.pool.cost.draw(max(0, cost - old)) {
        let node = Node(
          hash: UInt32(truncatingIfNeeded: hash),
          accessState: accessState,
          expiry: entry.expiry,
          key: key,
          value: entry.value
        )
        shard.pointee.substitute(slot, by: node, cost: cost, version: entry.version, context)
        context.pool.cost.giveBack(max(0, old - cost))
        return true
      }
      // Dropped first, so that making room for the entry does not evict the entry itself.
      shard.pointee.drop(slot, context)
    } else {
      accessState = shard.pointee.admit(UInt32(truncatingIfNeeded: hash))
    }
    var hadRoom = true
    while shard.pointee.isFull {
      hadRoom = false
      _ = evict(from: shard, garbage)
      shard.pointee.reclaim(into: &garbage, context.epochs)
    }
    while !context.pool.count.draw(1) {
      hadRoom = false
      if !makeRoom(shard, &garbage) { return false }
    }
    while !context.pool.cost.draw(cost) {
      hadRoom = false
      if !makeRoom(shard, &garbage) {
        context.pool.count.giveBack(1)
        return false
      }
    }
    let node = Node(
      hash: UInt32(truncatingIfNeeded: hash),
      accessState: accessState,
      expiry: entry.expiry,
      key: key,
      value: entry.value
    )
    shard.pointee.enter(node, cost: cost, version: entry.version, context)
    if hadRoom { shard.pointee.settle() }
    return true
  }

  /// Evicts an entry from a locked shard; false if it has none.
  @inlinable
  func evict(
    from shard: ShardHandle<Key, Value>,
    _ garbage: borrowing CacheGarbage<Key, Value>
  ) -> Bool {
    let slot = shard.pointee.evict(context)
    if slot != 0, garbage.isNotified { notifyEviction(slot, of: shard) }
    return slot != 0
  }

  /// Evicts an entry from `shard`, or from another one if it has none; false if none could be evicted.
  @inlinable
  func makeRoom(
    _ shard: ShardHandle<Key, Value>,
    _ garbage: inout CacheGarbage<Key, Value>
  ) -> Bool {
    if context.pool.isShared { return makeRoomAmongAll(shard, &garbage) }
    shard.pointee.state.others = 0
    if evict(from: shard, garbage) { return true }
    // Never waits for a second lock, since its holder may be waiting for ours.
    let own = shards.number(of: shard)
    for _ in 0..<64 {
      for step in 1...(shards.mask + 1) {
        let other = (own + step) & shards.mask
        if other == own || !(shards[other].pointee.lock.tryLock()) { continue }
        let evicted = evict(from: shards[other], garbage)
        shards[other].pointee.reclaim(into: &garbage, context.epochs)
        shards[other].pointee.lock.unlock()
        if evicted { return true }
      }
      Platform.yieldThread()
    }
    return false
  }
}
