import EskerMemory
import EskerTestSupport
import Synchronization
import Testing

/// Caches that share their limits.
@Suite struct PoolTests {
  /// Two caches of different types, which leave their pool at the end.
  private final class Pair: Sendable {
    let pool: MemoryPool
    let numbers: MemoryCache<Int, Int>
    let texts: MemoryCache<String, [Int]>

    init(_ limits: MemoryLimits) {
      pool = MemoryPool(limits: limits)
      numbers = MemoryCache(sharing: pool)
      texts = MemoryCache(sharing: pool)
    }

    deinit {
      numbers.leave()
      texts.leave()
    }
  }

  @Test(arguments: [MemoryLimits(count: 7), MemoryLimits(cost: 50), MemoryLimits(count: 2000, cost: 5000)])
  func theLimitsHoldForAllCachesTogether(limits: MemoryLimits) {
    var random = SeededGenerator(announcedFor: "theLimitsHoldForAllCachesTogether")
    let pair = Pair(limits)
    var (looks, shared) = (0, 0)
    for step in 0..<20_000 {
      let key = Int.random(in: 0..<6000, using: &random)
      let cost = key % 11
      let isNumber = Bool.random(using: &random)
      let isKept =
        isNumber
        ? pair.numbers.put(key, forKey: key, cost: cost, now: 0)
        : pair.texts.put([key], forKey: "\(key)", cost: cost, now: 0)
      #expect(isKept)
      if step % 50 == 0 { pair.numbers.remove(key) }
      let statistics = pair.pool.statistics
      #expect(statistics.count <= limits.count ?? .max && statistics.cost <= limits.cost ?? .max)
      if step % 500 == 499 {
        looks += 1
        if !pair.numbers.entries(now: 0).isEmpty && !pair.texts.entries(now: 0).isEmpty { shared += 1 }
      }
    }
    let held = (pair.numbers.entries(now: 0), pair.texts.entries(now: 0))
    #expect(held.0.count + held.1.count == pair.pool.statistics.count)
    let costs = held.0.values.map(\.cost) + held.1.values.map(\.cost)
    #expect(costs.reduce(0, +) == pair.pool.statistics.cost)
    // Of few entries, all may be of one cache now and then.
    #expect(shared > looks / 2)
  }

  @Test(arguments: [1, 10, 5000])
  func aCacheThatHoldsNothingTakesRoomFromTheOther(count: Int) {
    let pair = Pair(MemoryLimits(count: count))
    for key in 0..<count { pair.numbers.put(key, forKey: key, now: 0) }
    #expect(pair.texts.put([1], forKey: "a", now: 0) && pair.texts.get("a", now: 0) == [1])
    #expect(pair.pool.statistics.count == count && pair.pool.statistics.evictions == 1)
  }

  @Test func aValueAsDearAsTheWholeLimitDrivesOutAllOfTheOther() {
    let pair = Pair(MemoryLimits(cost: 100_000))
    for key in 0..<10_000 { pair.numbers.put(key, forKey: key, cost: 10, now: 0) }
    #expect(pair.texts.put([1], forKey: "a", cost: 100_000, now: 0))
    #expect(pair.pool.statistics.count == 1 && pair.pool.statistics.cost == 100_000)
  }

  @Test(arguments: [100, 4000])
  func aScanOfOneCacheDoesNotDriveOutWhatTheOtherHasInUse(count: Int) {
    let pair = Pair(MemoryLimits(count: count))
    let used = count / 2
    for _ in 0..<3 {
      for key in 0..<used where pair.numbers.get(key, now: 0) == nil { pair.numbers.put(key, forKey: key, now: 0) }
      for key in 0..<count / 4 { pair.texts.put([key], forKey: "once \(key)", now: 0) }
    }
    for key in 0..<4 * count { pair.texts.put([key], forKey: "scan \(key)", now: 0) }
    let left = (0..<used).count { pair.numbers.get($0, now: 0) != nil }
    #expect(left > used * 8 / 10)
  }

  @Test(arguments: [100, 4000])
  func whatIsInUseDrivesOutWhatIsNotWhereverThatIs(count: Int) {
    let pair = Pair(MemoryLimits(count: count))
    for _ in 0..<3 {
      for key in 0..<count where pair.numbers.get(key, now: 0) == nil { pair.numbers.put(key, forKey: key, now: 0) }
    }
    let used = count / 2
    var hits = 0
    for _ in 0..<20 {
      hits = 0
      for key in 0..<used {
        if pair.texts.get("\(key)", now: 0) != nil {
          hits += 1
        } else {
          pair.texts.put([key], forKey: "\(key)", now: 0)
        }
      }
    }
    #expect(hits > used * 9 / 10)
  }

  @Test func narrowerLimitsHoldAtOnceAndWiderOnesChangeNothing() {
    let pair = Pair(MemoryLimits(count: 1000))
    for key in 0..<500 {
      pair.numbers.put(key, forKey: key, cost: 2, now: 0)
      pair.texts.put([key], forKey: "\(key)", cost: 2, now: 0)
    }
    pair.pool.narrow(to: MemoryLimits(count: 5000, cost: 3000))
    #expect(pair.pool.statistics.count == 1000 && pair.pool.limits == MemoryLimits(count: 1000, cost: 3000))
    pair.pool.narrow(to: MemoryLimits(count: 600))
    #expect(pair.pool.statistics.count == 600 && pair.pool.limits.count == 600)
    pair.pool.narrow(to: MemoryLimits(cost: 100))
    #expect(pair.pool.statistics.cost == 100 && pair.pool.limits == MemoryLimits(count: 600, cost: 100))
    pair.numbers.put(1, forKey: -1, cost: 100, now: 0)
    #expect(pair.pool.statistics.count == 1)
  }

