import EskerMemory
import Testing

@Suite struct ExpiryTests {
  @Test func anEntryIsGoneAtItsExpiryAndNotBefore() {
    let cache = MemoryCache<Int, Int>()
    #expect(cache.put(1, forKey: 1, expiry: 100, now: 0))
    #expect(cache.get(1, now: 99) == 1)
    #expect(cache.get(1, now: 100) == nil)
    #expect(cache.count == 0)
    #expect(cache.statistics.expirations == 1)
    #expect(cache.statistics.evictions == 0)
    #expect(cache.statistics.hitRatio == 0.5)
  }

  @Test func anExpiryThatHasPassedIsNotKeptAndTakesTheOldValueAlong() {
    let cache = MemoryCache<Int, Int>()
    cache.put(1, forKey: 1, now: 0)
    #expect(!cache.put(2, forKey: 1, expiry: 5, now: 5))
    #expect(cache.get(1, now: 5) == nil)
  }

  @Test func theLimitsOfTheClockAreInstantsLikeAnyOther() {
    let cache = MemoryCache<Int, Int>()
    #expect(cache.put(1, forKey: 1, expiry: .max, now: .max - 1))
    #expect(cache.get(1, now: .min) == 1)
    #expect(!cache.put(2, forKey: 2, expiry: .min, now: .min))
  }

  @Test func aNewValueBringsANewExpiry() {
    let cache = MemoryCache<Int, Int>()
    cache.put(1, forKey: 1, expiry: 10, now: 0)
    cache.put(2, forKey: 1, expiry: 20, now: 0)
    #expect(cache.get(1, now: 15) == 2)
    cache.put(3, forKey: 1, expiry: 16, now: 15)
    #expect(cache.get(1, now: 16) == nil)
  }

  @Test func removeExpiredFreesWhatNobodyAsksFor() {
    let cache = MemoryCache<Int, Int>()
    for key in 0..<1000 { cache.put(key, forKey: key, expiry: Int64(key), now: -1) }
    #expect(cache.removeExpired(now: 499) == 500)
    #expect(cache.count == 500)
    #expect(cache.removeExpired(now: 499) == 0)
    #expect(cache.entries(now: 899).count == 100)
    #expect(cache.statistics.expirations == 500)
  }

  @Test func updateDoesNotSeeAnExpiredEntry() {
    let cache = MemoryCache<Int, Int>()
    cache.put(1, forKey: 1, expiry: 10, now: 0)
    cache.update(1, now: 10) { entry in
      #expect(entry?.value == nil)
      entry = MemoryEntry(2)
    }
    #expect(cache.get(1, now: 10) == 2)
    #expect(cache.count == 1)
  }
}
