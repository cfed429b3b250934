import EskerPlatform
import Synchronization

extension MemoryCache {
  /// Keeps a value for a key, in place of the one it had; false if it is not kept.
  ///
  /// Not kept is what costs more than the whole limit, whose expiry is not after `now`, or for which no room could be made because
  /// every other shard was busy; then the key has no value afterwards. Other entries go as room is needed.
  ///
  /// - Parameters:
  ///   - cost: what the entry counts towards the cost limit, in the caller's unit; a negative cost counts as 0.
  ///   - expiry: from when on it is no longer returned, in milliseconds of the caller's clock; `Int64.max` for never.
  ///
  /// Complexity: constant on average.
  @inlinable
  @discardableResult
  public func put(_ value: Value, forKey key: Key, cost: Int = 1, expiry: Int64 = .max, now: Int64)
    -> Bool
  {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      shard.pointee.noteWrite()
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      let entry = MemoryEntry(value, cost: cost, expiry: expiry)
      return store(entry, key, hash, slot, in: shard, now: now, &garbage)
    }
  }

  /// Removes a key; true if it had a value, be it one whose time had come.
  ///
  /// Complexity: constant on average.
  @inlinable
  @discardableResult
  public func remove(_ key: Key) -> Bool {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      shard.pointee.noteWrite()
      return remove(key, hash, in: shard, garbage)
    }
  }

  /// Reads and writes a key's entry as one step: no other write to the key comes between.
  ///
  /// `body` gets the entry, `nil` if there is none or its time has come, and may change it, make it or take it away. When it
  /// throws, nothing changes. It runs under a lock and must not call the cache.
  ///
  /// An entry that cannot be kept, for the reasons ``put(_:forKey:cost:expiry:now:)`` names, is gone afterwards.
  /// Complexity: constant on average, besides `body`.
  @inlinable
  public func update<Result, Failure: Error>(
    _ key: Key,
    now: Int64,
    _ body: (inout MemoryEntry<Value>?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let hash = Self.hash(key)
    let shard = shard(hash)
    // Outlives the lock, as values in it may die with it.
    var entry: MemoryEntry<Value>?
    defer { withExtendedLifetime(entry) {} }
    return try withLocked(shard) { garbage throws(Failure) in
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      if slot != 0 {
        let node = shard.pointee.node(slot)
        if node.expiry > now {
          let cost = shard.pointee.upkeep(slot).cost
          entry = MemoryEntry(node.value, cost: cost, expiry: node.expiry)
        }
      }
      let result = try body(&entry)
      shard.pointee.noteWrite()
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
  /// One shard after the other: an entry that is put meanwhile may stay, unless somebody is told of changes. Complexity: linear in
  /// the number of entries.
  ///
  /// - Parameter releases: False for a caller that holds a lock which the `deinit` of a value may want: values are kept until
  ///   their shard is written to again, or ``release()``.
  public func removeAll(releases: Bool = true) {
    // Held throughout: nobody who is told puts anything in between.
    telling.withLock {
      tell(.removedAll)
      for index in 0...shards.mask {
        let shard = shards[index]
        shard.pointee.lock.withLock {
          shard.pointee.noteWrite()
          shard.pointee.forEachSlot { slot in shard.pointee.drop(slot, commons) }
        }
      }
    }
    if releases { release() }
  }

  /// Releases what left the cache and was kept.
  public func release() {
    for index in 0...shards.mask { withLocked(shards[index]) { _ in } }
  }

  /// Releases what left the shard of a key and was kept.
  public func release(_ key: Key) {
    withLocked(shard(Self.hash(key))) { _ in }
  }

  /// Removes the entries whose time has come; returns how many.
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

  /// Evicts entries of this cache until at most `count` are left, with those of the caches that share the limits.
  ///
  /// The limit stays what it is. Complexity: linear in the number of entries evicted.
  public func trim(toCount count: Int) {
    commons.pool.trim([self]) { self.count > count }
  }

  /// Evicts entries of this cache until the costs of all that are left sum up to at most `cost`.
  ///
  /// The limit stays what it is. Complexity: linear in the number of entries evicted.
  public func trim(toCost cost: Int) {
    commons.pool.trim([self]) { self.cost > cost }
  }
}

// Under the lock of `shard`.
extension MemoryCache {
  @inlinable
  func remove(
    _ key: Key,
    _ hash: UInt64,
    in shard: ShardHandle<Key, Value>,
    _ garbage: borrowing Garbage<Key, Value>
  ) -> Bool {
    let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot == 0 { return false }
    drop(slot, in: shard, now: .min, garbage)
    return true
  }

  /// Takes out the entry in a slot.
  @inlinable @inline(__always)
  func drop(
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: borrowing Garbage<Key, Value>
  ) {
    if garbage.isTold { return dropTelling(slot, in: shard, now: now) }
    shard.pointee.drop(slot, commons)
  }

  /// Makes `entry` the one of its key, which is in `slot` now, or nowhere if that is 0; and tells of it.
  @inlinable @inline(__always)
  func store(
    _ entry: MemoryEntry<Value>,
    _ key: Key,
    _ hash: UInt64,
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    now: Int64,
    _ garbage: inout Garbage<Key, Value>
  ) -> Bool {
    if garbage.isTold { return storeTelling(entry, key, hash, slot, in: shard, now: now, &garbage) }
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
    _ garbage: inout Garbage<Key, Value>
  ) -> Bool {
    let cost = max(0, entry.cost)
    if cost > commons.pool.cost.limit || commons.pool.count.limit == 0 || entry.expiry <= now {
      if slot != 0 { shard.pointee.drop(slot, commons) }
      return false
    }
    var standing: Standing
    if slot != 0 {
      let node = shard.pointee.node(slot)
      shard.pointee.noteUse(node)
      standing = shard.pointee.standing(slot)
      let old = shard.pointee.upkeep(slot).cost
      if commons.pool.cost.draw(max(0, cost - old)) {
        let node = Node(
          hash: UInt32(truncatingIfNeeded: hash),
          standing: standing,
          expiry: entry.expiry,
          key: key,
          value: entry.value
        )
        shard.pointee.substitute(slot, by: node, cost: cost, commons)
        commons.pool.cost.giveBack(max(0, old - cost))
        return true
      }
      // The entry itself must not be what goes to make room for it.
      shard.pointee.drop(slot, commons)
    } else {
      standing = shard.pointee.admit(UInt32(truncatingIfNeeded: hash))
    }
    var hadRoom = true
    while shard.pointee.isFull {
      hadRoom = false
      _ = evict(from: shard, garbage)
      shard.pointee.reclaim(into: &garbage, commons.epochs)
    }
    while !commons.pool.count.draw(1) {
      hadRoom = false
      if !makeRoom(shard, &garbage) { return false }
    }
    while !commons.pool.cost.draw(cost) {
      hadRoom = false
      if !makeRoom(shard, &garbage) {
        commons.pool.count.giveBack(1)
        return false
      }
    }
    let node = Node(
      hash: UInt32(truncatingIfNeeded: hash),
      standing: standing,
      expiry: entry.expiry,
      key: key,
      value: entry.value
    )
    shard.pointee.enter(node, cost: cost, commons)
    if hadRoom { shard.pointee.settle() }
    return true
  }

  /// Evicts an entry of a shard that is locked; false if it has none.
  @inlinable
  func evict(
    from shard: ShardHandle<Key, Value>,
    _ garbage: borrowing Garbage<Key, Value>
  ) -> Bool {
    let slot = shard.pointee.evict(commons)
    if slot != 0, garbage.isTold { tellEviction(slot, of: shard) }
    return slot != 0
  }

  /// Evicts an entry of `shard`, or of another one when it has none; false if there is none to be had.
  @inlinable
  func makeRoom(
    _ shard: ShardHandle<Key, Value>,
    _ garbage: inout Garbage<Key, Value>
  ) -> Bool {
    if commons.pool.isShared { return makeRoomAmongAll(shard, &garbage) }
    shard.pointee.state.others = 0
    if evict(from: shard, garbage) { return true }
    // Never waiting for a second lock, since whoever holds it may wait for ours.
    let own = shards.number(of: shard)
    for _ in 0..<64 {
      for step in 1...(shards.mask + 1) {
        let other = (own + step) & shards.mask
        if other == own || !(shards[other].pointee.lock.tryLock()) { continue }
        let evicted = evict(from: shards[other], garbage)
        shards[other].pointee.reclaim(into: &garbage, commons.epochs)
        shards[other].pointee.lock.unlock()
        if evicted { return true }
      }
      Platform.yieldThread()
    }
    return false
  }
}
