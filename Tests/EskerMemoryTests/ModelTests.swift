import EskerMemory
import EskerTestSupport
import Testing

/// The cache against a dictionary that forgets nothing.
@Suite struct ModelTests {
  @Test func withoutLimitsItHoldsWhatADictionaryHolds() {
    var random = SeededGenerator(announcedFor: "withoutLimitsItHoldsWhatADictionaryHolds")
    var run = ModelRun<Int>(limits: MemoryLimits()) { $0 }
    for step in 0..<60_000 { run.step(step, &random, keyCount: 3000, isExact: true) }
    run.compareAll()
  }

  @Test func keysOfOneHashAreToldApart() {
    var random = SeededGenerator(announcedFor: "keysOfOneHashAreToldApart")
    var run = ModelRun<CollidingKey>(limits: MemoryLimits()) { CollidingKey(number: $0) }
    for step in 0..<10_000 { run.step(step, &random, keyCount: 40, isExact: true) }
    run.compareAll()
  }

  @Test(arguments: [
    MemoryLimits(count: 1), MemoryLimits(count: 7), MemoryLimits(count: 1000), MemoryLimits(cost: 50),
    MemoryLimits(cost: 5000), MemoryLimits(count: 100, cost: 700), MemoryLimits(count: 0), MemoryLimits(cost: 0),
  ])
  func withLimitsItHoldsNothingElseAndNeverTooMuch(limits: MemoryLimits) {
    var random = SeededGenerator(announcedFor: "withLimitsItHoldsNothingElseAndNeverTooMuch")
    var run = ModelRun<String>(limits: limits) { "key\($0)" }
    for step in 0..<30_000 { run.step(step, &random, keyCount: 2000, isExact: false) }
  }
}

/// A cache and what it may hold, step by step.
private struct ModelRun<Key: Hashable & Sendable> {
  private let cache: MemoryCache<Key, Int>
  private let key: (Int) -> Key
  private var model: [Key: MemoryEntry<Int>] = [:]
  private var now: Int64 = 1000
  private var gets = 0

  init(limits: MemoryLimits, key: @escaping (Int) -> Key) {
    cache = MemoryCache(limits: limits)
    self.key = key
  }

  mutating func step(_ step: Int, _ random: inout SeededGenerator, keyCount: Int, isExact: Bool) {
    let key = key(Int.random(in: 0..<keyCount, using: &random))
    let cost = Int.random(in: 0...9, using: &random)
    let expiry: Int64 = random.oneIn(3) ? now + Int64.random(in: -1...300, using: &random) : .max
    if let entry = model[key], entry.expiry <= now { model[key] = nil }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40:
      gets += 1
      let value = cache.get(key, now: now)
      if isExact || value != nil { #expect(value == model[key]?.value) }
    case 40..<70:
      let isKept = cache.put(step, forKey: key, cost: cost, expiry: expiry, now: now)
      model[key] = isKept ? MemoryEntry(step, cost: cost, expiry: expiry) : nil
      if isExact { #expect(isKept == (expiry > now)) }
      // What was just kept is there.
      gets += 1
      #expect(cache.get(key, now: now) == (isKept ? step : nil))
    case 70..<80:
      let expected = model.removeValue(forKey: key)
      let wasThere = cache.remove(key)
      if isExact && expected != nil { #expect(wasThere) }
    case 80..<92:
      let isRemoved = random.oneIn(4)
      cache.update(key, now: now) { entry in
        if isExact || entry != nil { #expect(entry?.value == model[key]?.value) }
        entry = isRemoved ? nil : MemoryEntry((entry?.value ?? 0) &+ step, cost: cost, expiry: expiry)
        model[key] = entry
      }
      if expiry <= now { model[key] = nil }
    case 92..<97:
      now += Int64.random(in: 0...40, using: &random)
    case 97:
      let removed = cache.removeExpired(now: now)
      if isExact { #expect(removed >= 0) }
      model = model.filter { $0.value.expiry > now }
      if isExact { #expect(cache.count == model.count) }
    case 98:
      if isExact { break }
      let count = Int.random(in: 0...100, using: &random)
      let cost = Int.random(in: 0...500, using: &random)
      cache.trim(toCount: count)
      #expect(cache.count <= count)
      cache.trim(toCost: cost)
      #expect(cache.cost <= cost)
    default:
      if random.oneIn(10) {
        cache.removeAll()
        model = [:]
        #expect(cache.count == 0 && cache.cost == 0)
      }
    }
    #expect(cache.count <= cache.limits.count ?? .max)
    #expect(cache.cost <= cache.limits.cost ?? .max)
    #expect(cache.statistics.hits + cache.statistics.misses == gets)
    if step % 1000 == 0 {
      let entries = cache.entries(now: .min)
      #expect(entries.count == cache.count)
      #expect(entries.values.reduce(0) { $0 + $1.cost } == cache.cost)
    }
  }

  func compareAll() {
    let entries = cache.entries(now: now)
    let expected = model.filter { $0.value.expiry > now }
    #expect(entries.mapValues(\.value) == expected.mapValues(\.value))
    #expect(entries.mapValues(\.cost) == expected.mapValues(\.cost))
    #expect(entries.mapValues(\.expiry) == expected.mapValues(\.expiry))
  }
}
