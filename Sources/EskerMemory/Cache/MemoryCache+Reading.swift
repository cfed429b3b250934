import EskerPlatform
import Synchronization

extension MemoryCache {
  /// The value of a key, unless it is missing or its time has come.
  ///
  /// Counts as a use. Complexity: constant on average; takes no lock.
  ///
  /// - Parameter isMeant: whether the key that is held, which equals `key`, is the one that is asked for; it may run under a lock and
  ///   must not call the cache.
  @inlinable
  public func get(_ key: Key, now: Int64, where isMeant: (Key) -> Bool = { _ in true }) -> Value? {
    let hash = Self.hash(key)
    let shard = unsafe shard(hash)
    let pin = commons.epochs.enter()
    let rebuilds = unsafe shard.pointee.rebuilds.load(ordering: .acquiring)
    let slot = unsafe shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot != 0 {
      let node = unsafe shard.pointee.node(slot)
      if unsafe node.pointee.expiry > now && isMeant(node.pointee.key) {
        unsafe shard.pointee.noteUse(node)
        let value = unsafe node.pointee.value
        counters.count(hit: true, pin)
        commons.epochs.exit(pin)
        return value
      }
    } else if unsafe rebuilds & 1 == 0
      && rebuilds == shard.pointee.rebuilds.load(ordering: .acquiring)
    {
      counters.count(hit: false, pin)
      commons.epochs.exit(pin)
      return nil
    }
    return getLocked(key, hash, pin, now: now, where: isMeant)?.value
  }

  /// As `get`, where the chains were being rebuilt or the entry's time has come.
  @usableFromInline
  func getLocked(
    _ key: Key,
    _ hash: UInt64,
    _ pin: EpochPin,
    now: Int64,
    where isMeant: (Key) -> Bool = { _ in true }
  ) -> (value: Value, expiry: Int64)? {
    commons.epochs.exit(pin)
    let shard = unsafe shard(hash)
    let found = unsafe withLocked(shard) { garbage -> (value: Value, expiry: Int64)? in
      let slot = unsafe shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      if slot == 0 { return nil }
      let node = unsafe shard.pointee.node(slot)
      if unsafe node.pointee.expiry <= now {
        unsafe expire(slot, in: shard, garbage)
        return nil
      }
      guard unsafe isMeant(node.pointee.key) else { return nil }
      unsafe shard.pointee.noteUse(node)
      return unsafe (value: node.pointee.value, expiry: node.pointee.expiry)
    }
    counters.count(hit: found != nil, pin)
    return found
  }

  /// The value of a key with its expiry, unless it is missing or its time has come; otherwise as ``get(_:now:where:)``.
  @inlinable
  public func entry(
    _ key: Key,
    now: Int64,
    where isMeant: (Key) -> Bool = { _ in true }
  ) -> (value: Value, expiry: Int64)? {
    let hash = Self.hash(key)
    let shard = unsafe shard(hash)
    let pin = commons.epochs.enter()
    let rebuilds = unsafe shard.pointee.rebuilds.load(ordering: .acquiring)
    let slot = unsafe shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
    if slot != 0 {
      let node = unsafe shard.pointee.node(slot)
      if unsafe node.pointee.expiry > now && isMeant(node.pointee.key) {
        unsafe shard.pointee.noteUse(node)
        let found = unsafe (value: node.pointee.value, expiry: node.pointee.expiry)
        counters.count(hit: true, pin)
        commons.epochs.exit(pin)
        return found
      }
    } else if unsafe rebuilds & 1 == 0
      && rebuilds == shard.pointee.rebuilds.load(ordering: .acquiring)
    {
      counters.count(hit: false, pin)
      commons.epochs.exit(pin)
      return nil
    }
    return getLocked(key, hash, pin, now: now, where: isMeant)
  }

  /// Drops an entry whose time has come; under the lock.
  @usableFromInline
  func expire(
    _ slot: UInt32,
    in shard: UnsafeMutablePointer<Shard<Key, Value>>,
    _ garbage: borrowing Garbage<Key, Value>
  ) {
    let node = unsafe shard.pointee.node(slot)
    if garbage.isTold { tell(unsafe .expired(key: node.pointee.key, before: node.pointee.value)) }
    unsafe shard.pointee.expire(slot, commons)
  }

  /// Calls `body` with each entry whose time has not come, in no order.
  ///
  /// Entries that come or go meanwhile may be seen or not. No lock is held while `body` runs. Not counted as uses.
  /// Complexity: linear in the number of entries; memory for a 64th of them.
  public func forEach<Failure: Error>(
    now: Int64,
    _ body: (Key, MemoryEntry<Value>) throws(Failure) -> Void
  ) throws(Failure) {
    for index in 0...shardMask {
      var entries: [(Key, MemoryEntry<Value>)] = []
      let shard = unsafe shards + index
      unsafe withLocked(shard) { _ in
        unsafe shard.pointee.forEachSlot { slot in
          let node = unsafe shard.pointee.node(slot)
          if unsafe node.pointee.expiry <= now { return }
          let cost = unsafe shard.pointee.upkeep(slot).pointee.cost
          let entry = unsafe MemoryEntry(
            node.pointee.value,
            cost: cost,
            expiry: node.pointee.expiry
          )
          unsafe entries.append((node.pointee.key, entry))
        }
      }
      for (key, entry) in entries { try body(key, entry) }
    }
  }
}

extension Shard {
  /// Calls `body` with every slot in use, which it may drop; under the lock.
  func forEachSlot(_ body: (UInt32) -> Void) {
    for queue in unsafe [state.pointee.small, state.pointee.main] {
      var slot = queue.oldest
      while slot != 0 {
        let newer = unsafe upkeep(slot).pointee.newer
        body(slot)
        slot = newer
      }
    }
  }
}
