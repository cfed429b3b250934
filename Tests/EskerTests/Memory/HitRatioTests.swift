import EskerTestSupport
import Testing

@testable import Esker

/// What calls count in the statistics of memory: each that asks it counts once, in whichever form it is called.
@Suite struct HitRatioTests {
  private typealias Figures = (hits: Int, misses: Int)

  /// What `body` adds to the figures.
  private func counted(
    _ statistics: () -> MemoryStatistics,
    _ body: () async throws -> Void
  ) async throws -> Figures {
    let before = statistics()
    try await body()
    let after = statistics()
    return (after.hits - before.hits, after.misses - before.misses)
  }

  /// Each way to ask for a key, and how many times it counts: for what is there as a hit, for what is not as a miss.
  private func check<S: UpdatableStorage>(
    _ storage: S,
    _ statistics: () -> MemoryStatistics,
    updatesCount: Bool = true
  ) async throws where S.Key == String, S.Value == Int {
    let calls: [(name: String, call: (String) async throws -> Void)] = [
      ("value", { key in _ = try storage.value(forKey: key) }),
      ("entry", { key in _ = try (storage as any ReadableStorage<String, Int>).entry(forKey: key) }),
      ("contains", { key in _ = try storage.contains(key) }),
      ("async value", { key in _ = try await storage.async.value(forKey: key) }),
      ("async values", { key in _ = try await storage.async.values(forKeys: [key]) }),
      ("async contains", { key in _ = try await storage.async.contains(key) }),
    ]
    for (name, call) in calls {
      let there = try await counted(statistics) {
        try storage.set(1, forKey: "there")
        try await call("there")
      }
      #expect(there == (1, 0), "\(name)")
      let absent = try await counted(statistics) { try await call("absent") }
      #expect(absent == (0, 1), "\(name)")
    }
    let produced = try await counted(statistics) {
      _ = try await storage.async.value(forKey: "produced") { 7 }
    }
    #expect(produced == (0, 1))
    let known = try await counted(statistics) {
      _ = try await storage.async.value(forKey: "produced") { 8 }
    }
    #expect(known == (1, 0))
    let expired = try await counted(statistics) { _ = try storage.isExpired(forKey: "absent") }
    #expect(expired == (0, 0))

    let once = updatesCount ? 1 : 0
    let plain = try await counted(statistics) { try storage.update(forKey: "a", default: 0) { $0 += 1 } }
    #expect(plain == (0, once))
    let forTasks = try await counted(statistics) { try await storage.async.update(forKey: "b", default: 0) { $0 += 1 } }
    #expect(forTasks == (0, once))
    // The body runs again after another write, and the second look is not another question.
    var runs = 0
    let again = try await counted(statistics) {
      try storage.update(forKey: "c") { (value: inout Int?) throws(StorageError) in
        runs += 1
        if runs == 1 { try storage.set(5, forKey: "c") }
        value = (value ?? 0) + 1
      }
    }
    #expect(again == (0, once) && runs == 2)
    #expect(try storage.value(forKey: "c") == 6)
  }

  @Test func memoryCountsEachQuestionOnce() async throws {
    let memory = MemoryStorage<String, Int>()
    try await check(memory) { memory.statistics }
  }

  @Test func aFrontCountsEachQuestionOnce() async throws {
    try await withTemporaryStore { store in
      let front = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      try await check(front) { front.statistics }
    }
  }

  /// An update asks the tier that decides: with the back first, that is not memory.
  @Test func memoryInFrontOfAStorageCountsEachQuestionOnce() async throws {
    try await withTemporaryStore { store in
      let memory = MemoryStorage<String, Int>()
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      try await check(memory.combined(with: log), { memory.statistics }, updatesCount: false)
    }
  }

  @Test func memoryBehindAnotherCountsEachQuestionThatComesToIt() async throws {
    try await withTemporaryStore { store in
      let front = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      let both = EmptyStorage<String, Int>().combined(with: front)
      let plain = try await counted({ front.statistics }) { _ = try both.value(forKey: "a") }
      #expect(plain == (0, 1))
      let forTasks = try await counted({ front.statistics }) { _ = try await both.async.value(forKey: "a") }
      #expect(forTasks == (0, 1))
      try front.set(1, forKey: "a")
      let found = try await counted({ front.statistics }) { _ = try await both.async.value(forKey: "a") }
      #expect(found == (1, 0))
    }
  }

  /// Whatever is first has nothing, and the memory behind it is asked once by a task too.
  @Test(arguments: ["not pulled", "led by the front", "fallback"])
  func memoryBehindMemoryCountsOnce(_ composition: String) async throws {
    try await withTemporaryStore { store in
      let first = MemoryStorage<String, Int>()
      let front = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      let read: (String) async throws -> Int? =
        switch composition {
        case "fallback": { try await first.fallback(with: front).async.value(forKey: $0) }
        case "led by the front":
          {
            try await first.combined(with: front, pullStrategy: .neverPull, setStrategy: .frontOnly).async
              .value(forKey: $0)
          }
        default: { try await first.combined(with: front, pullStrategy: .neverPull).async.value(forKey: $0) }
        }
      for _ in 0..<2 {
        let behind = try await counted({ front.statistics }) { _ = try await read("a") }
        #expect(behind == (0, 1))
        let ahead = try await counted({ first.statistics }) { _ = try await read("a") }
        #expect(ahead == (0, 1))
      }
      try front.set(1, forKey: "b")
      var value: Int?
      let found = try await counted({ front.statistics }) { value = try await read("b") }
      #expect(found == (1, 0) && value == 1)
    }
  }

  @Test func producersCountOnceInEachOfTwoFronts() async throws {
    try await withTemporaryStore { store in
      let inner = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      let outer = Storage(inner).mapValues(to: Int.self) {
        $0
      } from: {
        $0
      }.cached()
      // Both have one memory, and each is asked for both keys.
      let produced = try await counted({ inner.statistics }) {
        _ = try await outer.async.value(forKey: "a") { try await outer.async.value(forKey: "b") { 1 } + 1 }
      }
      #expect(produced.misses == 4)
    }
  }

  /// One look of `async.value(forKey:orProduce:)`, and one that the write on a condition takes.
  @Test(arguments: [false, true])
  func aSlowBackIsNotAskedAgainBeforeAValueIsProduced(remembersAbsence: Bool) async throws {
    let asked = Collected<String>()
    let kept = DictionaryStorage<String, Int>()
    let slow = CustomStorage<String, Int>(name: "slow") { key in
      asked.add(key)
      return try kept.value(forKey: key)
    } set: { value, key in
      if let value { try kept.set(value, forKey: key) } else { try kept.removeValue(forKey: key) }
    }
    let front = slow.cached(remembersAbsence: remembersAbsence)
    // Flights of other tests may end during a call, and then the second look is due: only a call without any of them counts.
    var count: Int?
    var number = 0
    while count == nil {
      let (before, landings) = (asked.count, FlightTable.shared.landings)
      #expect(try await front.async.value(forKey: "key \(number)") { 1 } == 1)
      if FlightTable.shared.landings == landings + 1 { count = asked.count - before }
      number += 1
    }
    #expect(count == 2)
  }
}
