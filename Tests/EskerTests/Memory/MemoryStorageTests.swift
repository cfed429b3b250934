import Esker
import EskerTestSupport
import Foundation
import Testing

extension FakeClock {
  /// The clock as a store takes it.
  var storeClock: Options.Clock {
    Options.Clock(
      now: { WallTime(millisecondsSince1970: self.wallMilliseconds()) },
      uptimeNanoseconds: { self.monotonicNanoseconds() }
    )
  }
}

@Suite struct MemoryStorageTests {
  @Test func valuesAreKeptReplacedAndRemoved() throws {
    let storage = MemoryStorage<String, Int>()
    #expect(try storage.value(forKey: "a") == nil)
    try storage.set(1, forKey: "a")
    try storage.set(2, forKey: "a")
    let entry = try #require(try storage.entry(forKey: "a"))
    #expect(entry.value == 2 && entry.origin == .memory && entry.expiry == .never && entry.version != nil)
    #expect(try storage.count() == 1 && storage.keys() == ["a"] && storage.values() == [2])
    #expect(try storage.removeValue(forKey: "a") && !storage.removeValue(forKey: "a"))
    try storage.set(3, forKey: "b")
    try storage.removeAll()
    #expect(try storage.count() == 0)
  }

  @Test func limitsHoldAtEveryMoment() throws {
    let few = MemoryStorage<Int, Int>(limits: MemoryLimits(count: 10))
    let light = MemoryStorage<Int, [UInt8]>(limits: MemoryLimits(cost: 100)) { $0.count }
    for key in 0..<100 {
      try few.set(key, forKey: key)
      try light.set([UInt8](repeating: 0, count: 30), forKey: key)
      #expect(try few.count() <= 10)
      #expect(light.statistics.cost <= 100)
    }
    #expect(try few.count() == 10 && light.count() == 3)
    try light.set([UInt8](repeating: 0, count: 101), forKey: 0)
    #expect(try light.value(forKey: 0) == nil)
    few.trim(toCount: 4)
    light.trim(toCost: 40)
    #expect(try few.count() == 4 && light.count() == 1)
  }

  @Test func expiredValueIsAbsentByTheGivenClock() throws {
    let clock = FakeClock()
    let storage = MemoryStorage<String, Int>(clock: clock.storeClock)
    try storage.set(1, forKey: "stays")
    try storage.set(2, forKey: "goes", expiry: .after(.seconds(2)))
    try storage.set(3, forKey: "past", expiry: .at(Date.distantPast))
    #expect(try storage.value(forKey: "past") == nil)
    clock.advance(milliseconds: 1999)
    #expect(try storage.value(forKey: "goes") == 2)
    clock.advance(milliseconds: 1)
    #expect(try storage.value(forKey: "goes") == nil && storage.value(forKey: "stays") == 1)
    try storage.set(2, forKey: "goes", expiry: .after(.seconds(2)))
    clock.advance(milliseconds: 2000)
    #expect(try storage.removeExpired() == 1 && storage.count() == 1)
  }

  @Test func whatNeverExpiresStaysAtTheEndOfTime() throws {
    let clock = FakeClock()
    let storage = MemoryStorage<String, Int>(clock: clock.storeClock)
    try storage.set(1, forKey: "stays")
    try storage.set(2, forKey: "brief", expiry: .after(.seconds(1)))
    clock.setWall(milliseconds: .max)
    #expect(try storage.removeExpired() == 1)
    #expect(try storage.value(forKey: "stays") == 1 && storage.value(forKey: "brief") == nil)
    #expect(try storage.count() == 1 && storage.keys() == ["stays"])
  }

  @Test func updateKeepsTheExpiryAndMayCallTheStorage() throws {
    let clock = FakeClock()
    let storage = MemoryStorage<String, Int>(clock: clock.storeClock)
    try storage.set(1, forKey: "a", expiry: .after(.seconds(2)))
    let before = try storage.update(forKey: "a") { (value: inout Int?) throws(StorageError) in
      defer { value = 5 }
      try storage.set(9, forKey: "b")
      return try storage.value(forKey: "a")
    }
    #expect(before == 1)
    #expect(try storage.value(forKey: "a") == 5 && storage.value(forKey: "b") == 9)
    clock.advance(milliseconds: 2000)
    #expect(try storage.value(forKey: "a") == nil)
    try storage.update(forKey: "b") { (value: inout Int?) throws(StorageError) in value = nil }
    #expect(try storage.value(forKey: "b") == nil)
  }

  @Test func concurrentUpdatesAreAllCounted() throws {
    let storage = MemoryStorage<String, Int>()
    onThreads(4) { _ in
      for _ in 0..<5000 { _ = try? storage.update(forKey: "n", default: 0) { $0 += 1 } }
    }
    #expect(try storage.value(forKey: "n") == 20_000)
  }

  @Test func memoryIsNeverWaitedFor() async throws {
    let storage = MemoryStorage<String, Int>()
    try await storage.async.set(1, forKey: "a")
    guard case .entry = try storage.held("a", StorageRequest.Read()),
      case .absent = try storage.held("b", StorageRequest.Read())
    else {
      Issue.record("memory does not say what it has")
      return
    }
    #expect(try await storage.async.value(forKey: "a") == 1)
    #expect(storage.statistics.hits > 0 && storage.statistics.misses > 0)
  }
}
