import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct MemoryObserverTests {
  private typealias Change = StorageChange<String, Int>

  @Test func observerHearsEveryChangeWithTheValuesBeforeAndAfter() throws {
    let clock = FakeClock()
    let storage = MemoryStorage<String, Int>(clock: clock.storeClock)
    let heard = Collected<Change>()
    try storage.set(1, forKey: "a")
    let observation = try storage.observe { heard.add($0) }
    try storage.set(2, forKey: "a")
    try storage.update(forKey: "a", default: 0) { $0 += 1 }
    try storage.update(forKey: "none") { $0 = nil }
    try storage.removeValue(forKey: "a")
    try storage.removeValue(forKey: "a")
    try storage.set(4, forKey: "a", expiry: .after(.seconds(1)))
    try storage.set(5, forKey: "b", expiry: .after(.seconds(1)))
    try storage.set(6, forKey: "c", expiry: .after(.seconds(1)))
    try storage.set(7, forKey: "d", expiry: .after(.seconds(1)))
    clock.advance(milliseconds: 1000)
    _ = try storage.value(forKey: "a")
    try storage.set(8, forKey: "b")
    try storage.removeValue(forKey: "c")
    try storage.removeExpired()
    try storage.set(9, forKey: "b", expiry: .at(Date.distantPast))
    try storage.removeAll()
    let expected: [Change] = [
      .set(key: "a", before: 1, after: 2), .set(key: "a", before: 2, after: 3), .removed(key: "a", before: 3),
      .set(key: "a", before: nil, after: 4), .set(key: "b", before: nil, after: 5),
      .set(key: "c", before: nil, after: 6),
      .set(key: "d", before: nil, after: 7), .expired(key: "a", before: 4), .expired(key: "b", before: 5),
      .set(key: "b", before: nil, after: 8), .expired(key: "c", before: 6), .expired(key: "d", before: 7),
      .removed(key: "b", before: 8), .removedAll,
    ]
    #expect(heard.reach(expected.count))
    #expect(heard.all == expected)
    observation.cancel()
    let others = Collected<Change>()
    let other = try storage.observe { others.add($0) }
    try storage.set(9, forKey: "a")
    #expect(others.reach(1))
    #expect(heard.count == expected.count)
    other.cancel()
  }

  @Test func whatMakesRoomIsEvicted() throws {
    let storage = MemoryStorage<String, Int>(limits: MemoryLimits(cost: 10)) { $0 }
    let heard = Collected<Change>()
    let observation = try storage.observe { heard.add($0) }
    try storage.set(6, forKey: "a")
    try storage.set(5, forKey: "b")
    try storage.set(11, forKey: "b")
    try storage.set(12, forKey: "c")
    try storage.set(3, forKey: "d")
    storage.trim(toCount: 0)
    let expected: [Change] = [
      .set(key: "a", before: nil, after: 6), .evicted(key: "a", before: 6), .set(key: "b", before: nil, after: 5),
      .evicted(key: "b", before: 5), .set(key: "d", before: nil, after: 3), .evicted(key: "d", before: 3),
    ]
    #expect(heard.reach(expected.count))
    #expect(heard.all == expected)
    observation.cancel()
  }

  @Test func observerOfOneKeyHearsOnlyOfThatKeyAndMayCallTheStorage() async throws {
    let storage = Storage(MemoryStorage<String, Int>())
    let heard = Collected<Change>()
    let observation = try storage.observe("b") { change in
      heard.add(change)
      if case .set(_, _, let value) = change, value < 5 { try? storage.set(value + 1, forKey: "b") }
    }
    var stream = try storage.changes(forKey: "b").makeAsyncIterator()
    try storage.set(0, forKey: "a")
    try storage.set(4, forKey: "b")
    #expect(heard.reach(2))
    try storage.removeAll()
    #expect(heard.reach(3))
    let expected: [Change] = [.set(key: "b", before: nil, after: 4), .set(key: "b", before: 4, after: 5), .removedAll]
    #expect(heard.all == expected)
    for change in expected { #expect(try await stream.next() == change) }
    observation.cancel()
  }

  /// Several threads do everything at once: what is heard is what the storage holds, and each change takes up where the one
  /// before it left off.
  @Test func whatIsHeardOfManyThreadsIsWhatIsThere() throws {
    var seeds = SeededGenerator(announcedFor: "whatIsHeardOfManyThreadsIsWhatIsThere")
    for round in 0..<20 {
      let clock = FakeClock()
      let storage = MemoryStorage<Int, Int>(
        limits: MemoryLimits(count: round % 2 == 0 ? 20 : 200, cost: 2000),
        clock: clock.storeClock,
        cost: { $0 % 100 }
      )
      let heard = Collected<StorageChange<Int, Int>>()
      let generators = (0..<4).map { _ in seeds.split() }
      let observation = try storage.observe { heard.add($0) }
      onThreads(4) { thread in
        var random = generators[thread]
        for _ in 0..<400 { try? Self.step(storage, clock, &random) }
      }
      try storage.removeExpired()
      try storage.set(1, forKey: -1)
      #expect(eventually { heard.all.last == .set(key: -1, before: nil, after: 1) })
      var contents: [Int: Int] = [:]
      try storage.forEachEntry { key, entry in contents[key] = entry.value }
      #expect(replayed(heard.all, mayLose: true) == contents)
      observation.cancel()
    }
  }

  private static func step(
    _ storage: MemoryStorage<Int, Int>,
    _ clock: FakeClock,
    _ random: inout SeededGenerator
  ) throws {
    let key = Int.random(in: 0..<40, using: &random)
    let value = Int.random(in: 0..<1000, using: &random)
    let expiry: Expiry = random.oneIn(4) ? .after(.milliseconds(Int.random(in: 0..<50, using: &random))) : .never
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<7: try storage.set(value, forKey: key, expiry: expiry)
    case 7..<11: try storage.update(forKey: key, expiry: nil) { $0 = ($0 ?? 0) + 1 }
    case 11..<13: try storage.update(forKey: key, expiry: expiry) { $0 = nil }
    case 13..<15: try storage.removeValue(forKey: key)
    case 15: _ = try storage.value(forKey: key)
    case 16: clock.advance(milliseconds: 7)
    case 17: try storage.removeExpired()
    case 18: storage.trim(toCount: value % 30)
    default: if random.oneIn(5) { try storage.removeAll() }
    }
  }

  @Test func observerThatComesWhileThreadsWriteHearsAllFromThenOn() throws {
    let storage = MemoryStorage<Int, Int>()
    for _ in 0..<50 {
      onThreads(3) { thread in
        if thread == 0 {
          let heard = Collected<StorageChange<Int, Int>>()
          guard let observation = try? storage.observe(1, { heard.add($0) }) else { return }
          for _ in 0..<100 { _ = try? storage.update(forKey: 1, default: 0) { $0 += 1 } }
          #expect(heard.reach(100))
          let values = heard.all.compactMap {
            if case .set(_, let before, let after) = $0 { (before, after) } else { nil }
          }
          for (former, next) in zip(values, values.dropFirst()) { #expect(former.1 == next.0) }
          observation.cancel()
        } else {
          for _ in 0..<100 { _ = try? storage.update(forKey: 1, default: 0) { $0 += 1 } }
        }
      }
    }
    #expect(try storage.value(forKey: 1) == 15_000)
  }
}
