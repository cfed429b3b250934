import Esker
import EskerTestSupport
import Foundation
import Testing

/// What fails, is cancelled or cannot be read leaves no tier with something that is not so.
@Suite struct TierFailureTests {
  private let front = DictionaryStorage(["a": 5], name: "front")
  private let back = DictionaryStorage(["a": 1], name: "back")

  @Test func aFrontThatCannotBeReadIsNotOverwritten() async throws {
    let backed = front.backed(by: back)
    front.refuse(reads: true)
    #expect(try backed.value(forKey: "a") == 1)
    front.refuse()
    #expect(front.all == ["a": 5])
    // Nor by a task that is cancelled before it has read.
    let slow = DictionaryStorage(["a": 5], mayBlock: true)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await slow.mapValues(to: Int.self) {
        $0
      } from: {
        $0
      }.backed(by: back).async.value(forKey: "z")
    }
    await #expect(throws: StorageError.self) { try await task.value }
    #expect(slow.all == ["a": 5])
  }

  @Test(arguments: [TierPolicy.Set.backFirst, .frontFirst])
  func aWriteThatIsCancelledBetweenTheTiersReachesBoth(strategy: TierPolicy.Set) async throws {
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = HookedStorage(DictionaryStorage(["a": 1]))
    let memory = MemoryStorage<String, Int>()
    try memory.set(1, forKey: "a")
    let hold = {
      began.signal()
      goOn.wait()
    }
    let task: Task<Void, any Error>
    if strategy == .backFirst {
      first.onceBeforeSet(hold)
      let both = memory.combined(with: first)
      task = Task { try await both.async.set(2, forKey: "a") }
    } else {
      first.onceBeforeSet(hold)
      let both = first.combined(with: memory, setStrategy: .frontFirst)
      task = Task { try await both.async.set(2, forKey: "a") }
    }
    await onADispatchThread { began.wait() }
    task.cancel()
    goOn.signal()
    try await task.value
    #expect(try memory.value(forKey: "a") == 2 && first.base.all == ["a": 2])
  }

  @Test func aCancelledReadIsNotAnsweredByAFallbackAndNothingMadeIsKept() async throws {
    let base = DictionaryStorage(["a": 1], mayBlock: true)
    let made = Collected<String>()
    let front = base.fallback { key, _ in
      made.add(key)
      return -1
    }.cached()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await front.async.value(forKey: "z")
    }
    await #expect(throws: StorageError.self) { try await task.value }
    #expect(made.all == [])
    #expect(try front.value(forKey: "z") == -1)
    // Past the front, which is not told: it has kept nothing.
    try base.set(7, forKey: "z")
    #expect(try front.value(forKey: "z") == 7)
    base.refuse(reads: true)
    #expect(try base.fallback(with: DictionaryStorage(["q": 3])).cached().value(forKey: "q") == 3)
    let safe = base.fallback(with: DictionaryStorage(["q": 3])).cached()
    #expect(try safe.value(forKey: "q") == 3)
    base.refuse()
    try base.set(4, forKey: "q")
    #expect(try safe.value(forKey: "q") == 4)
  }

  @Test func anUpdateOfWhatCannotBeReadThrows() throws {
    let strict = back.validate { $0 > 1 }
    for storage in [
      PartialStorage(strict.fallback { _, _ in 9 }), PartialStorage(strict.fallback(with: DictionaryStorage(["a": 3]))),
      PartialStorage(strict.backed(by: DictionaryStorage(["a": 3]))),
    ] {
      guard case .rejected = failure(of: { try storage.update(forKey: "a", default: 0) { $0 += 1 } }) else {
        Issue.record("another error")
        return
      }
    }
    #expect(back.all == ["a": 1])
  }

  @Test func aBackThatFailsMayHaveWrittenSoTheFrontLetsGo() throws {
    let both = front.combined(with: back)
    #expect(try both.value(forKey: "a") == 5)
    back.refuse(writes: true)
    _ = failure { try both.set(2, forKey: "a") }
    #expect(front.all.isEmpty)
  }

  @Test func aFrontThatFailsMayHaveWrittenSoItLetsGo() throws {
    let both = DoubtfulStorage(front).combined(with: back, setStrategy: .frontFirst)
    guard case .back = failure(of: { try both.set(2, forKey: "a") }) else {
      Issue.record("another error")
      return
    }
    #expect(front.all.isEmpty && back.all == ["a": 1])
    #expect(try both.value(forKey: "a") == 1)
  }

  @Test func aBackThatFailsToEmptyItselfMayHaveDoneSo() throws {
    let both = front.combined(with: DoubtfulStorage(back))
    _ = failure { try both.removeAll() }
    #expect(back.all.isEmpty && front.all.isEmpty)
    // The front decides: what it has is there.
    try front.set(5, forKey: "a")
    _ = failure { try front.pushing(to: DoubtfulStorage(back)).removeAll() }
    #expect(front.all == ["a": 5])
  }

  @Test(arguments: [TierPolicy.Set.backFirst, .backOnly])
  func aWriteThatTheBackCannotHaveBegunLeavesTheFront(strategy: TierPolicy.Set) async throws {
    let strict = back.validate { $0 < 10 }
    let both = front.combined(with: strict, setStrategy: strategy)
    _ = failure { try both.set(20, forKey: "a") }
    #expect(front.all == ["a": 5] && back.all == ["a": 1])
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await both.async.set(2, forKey: "a")
    }
    await #expect(throws: StorageError.self) { try await task.value }
    #expect(front.all == ["a": 5] && back.all == ["a": 1])
  }

  @Test func aBackThatKeepsWhatItsOwnBackRefusedIsNotHidden() throws {
    let log = DictionaryStorage(["a": 1], name: "log")
    let pushing = log.pushing(to: back.validate { $0 < 10 })
    let both = front.combined(with: pushing)
    guard case .back("back", .rejected as StorageError) = failure(of: { try both.set(20, forKey: "a") }) else {
      Issue.record("another error")
      return
    }
    #expect(log.all == ["a": 20] && back.all == ["a": 1])
    #expect(try both.value(forKey: "a") == 20)
  }

  @Test func whatIsMadeForTheOccasionIsInNoTier() async throws {
    let backed = front.backed(by: back.defaulting(to: 7))
    #expect(try backed.value(forKey: "z") == 7)
    #expect(try await backed.async.value(forKey: "y") == 7)
    #expect(try front.combined(with: back.fallback { _, _ in 8 }).value(forKey: "x") == 8)
    #expect(front.all == ["a": 5])
  }

  @Test func whatStandsInForAFrontThatFailsIsNotKept() async throws {
    let cached = front.backed(by: back).cached()
    front.refuse(reads: true)
    #expect(try cached.value(forKey: "a") == 1)
    front.refuse()
    #expect(try cached.value(forKey: "a") == 5)
    let slow = HookedStorage(DictionaryStorage(["a": 5]))
    let other = slow.backed(by: back).cached()
    slow.base.refuse(reads: true)
    #expect(try await other.async.value(forKey: "a") == 1)
    slow.base.refuse()
    #expect(try await other.async.value(forKey: "a") == 5)
  }

  @Test func whatIsFreshBehindIsBetterThanWhatIsExpiredInFront() async throws {
    let clock = FakeClock()
    let front = MemoryStorage<String, Int>(clock: clock.storeClock)
    for storage in [
      PartialStorage(front.backed(by: back)), PartialStorage(front.fallback(with: back)),
    ] {
      try front.set(5, forKey: "a", expiry: .after(.seconds(1)))
      try front.set(6, forKey: "b", expiry: .after(.seconds(1)))
      clock.advance(milliseconds: 1000)
      #expect(try await storage.async.entry(forKey: "a", allowExpired: true)?.value == 1)
      try front.set(5, forKey: "a", expiry: .after(.seconds(1)))
      clock.advance(milliseconds: 1000)
      #expect(try storage.entry(forKey: "a", allowExpired: true)?.value == 1)
      #expect(try storage.entry(forKey: "b", allowExpired: true)?.value == 6)
      try front.removeAll()
    }
  }

  @Test(arguments: [TierPolicy.Set.backFirst, .frontFirst])
  func aFrontsOwnExpiryHoldsForWhatNeverExpiresBehind(strategy: TierPolicy.Set) throws {
    let clock = FakeClock()
    let front = MemoryStorage<String, Int>(defaultExpiry: .after(.seconds(60)), clock: clock.storeClock)
    let both = front.combined(with: back, setStrategy: strategy)
    _ = try both.value(forKey: "a")
    try both.set(2, forKey: "b")
    #expect(try front.value(forKey: "a") == 1 && front.value(forKey: "b") == 2)
    clock.advance(milliseconds: 59_000)
    #expect(try both.persist("b"))
    clock.advance(milliseconds: 1000)
    #expect(try front.value(forKey: "a") == nil)
    #expect(try both.value(forKey: "a") == 1)
    clock.advance(milliseconds: 60_000)
    #expect(try front.value(forKey: "b") == nil && both.value(forKey: "b") == 2)
    // What expires behind does so in front.
    try both.set(3, forKey: "c", expiry: .after(.seconds(30)))
    clock.advance(milliseconds: 30_000)
    #expect(try front.value(forKey: "c") == nil)
  }

  @Test func tasksFillTheFrontWithWhatTheBackHasInMemory() async throws {
    let both = DictionaryStorage<String, Int>().combined(with: back)
    #expect(try await both.async.value(forKey: "a") == 1)
    #expect(both.front.all == ["a": 1])
  }

  @Test func valuesAreComparedWhereTheyLast() throws {
    let both = DictionaryStorage<String, Int>().combined(with: back)
    #expect(try both.value(forKey: "a") == 1)
    let version = try #require(try both.entry(forKey: "a")?.version)
    #expect(try both.compareAndSet(2, forKey: "a", ifVersion: version) != nil)
    #expect(try both.compareAndSet(3, forKey: "a", ifVersion: version) == nil)
    #expect(back.all == ["a": 2])
  }

  @Test func aCombinationMayBeTheFrontOfAnother() throws {
    let nested = DictionaryStorage<String, Int>().combined(with: DictionaryStorage<String, Int>()).combined(with: back)
    #expect(try nested.value(forKey: "a") == 1 && nested.value(forKey: "a") == 1)
    #expect(back.reads == 1)
  }

  @Test func tiersOfOtherDefaultsDoNotOutliveEachOther() throws {
    let clock = FakeClock()
    let short = MemoryStorage<String, Int>(defaultExpiry: .after(.seconds(1)), clock: clock.storeClock)
    let long = MemoryStorage<String, Int>(clock: clock.storeClock)
    let both = long.combined(with: short, setStrategy: .frontFirst)
    try both.set(1, forKey: "a")
    clock.advance(milliseconds: 1000)
    #expect(try both.value(forKey: "a") == nil)
    // A sliding read leaves the front what it has.
    let front = MemoryStorage<String, Int>(clock: clock.storeClock)
    let sliding = front.combined(with: short)
    try sliding.set(1, forKey: "b", expiry: .after(.seconds(8)))
    clock.advance(milliseconds: 4000)
    #expect(try sliding.value(forKey: "b", extendingBy: .seconds(8)) == 1)
    clock.advance(milliseconds: 5000)
    #expect(try front.value(forKey: "b") == 1 && short.value(forKey: "b") == 1)
  }

  // MARK: Fronts and batches

  @Test func aFrontOverAFrontIsToldToo() throws {
    try withTemporaryStore { store in
      let users = try store.storage("users", of: Int.self, memory: MemoryLimits(count: 10))
      let outer = users.cached()
      let mapped = users.mapValues(to: Int.self) {
        $0 * 10
      } from: {
        $0 / 10
      }.cached()
      try outer.set(1, forKey: "a")
      #expect(try outer.value(forKey: "a") == 1 && mapped.value(forKey: "a") == 10)
      try users.set(2, forKey: "a")
      #expect(try outer.value(forKey: "a") == 2 && mapped.value(forKey: "a") == 20)
      try store.write { batch in try batch.set(3, forKey: "a", in: outer) }
      #expect(try outer.value(forKey: "a") == 3 && mapped.value(forKey: "a") == 30)
      // Keys that are turned are not those that the log tells of.
      let turned = users.mapKeys(to: String.self) {
        $0.lowercased()
      } back: {
        $0
      }
      guard
        case .unsupported = failure(of: {
          try store.write { batch in try batch.set(4, forKey: "A", in: turned.cached()) }
        }), case .unsupported = failure(of: { try Storage(turned).transform(to: .utf8) })
      else {
        Issue.record("another error")
        return
      }
    }
  }

  @Test func aWriteWhoseConditionDoesNotHoldLeavesMemoryAsItIs() throws {
    try withTemporaryStore { store in
      let front = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      try front.set(1, forKey: "a")
      #expect(try !front.setIfAbsent(2, forKey: "a"))
      #expect(try front.entry(forKey: "a")?.origin == .memory)
    }
  }

  @Test func aBatchTakesStoragesOfItsOwnStoreOnly() throws {
    try withTemporaryStore { here in
      try withTemporaryStore { there in
        let elsewhere = try there.storage("n", of: Int.self)
        guard
          case .store(.otherStore) = failure(of: {
            try here.write { batch in try batch.set(1, forKey: "a", in: elsewhere) }
          })
        else {
          Issue.record("another error")
          return
        }
        let space = try there.keyspace("n")
        #expect(throws: StoreError.otherStore(path: there.path)) {
          try here.write { (batch) throws(StoreError) in try batch.remove("a", in: space) }
        }
        #expect(try elsewhere.count() == 0)
      }
    }
  }

  // MARK: Backs of two functions

  @Test func functionsMayUseTheStorageTheyMakeUp() throws {
    let content = DictionaryStorage<String, Int>()
    let own = Collected<CustomStorage<String, Int>>()
    let storage = CustomStorage<String, Int>(
      name: "c",
      get: { try content.value(forKey: $0) },
      set: { value, key in
        if key != "log" { try own.all.first?.set((value ?? 0) + 1, forKey: "log") }
        _ = try own.all.first?.value(forKey: key)
        try content.set(value ?? 0, forKey: key)
      }
    )
    own.add(storage)
    for number in 0..<200 { try storage.set(number, forKey: "k\(number)") }
    #expect(content.all["log"] == 200 && content.all["k7"] == 7)
  }

  @Test func aWriteThatFailedCountsAsOne() throws {
    struct Lost: Error {}
    let content = DictionaryStorage(["a": 1])
    let fails = Collected<Bool>()
    let storage = CustomStorage<String, Int>(
      name: "c",
      get: { try content.value(forKey: $0) },
      set: { value, key in
        try content.set(value ?? 0, forKey: key)
        if fails.count > 0 { throw Lost() }
      }
    )
    let version = try storage.entry(forKey: "a")?.version
    fails.add(true)
    _ = failure { try storage.set(2, forKey: "a") }
    #expect(try storage.compareAndSet(3, forKey: "a", ifVersion: version) == nil)
    #expect(content.all == ["a": 2])
  }

  @Test func aSlidingReadDoesNotShortenALife() throws {
    let far = Expiry.at(WallTime(millisecondsSince1970: 9_000_000_000_000))
    let kept = Collected<(Int?, Expiry)>()
    let storage = CustomStorage<String, Int>(
      name: "c",
      read: { _ in kept.all.last.flatMap { found in found.0.map { Entry($0, origin: .back, expiry: found.1) } } },
      write: { _, value, expiry in kept.add((value, expiry)) }
    )
    try storage.set(1, forKey: "a", expiry: far)
    #expect(try storage.value(forKey: "a", extendingBy: .seconds(60)) == 1)
    #expect(try kept.count == 1 && storage.entry(forKey: "a")?.expiry == far)
  }

  @Test func memoryTellsWhatIsExpired() async throws {
    let clock = FakeClock()
    let memory = MemoryStorage<String, Int>(clock: clock.storeClock)
    try memory.set(1, forKey: "a", expiry: .after(.seconds(1)))
    #expect(try !memory.isExpired(forKey: "a") && !memory.isExpired(forKey: "b"))
    clock.advance(milliseconds: 1000)
    // It looks, and takes nothing away.
    for _ in 0..<2 { #expect(try memory.isExpired(forKey: "a")) }
    #expect(try memory.entry(forKey: "a", allowExpired: true)?.value == 1)
    for _ in 0..<2 { #expect(try await memory.async.isExpired(forKey: "a")) }
    try memory.removeExpired()
    #expect(try await !memory.async.isExpired(forKey: "a"))
  }
}
