import EskerPlatform
import Synchronization

extension MemoryCache {
  /// The value of a key, unless it is missing or expired.
  ///
  /// Counts as a use. Complexity: constant on average; takes no lock.
  @inlinable
  public func get(_ key: Key, now: Int64) -> Value? {
    let hash = Self.hash(key)
    let shard = shard(hash)
    let pin = context.epochs.enter()
    let rebuilds = shard.pointee.rebuilds.load(ordering: .acquiring)
    let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot != 0 {
      let node = shard.pointee.node(slot)
      if node.expiry > now {
        shard.pointee.noteUse(node)
        let value = node.value
        counters.count(hit: true, pin)
        context.epochs.exit(pin)
        return value
      }
    } else if rebuilds & 1 == 0
      && rebuilds == shard.pointee.rebuilds.load(ordering: .acquiring)
    {
      counters.count(hit: false, pin)
      context.epochs.exit(pin)
      return nil
    }
    return getLocked(key, hash, pin, now: now)?.value
  }

  /// The slow path of `get` and `entry`: the chains were being rebuilt, or the entry is expired.
  @usableFromInline
  func getLocked(
    _ key: Key,
    _ hash: UInt64,
    _ pin: EpochPin,
    now: Int64
  ) -> (value: Value, expiry: Int64, version: UInt64)? {
    context.epochs.exit(pin)
    let shard = shard(hash)
    let found = withLocked(shard) { garbage -> (value: Value, expiry: Int64, version: UInt64)? in
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      if slot == 0 { return nil }
      let node = shard.pointee.node(slot)
      if node.expiry <= now {
        expire(slot, in: shard, garbage)
        return nil
      }
      shard.pointee.noteUse(node)
      return (value: node.value, expiry: node.expiry, version: shard.pointee.version(slot))
    }
    counters.count(hit: found != nil, pin)
    return found
  }

  /// The value of a key with its expiry and version, unless it is missing or expired; otherwise like ``get(_:now:)``.
  @inlinable
  public func entry(_ key: Key, now: Int64) -> (value: Value, expiry: Int64, version: UInt64)? {
    let hash = Self.hash(key)
    let shard = shard(hash)
    let pin = context.epochs.enter()
    let rebuilds = shard.pointee.rebuilds.load(ordering: .acquiring)
    let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot != 0 {
      let node = shard.pointee.node(slot)
      if node.expiry > now {
        shard.pointee.noteUse(node)
        let found = (value: node.value, expiry: node.expiry, version: shard.pointee.version(slot))
        counters.count(hit: true, pin)
        context.epochs.exit(pin)
        return found
      }
    } else if rebuilds & 1 == 0
      && rebuilds == shard.pointee.rebuilds.load(ordering: .acquiring)
    {
      counters.count(hit: false, pin)
      context.epochs.exit(pin)
      return nil
    }
    return getLocked(key, hash, pin, now: now)
  }

  /// The value of a key with its expiry and version, also if it has expired. Only looked at: that is not counted, is no use of it,
  /// and removes nothing. Complexity: constant on average.
  @inlinable
  public func look(_ key: Key) -> (value: Value, expiry: Int64, version: UInt64)? {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { _ in
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      if slot == 0 { return nil }
      let node = shard.pointee.node(slot)
      return (value: node.value, expiry: node.expiry, version: shard.pointee.version(slot))
    }
  }

  /// Drops an expired entry; under the lock.
  @usableFromInline
  func expire(
    _ slot: UInt32,
    in shard: ShardHandle<Key, Value>,
    _ garbage: borrowing CacheGarbage<Key, Value>
  ) {
    let node = shard.pointee.node(slot)
    if garbage.isNotified { notify(.expired(key: node.key, before: node.value)) }
    shard.pointee.expire(slot, context)
  }

  /// Calls `body` with each unexpired entry, in no particular order.
  ///
  /// Concurrent changes may or may not be seen. No lock is held while `body` runs. Does not count as a use. Complexity:
  /// linear in the number of entries; uses memory for one shard's entries at a time.
  public func forEach<Failure: Error>(
    now: Int64,
    _ body: (Key, MemoryEntry<Value>) throws(Failure) -> Void
  ) throws(Failure) {
    for index in 0...shards.mask {
      var entries: [(Key, MemoryEntry<Value>)] = []
      let shard = shards[index]
      withLocked(shard) { _ in
        shard.pointee.forEachSlot { slot in
          let node = shard.pointee.node(slot)
          if node.expiry > now { entries.append((node.key, shard.pointee.entry(slot))) }
        }
      }
      for (key, entry) in entries { try body(key, entry) }
    }
  }
}

extension Shard {
  /// A copy of the entry in a slot.
  @inlinable
  func entry(_ slot: UInt32) -> MemoryEntry<Value> {
    let node = node(slot)
    return MemoryEntry(node.value, cost: upkeep(slot).cost, expiry: node.expiry, version: version(slot))
  }

  /// Calls `body` with every slot in use, which it may drop; under the lock.
  func forEachSlot(_ body: (UInt32) -> Void) {
    for queue in [state.small, state.main] {
      var slot = queue.oldest
      while slot != 0 {
        let newer = upkeep(slot).newer
        body(slot)
        slot = newer
      }
    }
  }
}
