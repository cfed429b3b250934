import EskerPlatform
import Synchronization

// Caches that share limits.
extension MemoryCache {
  /// Removes the cache from its pool: empties it, and returns what it drew.
  ///
  /// A cache created with ``init(sharing:)`` lives until this is called, and must not be used afterwards.
  public func leave() {
    context.pool.leave(self)
    removeAll()
  }

  /// Evicts an entry from one of the caches that share the limits, under the lock of `shard`; false if none could be
  /// evicted.
  ///
  /// Shards with the same number are treated as one: each receives a similar share of the keys in every cache.
  @usableFromInline
  func makeRoomAmongAll(
    _ shard: ShardHandle<Key, Value>,
    _ garbage: inout CacheGarbage<Key, Value>
  ) -> Bool {
    let own = shards.number(of: shard)
    let members = context.pool.members
    // Not released under the lock: it may be the last that holds a cache which has left, with all that is in it.
    defer { garbage.others.append(members) }
    let populations = members.map { $0.population(ofShard: own) }
    let all = populations.reduce(0, +)
    shard.pointee.state.others = max(0, all - shard.pointee.state.count)
    // As long as this cache has no more than its share of new entries, any entry may be evicted.
    if shard.pointee.state.small.count < shard.pointee.smallTarget {
      var lot = shard.pointee.drawLot(below: all)
      for (member, population) in zip(members, populations) {
        if lot < population {
          if member !== self,
            take(member.giveUp(fromShard: own, amongOthers: all - population), &garbage)
          {
            return true
          }
          break
        }
        lot -= population
      }
    }
    if evict(from: shard, garbage) { return true }
    // Never waits for a second lock, since its holder may be waiting for ours.
    for _ in 0..<64 {
      for step in 0...shards.mask {
        let other = (own + step) & shards.mask
        for member in members where !(member === self && other == own) {
          let others = max(0, all - member.population(ofShard: other))
          if take(member.giveUp(fromShard: other, amongOthers: others), &garbage) { return true }
        }
      }
      Platform.yieldThread()
    }
    return false
  }

  private func take(_ given: EvictionResult, _ garbage: inout CacheGarbage<Key, Value>) -> Bool {
    if let others = given.garbage { garbage.others.append(others) }
    return given.hasEvicted
  }
}

extension MemoryCache: PoolMember {
  @usableFromInline
  func population(ofShard shard: Int) -> Int {
    shards[shard].pointee.population.load(ordering: .relaxed)
  }

  @usableFromInline
  func giveUp(fromShard index: Int, amongOthers others: Int) -> EvictionResult {
    var given = EvictionResult()
    let shard = shards[index]
    guard shard.pointee.lock.tryLock() else { return given }
    var garbage = CacheGarbage<Key, Value>()
    shard.pointee.state.others = others
    given.hasEvicted = shard.pointee.evict(context) != 0
    shard.pointee.reclaim(into: &garbage, context.epochs)
    shard.pointee.lock.unlock()
    if garbage.first != nil { given.garbage = garbage }
    return given
  }

  @usableFromInline
  func evictOne(fromShard index: Int) -> Bool {
    let shard = shards[index]
    return withLocked(shard) { garbage in evict(from: shard, garbage) }
  }

  @usableFromInline
  var deeds: MemoryStatistics {
    var deeds = MemoryStatistics()
    (deeds.hits, deeds.misses) = counters.totals
    for shard in 0...shards.mask {
      deeds.evictions += shards[shard].pointee.evictions.load(ordering: .relaxed)
      deeds.expirations += shards[shard].pointee.expirations.load(ordering: .relaxed)
    }
    return deeds
  }
}

extension Shard {
  /// A pseudorandom number below `bound`, which is at least 1; under the lock.
  func drawLot(below bound: Int) -> Int {
    state.lots = state.lots &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state.lots >> 33) % UInt64(max(1, bound)))
  }
}
