import EskerMemory
import Synchronization
import Testing

@Suite struct VersionTests {
  @Test func aVersionIsKeptWithItsValue() {
    let cache = MemoryCache<Int, String>(limits: MemoryLimits(count: 200))
    for key in 0..<1000 { cache.put("\(key)", forKey: key, version: UInt64(key) + 1, now: 0) }
    // Slots were reused by now, and their chunks hold entries of several ages.
    var seen = 0
    for key in 0..<1000 {
      guard let entry = cache.entry(key, now: 0) else { continue }
      seen += 1
      #expect(entry.value == "\(key)")
      #expect(entry.version == UInt64(key) + 1)
    }
    #expect(seen == cache.count && seen > 0)
    cache.forEach(now: 0) { key, entry in #expect(entry.version == UInt64(key) + 1) }
  }

  @Test func aReplacedValueTakesItsVersionAlong() {
    let cache = MemoryCache<Int, String>()
    cache.put("a", forKey: 1, version: 7, now: 0)
    cache.put("b", forKey: 1, version: 8, now: 0)
    #expect(cache.entry(1, now: 0)?.version == 8)
    cache.put("c", forKey: 1, now: 0)
    #expect(cache.entry(1, now: 0)?.version == 0)
    let ticket = cache.beginFill(1)
    cache.fill("d", forKey: 1, version: 9, now: 0, ticket: ticket)
    #expect(cache.entry(1, now: 0)?.version == 9)
  }

  @Test func anUpdateThatKeepsTheVersionChangesNothing() {
    let cache = MemoryCache<Int, String>()
    cache.put("a", forKey: 1, version: 7, now: 0)
    let told = Mutex(0)
    cache.observe { _ in told.withLock { $0 += 1 } }
    cache.update(1, now: 0) { entry in entry?.value = "b" }
    #expect(cache.get(1, now: 0) == "a")
    #expect(told.withLock { $0 } == 0)
    cache.update(1, now: 0) { entry in entry = entry.map { MemoryEntry("c", expiry: $0.expiry, version: 8) } }
    #expect(cache.entry(1, now: 0)?.value == "c")
    #expect(told.withLock { $0 } == 1)
    // Without versions every update is one.
    cache.update(2, now: 0) { $0 = MemoryEntry("d") }
    cache.update(2, now: 0) { $0?.value = "e" }
    #expect(cache.get(2, now: 0) == "e")
    cache.observe(nil)
  }
}
