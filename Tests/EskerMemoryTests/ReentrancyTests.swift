import EskerMemory
import Synchronization
import Testing

/// Values whose end calls the cache they were in.
///
/// In processes of their own: another test's reader, stopped in the middle of a get, would put the values' end off.
@Suite struct ReentrancyTests {
  @Test func aValueIsReleasedByTheCallThatRemovesIt() async {
    await #expect(processExitsWith: .success) { releaseByEachCall() }
  }

  @Test func aDyingValueMayCallTheCacheItWasIn() async {
    await #expect(processExitsWith: .success) { callFromDyingValues() }
  }

  @Test func whatTheCacheHoldsDiesWithIt() {
    let deaths = Counter()
    do {
      let cache = MemoryCache<Int, Mortal>()
      for key in 0..<1000 { cache.put(Mortal { deaths.increment() }, forKey: key, now: 0) }
      for key in 0..<500 { cache.remove(key) }
    }
    #expect(deaths.value == 1000)
  }
}

private func releaseByEachCall() {
  let cache = MemoryCache<Int, Mortal>(limits: MemoryLimits(count: 2))
  let deaths = Counter()
  func mortal() -> Mortal { Mortal { deaths.increment() } }
  cache.put(mortal(), forKey: 1, now: 0)
  cache.put(mortal(), forKey: 1, now: 0)
  precondition(deaths.value == 1)
  cache.remove(1)
  precondition(deaths.value == 2)
  for key in 0..<5 { cache.put(mortal(), forKey: key, now: 0) }
  precondition(deaths.value == 5)
  cache.removeAll()
  precondition(deaths.value == 7)
  cache.put(mortal(), forKey: 1, expiry: 10, now: 0)
  _ = cache.get(1, now: 10)
  precondition(deaths.value == 8)
  cache.put(mortal(), forKey: 1, now: 0)
  cache.update(1, now: 0) { $0 = nil }
  precondition(deaths.value == 9)
  cache.put(mortal(), forKey: 1, cost: 1, now: 0)
  cache.trim(toCount: 0)
  precondition(deaths.value == 10)
  cache.put(mortal(), forKey: 1, now: 0)
  _ = cache.enterWrite(1)
  precondition(deaths.value == 11)
}

private func callFromDyingValues() {
  let cache = MemoryCache<Int, Mortal>(limits: MemoryLimits(count: 10))
  let deaths = Counter()
  // Each call of the closure uses the very shard that is being changed, as there is only one.
  let atDeath: @Sendable () -> Void = { [unowned cache] in
    deaths.increment()
    _ = cache.get(1, now: 0)
    cache.put(Mortal {}, forKey: 1, now: 0)
    cache.remove(2)
    cache.update(3, now: 0) { $0 = MemoryEntry(Mortal {}) }
    if deaths.value % 7 == 0 { cache.removeAll() }
  }
  for round in 0..<100 {
    for key in 0..<20 { cache.put(Mortal(atDeath), forKey: key, now: 0) }
    cache.put(Mortal(atDeath), forKey: 5, now: 0)
    cache.remove(5)
    cache.update(6, now: 0) { $0 = MemoryEntry(Mortal(atDeath)) }
    cache.update(6, now: 0) { $0 = nil }
    cache.put(Mortal(atDeath), forKey: 7, cost: 1, expiry: 10, now: 0)
    _ = cache.get(7, now: 10)
    cache.trim(toCount: round % 3)
    cache.removeAll()
    cache.put(Mortal(atDeath), forKey: 8, expiry: 10, now: 0)
    cache.removeExpired(now: 10)
  }
  precondition(deaths.value > 2000)
  cache.removeAll()
}

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func increment() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}
