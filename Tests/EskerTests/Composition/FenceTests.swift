import Dispatch
import Esker
import Testing

/// The interleavings that would leave a stale value in front, played out one by one.
@Suite struct FenceTests {
  private let front = DictionaryStorage<String, Int>(name: "front")
  private let back = HookedStorage(DictionaryStorage(["a": 1], name: "back"))

  @Test func valueReadBeforeAWriteIsNotPutInFrontAfterIt() throws {
    let both = front.combined(with: back, setStrategy: .backOnly)
    back.onceAfterRead { try? both.set(2, forKey: "a") }
    #expect(try both.value(forKey: "a") == 1)
    #expect(front.all.isEmpty)
    #expect(try both.value(forKey: "a") == 2)
    #expect(front.all == ["a": 2])
  }

  @Test func valueReadBeforeARemovalIsNotPutInFrontAfterIt() throws {
    let both = front.combined(with: back)
    back.onceAfterRead { _ = try? both.removeValue(forKey: "a") }
    #expect(try both.value(forKey: "a") == 1)
    #expect(try both.value(forKey: "a") == nil)
  }

  @Test func valueReadBeforeAnUpdateIsNotPutInFrontAfterIt() throws {
    let both = front.combined(with: back)
    back.onceAfterRead { _ = try? both.update(forKey: "a", default: 0) { $0 += 10 } }
    #expect(try both.value(forKey: "a") == 1)
    #expect(try both.value(forKey: "a") == 11)
  }

  @Test func valueReadBeforeARemovalOfAllIsNotPutInFrontAfterIt() throws {
    let both = front.combined(with: back)
    back.onceAfterRead { try? both.removeAll() }
    #expect(try both.value(forKey: "a") == 1)
    #expect(front.all.isEmpty)
    #expect(try both.value(forKey: "a") == nil)
  }

  @Test func removalOfAllThatOverlapsWithAWriteLeavesTheKeysToTheBack() throws {
    let slowFront = HookedStorage(front)
    let both = slowFront.combined(with: back)
    // The removal comes whole between the two halves of the write.
    slowFront.onceBeforeSet { try? both.removeAll() }
    try both.set(2, forKey: "a")
    #expect(front.all.isEmpty)
    #expect(try both.value(forKey: "a") == back.base.all["a"])
  }

  @Test func valueReadWhileAWriteIsUnderWayIsNotPutInFront() throws {
    let both = front.combined(with: back, setStrategy: .backOnly)
    let seen = Collected<Bool>()
    back.onceBeforeSet {
      _ = try? both.value(forKey: "a")
      seen.add(front.all.isEmpty)
    }
    try both.set(2, forKey: "a")
    #expect(seen.all == [true])
  }

  @Test(arguments: [TierPolicy.Set.frontFirst, .backFirst])
  func writesThatOverlapLeaveTheKeyToTheBack(strategy: TierPolicy.Set) throws {
    let slowFront = HookedStorage(front)
    let both = slowFront.combined(with: back, setStrategy: strategy)
    // The other write comes whole between the first one's two halves.
    let other = { _ = try? both.set(3, forKey: "a") }
    if strategy == .frontFirst { back.onceBeforeSet(other) } else { slowFront.onceBeforeSet(other) }
    try both.set(2, forKey: "a")
    #expect(front.all.isEmpty)
    #expect(try both.value(forKey: "a") == back.base.all["a"])
  }

  /// The write comes whole while the front is filled with what was read before it, and is read before that is taken out again.
  @Test func aWriteIsReadThoughTheFrontHasSomethingOlder() throws {
    let slowFront = HookedStorage(front)
    let both = slowFront.combined(with: back)
    let seen = Collected<Int?>()
    let held = Collected<Bool>()
    slowFront.onceBeforeSet {
      try? both.set(2, forKey: "a")
      slowFront.onceAfterSet {
        seen.add(front.all["a"])
        seen.add(try? both.value(forKey: "a"))
        if case .entry = try? both.held("a", StorageRequest.Read()) { held.add(true) }
      }
    }
    #expect(try both.value(forKey: "a") == 1)
    #expect(seen.all == [1, 2] && held.all.isEmpty)
    #expect(front.all.isEmpty)
    #expect(try both.value(forKey: "a") == 2)
    // The front is asked again.
    back.onceAfterRead { seen.add(nil) }
    #expect(try both.value(forKey: "a") == 2 && seen.all.count == 2)
  }

  @Test func backedFrontIsNotOverwrittenByWhatWasReadBefore() throws {
    let backed = front.backed(by: back)
    back.onceAfterRead { try? backed.set(2, forKey: "a") }
    #expect(try backed.value(forKey: "a") == 1)
    #expect(try backed.value(forKey: "a") == 2)
  }

  @Test func writeBetweenTheLooksInFrontAndBehindIsNotOverwritten() async throws {
    let slowFront = HookedStorage(front)
    let backed = slowFront.backed(by: back)
    slowFront.onceAfterRead { try? backed.set(2, forKey: "a") }
    #expect(try backed.value(forKey: "a") == 1)
    #expect(front.all == ["a": 2])
    try front.removeAll()
    slowFront.onceAfterRead { try? backed.set(3, forKey: "a") }
    #expect(try await backed.async.value(forKey: "a") == 1)
    #expect(front.all == ["a": 3])
  }

  @Test func writeDuringAFillIsNotOverwritten() throws {
    let slowFront = HookedStorage(front)
    let both = slowFront.combined(with: back)
    // As a value does that makes room, and calls the storage when it ends.
    slowFront.onceBeforeSet { try? both.set(2, forKey: "a") }
    #expect(try both.value(forKey: "a") == 1)
    #expect(front.all.isEmpty && back.base.all == ["a": 2])
    #expect(try both.value(forKey: "a") == 2)
    slowFront.onceBeforeSet { _ = try? both.removeValue(forKey: "a") }
    try front.removeAll()
    #expect(try both.value(forKey: "a") == 2)
    #expect(try front.all.isEmpty && both.value(forKey: "a") == nil)
    let backed = slowFront.backed(by: DictionaryStorage(["a": 1]))
    slowFront.onceBeforeSet { try? backed.set(2, forKey: "a") }
    #expect(try backed.value(forKey: "a") == 1)
    #expect(front.all == ["a": 2])
  }

  @Test func writeOfATaskDoesNotWaitForAFill() async throws {
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slowFront = HookedStorage(front)
    let both = slowFront.combined(with: back)
    slowFront.onceBeforeSet {
      began.signal()
      goOn.wait()
    }
    let found = Collected<Int?>()
    async let reading: Void = onThreadsOfTheirOwn(1) { _ in found.add(try? both.value(forKey: "a")) }
    await onADispatchThread { began.wait() }
    try await both.async.set(2, forKey: "a")
    goOn.signal()
    await reading
    #expect(found.all == [1])
    #expect(front.all["a"] != 1 && back.base.all == ["a": 2])
    #expect(try both.value(forKey: "a") == 2)
  }
}
