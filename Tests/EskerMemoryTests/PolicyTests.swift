import EskerMemory
import Testing

/// What stays. The traces' hit ratios are the benchmark's; these are the cases each part of the policy is there for.
@Suite struct PolicyTests {
  @Test func whatIsUsedOutlivesAScan() {
    let cache = filled(count: 200)
    for round in 0..<20 {
      for key in 0..<100 { _ = get(cache, key) }
      for key in 0..<100 { _ = get(cache, 10_000 + 100 * round + key) }
    }
    var hits = 0
    for key in 0..<100 where cache.get(key, now: 0) != nil { hits += 1 }
    #expect(hits > 95)
  }

  @Test func aLoopLongerThanTheCacheStillHits() {
    let cache = filled(count: 200)
    var hits = 0
    for _ in 0..<20 {
      for key in 0..<400 where get(cache, key) { hits += 1 }
    }
    // LRU has none at all.
    #expect(hits > 20 * 400 / 20)
  }

  @Test func whatComesBackAfterItsEvictionIsKept() {
    let cache = filled(count: 200)
    // Each pair is asked for again after 150 others: too late for the small queue, early enough for the memory.
    var hits = 0
    for round in 0..<40 {
      for key in 0..<50 where get(cache, key) { hits += 1 }
      for key in 0..<150 { _ = get(cache, 10_000 + 150 * round + key) }
    }
    #expect(hits > 35 * 50)
  }

  @Test func aChangedWorkingSetIsTakenUp() {
    let cache = filled(count: 200)
    for _ in 0..<50 { for key in 0..<150 { _ = get(cache, key) } }
    for _ in 0..<20 { for key in 1000..<1150 { _ = get(cache, key) } }
    var hits = 0
    for key in 1000..<1150 where get(cache, key) { hits += 1 }
    #expect(hits > 140)
  }

  private func filled(count: Int) -> MemoryCache<Int, Int> {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: count))
    for key in 0..<count { cache.put(key, forKey: -1 - key, now: 0) }
    return cache
  }

  /// True if the key was there; puts it there if not.
  private func get(_ cache: MemoryCache<Int, Int>, _ key: Int) -> Bool {
    if cache.get(key, now: 0) != nil { return true }
    cache.put(key, forKey: key, now: 0)
    return false
  }
}
