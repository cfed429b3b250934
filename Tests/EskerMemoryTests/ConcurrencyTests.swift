import EskerMemory
import EskerTestSupport
import Synchronization
import Testing

/// Several threads at once. A value names its key, so that a reader sees when it got another's.
@Suite struct ConcurrencyTests {
  private final class Boxed: Sendable {
    let key: Int
    init(_ key: Int) { self.key = key }
  }

  private final class Flag: Sendable {
    private let isSet = Atomic<Bool>(false)
    var value: Bool { isSet.load(ordering: .acquiring) }
    func set() { isSet.store(true, ordering: .releasing) }
  }

  /// Counts what went wrong on other threads, where an expectation would not know its test.
  private final class Faults: Sendable {
    private let faults = Atomic<Int>(0)
    var count: Int { faults.load(ordering: .acquiring) }
    func check(_ isRight: Bool) {
      if !isRight { faults.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    }
  }

  @Test(arguments: [MemoryLimits(count: 50), MemoryLimits(count: 5000), MemoryLimits(count: 3000, cost: 10_000)])
  func theLimitsHoldWhileFourThreadsWriteAndReadersSeeNoOthersValue(limits: MemoryLimits) {
    var random = SeededGenerator(announcedFor: "theLimitsHoldWhileFourThreadsWriteAndReadersSeeNoOthersValue")
    let cache = MemoryCache<Int, Boxed>(limits: limits)
    let done = Flag()
    let faults = Faults()
    let writers = (0..<4).map { _ in random.split() }.map { seeded in
      { @Sendable in
        var random = seeded
        for step in 0..<30_000 {
          let key = Int.random(in: 0..<8000, using: &random)
          switch step % 16 {
          case 0: cache.remove(key)
          case 1: cache.update(key, now: 0) { $0 = MemoryEntry(Boxed(key), cost: 5) }
          case 2..<10:
            if let boxed = cache.get(key, now: Int64(step)) { faults.check(boxed.key == key) }
          default:
            let expiry: Int64 = step % 16 == 15 ? Int64(step + 50) : .max
            cache.put(Boxed(key), forKey: key, cost: key % 7, expiry: expiry, now: Int64(step))
          }
          if step % 10_000 == 9_999 { cache.removeAll() }
        }
      }
    }
    let sampler: @Sendable () -> Void = {
      while !done.value {
        faults.check(cache.count <= limits.count ?? .max)
        faults.check(cache.cost <= limits.cost ?? .max)
        var key = 0
        while key < 8000 {
          if let boxed = cache.get(key, now: 0) { faults.check(boxed.key == key) }
          key += 97
        }
      }
    }
    onThreads([
      sampler,
      {
        onThreads(writers)
        done.set()
      },
    ])
    #expect(faults.count == 0)
    let entries = cache.entries(now: .min)
    #expect(entries.count == cache.count)
    #expect(entries.values.reduce(0) { $0 + $1.cost } == cache.cost)
    for (key, entry) in entries { #expect(entry.value.key == key) }
  }

  @Test func anEntryThatStaysIsFoundWhileOthersComeAndGo() {
    // So low a limit makes one shard, and what costs nothing makes it large: its chains take long to rebuild.
    let cache = MemoryCache<Int, Int>(limits: MemoryLimits(cost: 1))
    for key in 0..<200 { cache.put(key, forKey: key, cost: 0, now: 0) }
    let done = Flag()
    let faults = Faults()
    let reader: @Sendable () -> Void = {
      while !done.value {
        for key in 0..<200 { faults.check(cache.get(key, now: 0) == key) }
      }
    }
    onThreads([
      reader, reader,
      {
        // The chains are rebuilt while the number grows, and linked anew by each removal and replacement.
        for round in 0..<3 {
          for key in 200..<40_000 { cache.put(key, forKey: key, cost: 0, now: 0) }
          for key in 0..<200 { cache.put(key, forKey: key, cost: 0, now: 0) }
          for key in 200..<40_000 where key % 3 == round { cache.remove(key) }
        }
        done.set()
      },
    ])
    #expect(faults.count == 0)
  }

  @Test func twentyThousandUpdatesAddUp() {
    let cache = MemoryCache<String, Int>()
    let bodies = (0..<8).map { _ in
      { @Sendable in
        for _ in 0..<2500 {
          cache.update("sum", now: 0) { $0 = MemoryEntry(($0?.value ?? 0) + 1) }
        }
      }
    }
    onThreads(bodies)
    #expect(cache.get("sum", now: 0) == 20_000)
  }

  @Test func hitsAndMissesOfAllThreadsAddUp() {
    let cache = MemoryCache<Int, Int>()
    cache.put(1, forKey: 1, now: 0)
    let bodies = (0..<24).map { _ in
      { @Sendable in
        for key in 0..<3000 { _ = cache.get(key % 3, now: 0) }
      }
    }
    onThreads(bodies)
    #expect(cache.statistics.hits == 24_000)
    #expect(cache.statistics.misses == 48_000)
  }

  @Test func removingAllWhileOthersReadFreesEverythingOnce() {
    let cache = MemoryCache<Int, Boxed>()
    let done = Flag()
    let faults = Faults()
    let reader: @Sendable () -> Void = {
      while !done.value {
        for key in 0..<500 { if let boxed = cache.get(key, now: 0) { faults.check(boxed.key == key) } }
      }
    }
    onThreads([
      reader, reader,
      {
        for _ in 0..<100 {
          for key in 0..<500 { cache.put(Boxed(key), forKey: key, now: 0) }
          cache.removeAll()
          faults.check(cache.count == 0)
        }
        done.set()
      },
    ])
    #expect(faults.count == 0)
  }
}
