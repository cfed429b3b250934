import Esker
import Testing

/// All fronts of a keyspace share one memory.
@Suite struct SharedFrontTests {
  private let unsigned = Transformer<UInt64>.littleEndian

  @Test func viewsOfOtherValuesShareTheLimits() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: Int.self, of: Int64.self)
      let numbers = HybridStorage(log, limits: MemoryLimits(count: 10))
      let bits = numbers.transform(to: unsigned)
      let erased = try Storage(numbers).transform(to: unsigned)
      for key in 0..<30 {
        try numbers.set(Int64(key), forKey: key)
        #expect(try bits.value(forKey: key) == UInt64(key) && erased.value(forKey: key) == UInt64(key))
        #expect(numbers.statistics.count <= 10)
      }
      #expect(numbers.statistics == bits.statistics && bits.limits == MemoryLimits(count: 10))
      #expect(numbers.statistics.count == 10 && numbers.statistics.evictions == 80)
      // The one that came last is in all three.
      #expect(try numbers.entry(forKey: 29)?.origin == .memory && bits.entry(forKey: 29)?.origin == .memory)
      #expect(try erased.entry(forKey: 29)?.origin == .memory)
    }
  }

  @Test func eachViewCountsTheCostOfItsValuesTowardsTheSameLimit() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: Int.self, of: Int64.self)
      let numbers = HybridStorage(log, limits: MemoryLimits(cost: 100)) { _ in 10 }
      let bits = numbers.transform(to: unsigned) { _ in 30 }
      for key in 0..<5 { try numbers.set(Int64(key), forKey: key) }
      #expect(numbers.statistics.cost == 50)
      #expect(try bits.value(forKey: 0) == 0)
      #expect(bits.statistics.cost == 80)
      for key in 0..<5 { _ = try bits.value(forKey: key) }
      #expect(bits.statistics.cost <= 100 && bits.statistics.cost > 70)
    }
  }

  @Test func allFrontsOfAKeyspaceHoldWhatTheNarrowestLimitsAllow() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: Int.self, of: Int.self)
      let wide = HybridStorage(log, limits: MemoryLimits(count: 100))
      for key in 0..<100 { try wide.set(key, forKey: key) }
      do {
        let unlimited = HybridStorage(Storage(log))
        #expect(unlimited.limits == MemoryLimits(count: 100))
        let narrow = HybridStorage(log, limits: MemoryLimits(count: 20, cost: 50))
        #expect(wide.limits == MemoryLimits(count: 20, cost: 50) && wide.statistics.count == 20)
        for key in 0..<100 { _ = try narrow.value(forKey: key) }
        #expect(unlimited.statistics.count == 20)
      }
      let other = HybridStorage(try LogStorage(store, "other", key: Int.self, of: Int.self))
      #expect(other.limits == MemoryLimits() && other.statistics.count == 0)
    }
  }

  @Test func limitsGoWithTheLastFront() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: Int.self, of: Int.self)
      do {
        let first = HybridStorage(log, limits: MemoryLimits(count: 3))
        for key in 0..<10 { try first.set(key, forKey: key) }
      }
      let second = HybridStorage(log, limits: MemoryLimits(count: 50))
      #expect(second.limits.count == 50 && second.statistics.count == 0)
    }
  }

  @Test func frontThatIsGoneLeavesItsRoomToTheOthers() throws {
    try withTemporaryStore { store in
      let numbers = HybridStorage(
        try LogStorage(store, "n", key: Int.self, of: Int64.self),
        limits: MemoryLimits(count: 10)
      )
      do {
        let bits = numbers.transform(to: unsigned)
        for key in 0..<10 { try bits.set(UInt64(key), forKey: key) }
        #expect(numbers.statistics.count == 10)
      }
      #expect(numbers.statistics.count == 0)
      for key in 0..<10 { try numbers.set(Int64(key), forKey: key) }
      #expect(numbers.statistics.count == 10 && numbers.statistics.evictions == 0)
    }
  }

  @Test func whatIsDroppedFromMemoryIsDroppedForAllViews() throws {
    try withTemporaryStore { store in
      let numbers = HybridStorage(try LogStorage(store, "n", key: Int.self, of: Int64.self))
      let bits = numbers.transform(to: unsigned)
      func fill() throws {
        for key in 0..<4 {
          try numbers.set(Int64(key), forKey: key)
          _ = try bits.value(forKey: key)
        }
        #expect(bits.statistics.count == 8)
      }
      try fill()
      numbers.removeInMemory(forKey: 1)
      #expect(try bits.statistics.count == 6 && bits.entry(forKey: 1)?.origin == .log)
      try fill()
      bits.trim(toCount: 3)
      #expect(numbers.statistics.count == 3)
      try fill()
      bits.trim(toCost: 2)
      #expect(numbers.statistics.cost == 2)
      try fill()
      bits.removeAllInMemory()
      #expect(numbers.statistics.count == 0)
    }
  }
}
