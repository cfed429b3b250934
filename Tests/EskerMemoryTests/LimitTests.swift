import EskerMemory
import Testing

@Suite struct LimitTests {
  @Test(arguments: [1, 10, 511, 512, 10_000, 40_000])
  func aCacheForACountHoldsAnySoMany(count: Int) {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: count))
    for key in 0..<count { #expect(cache.put(key, forKey: key, now: 0)) }
    for key in 0..<count { #expect(cache.get(key, now: 0) == key) }
    #expect(cache.statistics.evictions == 0)
    cache.put(-1, forKey: -1, now: 0)
    #expect(cache.count == count)
    #expect(cache.statistics.evictions == 1)
  }

  @Test func aLimitOfZeroKeepsNothing() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: 0))
    #expect(!cache.put(1, forKey: 1, now: 0))
    #expect(cache.get(1, now: 0) == nil)
    cache.update(1, now: 0) { $0 = MemoryEntry(1) }
    #expect(cache.count == 0)
  }

  @Test func aCostLimitOfZeroKeepsWhatCostsNothing() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 0))
    #expect(!cache.put(1, forKey: 1, cost: 1, now: 0))
    #expect(cache.put(2, forKey: 2, cost: 0, now: 0))
    #expect(cache.entries(now: 0).keys.sorted() == [2])
  }

  @Test func negativeLimitsAndCostsCountAsZero() {
    #expect(MemoryLimits(count: -1, cost: -1) == MemoryLimits(count: 0, cost: 0))
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 10))
    #expect(cache.put(1, forKey: 1, cost: -5, now: 0))
    #expect(cache.cost == 0)
  }

  @Test func whatCostsMoreThanTheLimitIsNotKeptAndTakesTheOldValueAlong() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 10))
    #expect(cache.put(1, forKey: 1, cost: 5, now: 0))
    #expect(cache.put(2, forKey: 2, cost: 5, now: 0))
    #expect(!cache.put(3, forKey: 1, cost: 11, now: 0))
    #expect(cache.get(1, now: 0) == nil)
    #expect(cache.get(2, now: 0) == 2)
    #expect(cache.cost == 5)
  }

  @Test func aCostOfIntMaxOverflowsNothing() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 10))
    #expect(!cache.put(1, forKey: 1, cost: .max, now: 0))
    let unlimited = MemoryCache<Int, Int>()
    #expect(unlimited.put(1, forKey: 1, cost: .max, now: 0))
    #expect(unlimited.put(2, forKey: 2, cost: .max, now: 0))
    #expect(unlimited.count == 1)
  }

  @Test func aDearerValueOfTheSameKeyDrivesOutOthersButNotItself() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 10))
    for key in 0..<10 { cache.put(key, forKey: key, cost: 1, now: 0) }
    #expect(cache.put(100, forKey: 3, cost: 8, now: 0))
    #expect(cache.get(3, now: 0) == 100)
    #expect(cache.cost == 10)
    #expect(cache.count == 3)
  }

  @Test func aCheaperValueOfTheSameKeyGivesRoomBack() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 10))
    cache.put(1, forKey: 1, cost: 10, now: 0)
    #expect(cache.put(2, forKey: 1, cost: 4, now: 0))
    #expect(cache.cost == 4)
    #expect(cache.put(3, forKey: 3, cost: 6, now: 0))
    #expect(cache.count == 2)
  }

  @Test func aValueAsDearAsTheWholeLimitDrivesOutAllOfAllShards() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 100_000))
    for key in 0..<10_000 { cache.put(key, forKey: key, cost: 10, now: 0) }
    #expect(cache.put(-1, forKey: -1, cost: 100_000, now: 0))
    #expect(cache.get(-1, now: 0) == -1)
    #expect(cache.count == 1)
    #expect(cache.cost == 100_000)
  }

  @Test func trimmingTakesFromAllShardsAndLeavesTheLimit() {
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(count: 40_000))
    for key in 0..<40_000 { cache.put(key, forKey: key, cost: 2, now: 0) }
    cache.trim(toCount: 1000)
    #expect(cache.count == 1000)
    cache.trim(toCost: 500)
    #expect(cache.cost == 500)
    cache.trim(toCount: -1)
    #expect(cache.count == 0)
    for key in 0..<40_000 { cache.put(key, forKey: key, now: 0) }
    #expect(cache.count == 40_000)
  }
}
