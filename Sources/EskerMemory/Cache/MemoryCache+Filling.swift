// A cache in front of a store must not keep a value that the store no longer has. Code that changes the store therefore
// encloses the change:
//
//     let ticket = cache.enterWrite(key); change the store; cache.leaveWrite(ticket)
//
// and code that reads the store to fill the cache takes a ticket first:
//
//     let ticket = cache.beginFill(key); read the store; cache.fill(key, ...ticket)
//
// A fill is admitted if no writer was in flight when it began and none has entered since, so that what it read is what the
// store has. A generation number alone would admit a value that was read after a writer had entered but before it changed
// the store.
extension MemoryCache {
  /// Announces that the caller is about to change the store's value of `key`, and drops the key.
  ///
  /// Until ``leaveWrite(_:)`` no fill of the key's shard is admitted.
  ///
  /// - Parameter releases: Pass false while holding a lock that a value's `deinit` may take: dropped values are then kept
  ///   until the next write to the shard, or ``release(_:)``.
  /// - Returns: what ``leaveWrite(_:number:)`` is to be given.
  @inlinable
  public func enterWrite(_ key: Key, releases: Bool = true) -> WriteTicket {
    let hash = Self.hash(key)
    let shard = shard(hash)
    withLocked(shard, releases: releases) { garbage in
      shard.pointee.fence.enter()
      _ = remove(key, hash, in: shard, garbage)
    }
    return WriteTicket(shard: shards.number(of: shard))
  }

  /// Reports that the change announced by ``enterWrite(_:releases:)`` has been made, or has failed. Once for each ticket.
  ///
  /// - Parameter number: tells this write from all others, for ``fill(_:forKey:ofWrite:cost:expiry:now:)``; not `UInt64.max`. Only for
  ///   writers of which one at a time is between the two calls.
  @inlinable
  public func leaveWrite(_ ticket: WriteTicket, number: UInt64? = nil) {
    shards[ticket.shard].pointee.fence.leave(number)
  }

  /// Begins to fill a key from the store; must be called before the store is read.
  ///
  /// Complexity: constant; takes no lock.
  @inlinable
  public func beginFill(_ key: Key) -> FillTicket {
    shard(Self.hash(key)).pointee.fence.ticket
  }

  /// Keeps a value that was read from the store after `ticket` was taken; returns whether it was kept.
  ///
  /// A value is not kept if a writer may have changed it meanwhile, or if ``put(_:forKey:cost:expiry:version:now:)`` would not keep
  /// it.
  @inlinable
  @discardableResult
  public func fill(
    _ value: Value,
    forKey key: Key,
    cost: Int = 1,
    expiry: Int64 = .max,
    version: UInt64 = 0,
    now: Int64,
    ticket: FillTicket
  ) -> Bool {
    if ticket.hadWriters { return false }
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      guard shard.pointee.fence.admits(ticket) else { return false }
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      let entry = MemoryEntry(value, cost: cost, expiry: expiry, version: version)
      return store(entry, key, hash, slot, in: shard, now: now, &garbage)
    }
  }

  /// Keeps what the write of that number stored, with the number as its version; returns whether it was kept.
  ///
  /// It is not kept if another write to the key's shard was told since or is in flight, or if
  /// ``put(_:forKey:cost:expiry:version:now:)`` would not keep it.
  @inlinable
  @discardableResult
  public func fill(
    _ value: Value,
    forKey key: Key,
    ofWrite number: UInt64,
    cost: Int = 1,
    expiry: Int64 = .max,
    now: Int64
  ) -> Bool {
    let hash = Self.hash(key)
    let shard = shard(hash)
    return withLocked(shard) { garbage in
      guard shard.pointee.fence.isLast(number) else { return false }
      let slot = shard.pointee.slot(of: key, UInt32(truncatingIfNeeded: hash))
      let entry = MemoryEntry(value, cost: cost, expiry: expiry, version: number)
      return store(entry, key, hash, slot, in: shard, now: now, &garbage)
    }
  }
}