  @Test func aCacheThatLeavesGivesBackWhatItDrewAndItsFiguresStay() {
    let pool = MemoryPool(limits: MemoryLimits(count: 10))
    let stays = MemoryCache<Int, Int>(sharing: pool)
    let goes = MemoryCache<Int, Int>(sharing: pool)
    for key in 0..<20 { goes.put(key, forKey: key, expiry: key == 19 ? 5 : .max, now: 0) }
    _ = goes.get(19, now: 0)
    _ = goes.get(19, now: 5)
    let before = pool.statistics
    #expect(before.hits == 1 && before.misses == 1 && before.evictions == 10 && before.expirations == 1)
    goes.leave()
    var after = pool.statistics
    #expect(after.count == 0 && after.cost == 0)
    (after.count, after.cost) = (before.count, before.cost)
    #expect(after == before)
    for key in 0..<10 { #expect(stays.put(key, forKey: key, now: 0)) }
    #expect(pool.statistics.evictions == 10 && pool.statistics.count == 10)
    stays.leave()
  }

  @Test func allCachesAreTrimmedAndEmptiedAlike() {
    let pair = Pair(MemoryLimits(count: 1000))
    for key in 0..<400 {
      pair.numbers.put(key, forKey: key, cost: 2, now: 0)
      pair.texts.put([key], forKey: "\(key)", cost: 2, expiry: key < 10 ? 5 : .max, now: 0)
    }
    #expect(pair.pool.removeExpired(now: 5) == 10)
    pair.pool.trim(toCount: 200)
    #expect(pair.pool.statistics.count == 200)
    #expect(pair.numbers.entries(now: 5).count > 50 && pair.texts.entries(now: 5).count > 50)
    pair.pool.trim(toCost: 100)
    #expect(pair.pool.statistics.cost == 100 && pair.pool.statistics.count == 50)
    pair.numbers.trim(toCount: 0)
    #expect(pair.numbers.entries(now: 5).isEmpty && !pair.texts.entries(now: 5).isEmpty)
    pair.pool.removeAll()
    #expect(pair.pool.statistics.count == 0)
  }

  @Test(arguments: [MemoryLimits(count: 20), MemoryLimits(count: 3000), MemoryLimits(count: 3000, cost: 10_000)])
  func theLimitsHoldWhileThreadsWriteToAllCaches(limits: MemoryLimits) {
    var random = SeededGenerator(announcedFor: "theLimitsHoldWhileThreadsWriteToAllCaches")
    let pair = Pair(limits)
    let faults = Atomic<Int>(0)
    let isDone = Atomic<Bool>(false)
    let writers = (0..<4).map { _ in random.split() }.enumerated().map { thread, seeded in
      { @Sendable in
        var random = seeded
        for step in 0..<20_000 {
          let key = Int.random(in: 0..<8000, using: &random)
          if (step + thread) % 2 == 0 {
            if let value = pair.numbers.get(key, now: 0), value != key { faults.add(1, ordering: .relaxed) }
            pair.numbers.put(key, forKey: key, cost: key % 7, now: 0)
          } else {
            if let value = pair.texts.get("\(key)", now: 0), value != [key] { faults.add(1, ordering: .relaxed) }
            pair.texts.put([key], forKey: "\(key)", cost: key % 5, now: 0)
          }
          if step % 5000 == 4999 { pair.pool.removeAll() }
          // Others come and go meanwhile.
          if step % 1000 == thread * 100 {
            let passing = MemoryCache<Int, String>(sharing: pair.pool)
            for key in 0..<30 { passing.put("\(key)", forKey: key, now: 0) }
            passing.leave()
          }
        }
      }
    }
    let sampler: @Sendable () -> Void = {
      while !isDone.load(ordering: .acquiring) {
        let statistics = pair.pool.statistics
        if statistics.count > limits.count ?? .max || statistics.cost > limits.cost ?? .max {
          faults.add(1, ordering: .relaxed)
        }
      }
    }
    onThreads([
      sampler,
      {
        onThreads(writers)
        isDone.store(true, ordering: .releasing)
      },
    ])
    #expect(faults.load(ordering: .relaxed) == 0)
    let held = pair.numbers.entries(now: 0).count + pair.texts.entries(now: 0).count
    #expect(held == pair.pool.statistics.count)
  }

  @Test func aValueThatDiesForAnotherCacheMayCallBoth() async {
    await #expect(processExitsWith: .success) { callBothFromDyingValues() }
  }
}

private func callBothFromDyingValues() {
  let pool = MemoryPool(limits: MemoryLimits(count: 10))
  let one = MemoryCache<Int, Mortal>(sharing: pool)
  let other = MemoryCache<String, Mortal>(sharing: pool)
  let deaths = Atomic<Int>(0)
  // There is one shard in each, so every call meets the ones that are being changed.
  let atDeath: @Sendable () -> Void = {
    deaths.add(1, ordering: .relaxed)
    _ = one.get(1, now: 0)
    one.put(Mortal {}, forKey: 1, now: 0)
    other.put(Mortal {}, forKey: "1", now: 0)
    other.remove("2")
  }
  for _ in 0..<100 {
    for key in 0..<20 { one.put(Mortal(atDeath), forKey: key, now: 0) }
    for key in 0..<20 { other.put(Mortal(atDeath), forKey: "\(key)", now: 0) }
    pool.trim(toCount: 3)
  }
  precondition(deaths.load(ordering: .relaxed) > 3000)
  pool.removeAll()
  one.leave()
  other.leave()
}
