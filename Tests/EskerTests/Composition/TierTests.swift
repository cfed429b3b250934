import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct TierTests {
  private let front = DictionaryStorage<String, Int>(name: "front")
  private let back = DictionaryStorage(["a": 1], name: "back")

  @Test func pullFillsTheFront() throws {
    let both = front.combined(with: back)
    #expect(both.name == "front-back")
    #expect(try both.value(forKey: "a") == 1)
    #expect(front.all == ["a": 1])
    #expect(try both.value(forKey: "a") == 1)
    #expect(back.reads == 1)
    #expect(try both.value(forKey: "z") == nil)
  }

  @Test func neverPullLeavesTheFront() throws {
    #expect(try front.combined(with: back, pullStrategy: .neverPull).value(forKey: "a") == 1)
    #expect(front.all.isEmpty)
  }

  @Test func completeThenPullFillsTheFrontSoon() throws {
    #expect(try front.combined(with: back, pullStrategy: .completeThenPull).value(forKey: "a") == 1)
    #expect(eventually { !front.all.isEmpty })
    #expect(front.all == ["a": 1])
  }

  @Test(arguments: [TierPolicy.Set.frontFirst, .backFirst]) func setWritesBoth(strategy: TierPolicy.Set) throws {
    let both = front.combined(with: back, setStrategy: strategy)
    try both.set(5, forKey: "a", expiry: .after(.seconds(9)))
    #expect(front.all == ["a": 5] && back.all == ["a": 5])
    #expect(try both.removeValue(forKey: "a"))
    #expect(front.all.isEmpty && back.all.isEmpty)
  }

  @Test func frontOnlyAndBackOnlyWriteOne() throws {
    try front.combined(with: back, setStrategy: .frontOnly).set(5, forKey: "a")
    #expect(front.all == ["a": 5] && back.all == ["a": 1])
    try front.combined(with: back, setStrategy: .backOnly).set(6, forKey: "a")
    #expect(front.all.isEmpty && back.all == ["a": 6])
  }

  @Test(arguments: [TierPolicy.Set.frontFirst, .backFirst, .backOnly])
  func valueThatTheBackRefusesIsInNoTier(strategy: TierPolicy.Set) throws {
    let both = front.combined(with: back, setStrategy: strategy)
    back.refuse(writes: true)
    _ = failure { try both.set(5, forKey: "a") }
    #expect(front.all.isEmpty && back.all == ["a": 1])
    #expect(try both.value(forKey: "a") == 1)
  }

  @Test func frontThatRefusesKeepsNoOldValue() throws {
    let both = front.combined(with: back)
    _ = try both.value(forKey: "a")
    front.refuse(writes: true)
    try both.set(5, forKey: "a")
    #expect(front.all.isEmpty && back.all == ["a": 5])
  }

  @Test func frontThatFailsIsPassedOver() throws {
    let both = front.combined(with: back)
    front.refuse(reads: true)
    #expect(try both.value(forKey: "a") == 1)
    guard case .back("front", _) = failure(of: { try both.value(forKey: "z") }) else {
      Issue.record("the front's error was swallowed")
      return
    }
  }

  @Test func updateChangesTheBackAndDropsTheFront() throws {
    let both = front.combined(with: back)
    _ = try both.value(forKey: "a")
    #expect(try both.update(forKey: "a", default: 0) { $0 += 1 } == 2)
    #expect(back.all == ["a": 2])
    #expect(try both.value(forKey: "a") == 2)
    let own = front.combined(with: back, setStrategy: .frontOnly)
    try own.removeValue(forKey: "a")
    #expect(try own.update(forKey: "a", default: 0) { $0 += 1 } == 3)
    #expect(front.all == ["a": 3] && back.all == ["a": 2])
  }

  @Test func backedReadsThroughAndWritesTheFrontOnly() throws {
    let backed = front.backed(by: back.readOnly())
    #expect(try backed.value(forKey: "a") == 1)
    #expect(front.all == ["a": 1])
    try backed.set(5, forKey: "b")
    #expect(back.all == ["a": 1])
    #expect(try backed.update(forKey: "a", default: 0) { $0 += 1 } == 2)
    try backed.removeValue(forKey: "a")
    #expect(try backed.value(forKey: "a") == 1)
    let reading = front.readOnly().fallback(with: back)
    #expect(try reading.value(forKey: "a") == 1)
    #expect(!(reading as Any is any WritableStorage))
  }

  @Test func pushingWritesBothAndReadsTheFirst() throws {
    let pushing = front.pushing(to: back)
    try pushing.set(7, forKey: "b")
    #expect(front.all["b"] == 7 && back.all["b"] == 7)
    #expect(try pushing.value(forKey: "a") == nil)
    #expect(try pushing.removeValue(forKey: "a"))
    let writing = front.writeOnly().pushing(to: back)
    try writing.set(8, forKey: "b")
    #expect(back.all["b"] == 8)
    #expect(!(writing as Any is any ReadableStorage))
  }

  @Test func zipIsThereWhenAllPartsAre() throws {
    let pairs = zip(front, back)
    #expect(try pairs.value(forKey: "a") == nil)
    try pairs.set((3, 4), forKey: "a")
    let pair = try #require(try pairs.value(forKey: "a"))
    #expect(pair == (3, 4))
    back.refuse(writes: true)
    _ = failure { try pairs.set((5, 6), forKey: "a") }
    _ = failure { try pairs.set((5, 6), forKey: "b") }
    #expect(front.all == ["a": 3])
    let texts = DictionaryStorage(["a": "x"])
    let four = zip(front, back, texts, front.mapValues(to: Double.self) { Double($0) })
    let value = try #require(try four.value(forKey: "a"))
    #expect(value == (3, 4, "x", 3.0))
    #expect(try four.value(forKey: "b") == nil)
    #expect(four.name == "front+back+dictionary+front")
  }

  @Test func zipOfManyIsWrittenWhenAllPartsCanBe() throws {
    let texts = DictionaryStorage<String, String>()
    let three = zip(front, back, texts)
    try three.set((1, 2, "x"), forKey: "a", expiry: .at(WallTime(millisecondsSince1970: 9_000_000_000_000)))
    let entry = try #require(try three.entry(forKey: "a"))
    #expect(entry.value == (1, 2, "x") && entry.expiry == .at(WallTime(millisecondsSince1970: 9_000_000_000_000)))
    #expect(entry.origin == .memory)
    let elsewhere = CustomStorage<String, String>(name: "elsewhere", get: { _ in "z" }, set: { _, _ in })
    #expect(try zip(front, back, elsewhere).entry(forKey: "a")?.origin == .back)
    #expect(try zip(front, back, elsewhere.readOnly()).entry(forKey: "a")?.value.2 == "z")
    // What one refuses, none has.
    texts.refuse(writes: true)
    _ = failure { try three.set((3, 4, "y"), forKey: "a") }
    _ = failure { try three.set((3, 4, "y"), forKey: "b") }
    #expect(front.all == ["a": 1] && back.all == ["a": 2] && texts.all == ["a": "x"])
    #expect(try front.entry(forKey: "a")?.expiry == entry.expiry)
    texts.refuse(writes: false)
    #expect(try three.removeValue(forKey: "a"))
    #expect(front.all.isEmpty && back.all.isEmpty && texts.all.isEmpty)
    #expect(try !three.removeValue(forKey: "a"))
    // With one that can only be read it is there, and for reading only.
    #expect(zip(front, back, texts.readOnly()) as Any is any WritableStorage == false)
  }

  @Test func zipOfManyPutsBackWhatItCan() throws {
    let (front, back) = (front, back)
    let last = CustomStorage<String, String>(name: "last", get: { _ in nil }) { _, _ in
      back.refuse(writes: true)
      throw DictionaryStorage<String, Int>.Refusal()
    }
    let three = zip(front, back, last)
    try front.set(1, forKey: "a")
    try back.set(2, forKey: "a")
    // The second one cannot be put back, and is named; the first one is.
    guard case .back(name: "back", _) = failure(of: { try three.set((3, 4, "y"), forKey: "a") }) else {
      Issue.record("not told which")
      return
    }
    #expect(front.all == ["a": 1] && back.all == ["a": 4])
  }

  @Test func zipPutsBackPartsOfWhichSomeWereMissing() throws {
    let texts = DictionaryStorage<String, String>()
    try front.set(1, forKey: "q")
    texts.refuse(writes: true)
    _ = failure { try zip(front, back, texts).set((5, 6, "x"), forKey: "q") }
    #expect(front.all == ["q": 1] && back.all == ["a": 1])
  }

  @Test func backOfABackedStorageIsNeverWritten() throws {
    let backed = front.backed(by: back)
    let before = back.writes
    try backed.back.set(5, forKey: "a")
    #expect(back.writes == before && back.all == ["a": 1])
  }

  @Test func updatesOfAPairAreAtomic() throws {
    let both = front.combined(with: back)
    onThreads(8) { _ in
      for _ in 0..<250 {
        _ = try? both.update(forKey: "n") { (value: inout Int?) throws(StorageError) in
          // Calling back is no deadlock.
          _ = try both.value(forKey: "n")
          sched_yield()
          value = (value ?? 0) + 1
        }
      }
    }
    #expect(back.all["n"] == 2000)
  }

  /// Writers and readers of a few keys through a pair; afterwards no key of the front may differ from the back.
  @Test(arguments: [TierPolicy.Set.frontFirst, .backFirst, .backOnly])
  func tiersNeverDisagreeUnderConcurrentUse(strategy: TierPolicy.Set) throws {
    let seed = SeededGenerator(announcedFor: "tiersNeverDisagreeUnderConcurrentUse").seed
    let front = DictionaryStorage<Int, Int>()
    let back = SlowStorage(DictionaryStorage<Int, Int>())
    let both = front.combined(with: back, setStrategy: strategy)
    for round in 0..<40 {
      onThreads(6) { thread in
        var generator = SeededGenerator(seed: seed &+ UInt64(round * 6 + thread))
        for _ in 0..<50 {
          let key = Int(generator.next() % 3)
          switch generator.next() % 8 {
          case 0...2: try? both.set(Int(generator.next() >> 1), forKey: key)
          case 3: _ = try? both.removeValue(forKey: key)
          case 4: _ = try? both.update(forKey: key, default: 0) { $0 &+= 1 }
          default: _ = try? both.value(forKey: key)
          }
        }
      }
      for (key, value) in front.all { #expect(back.base.all[key] == value) }
      for key in 0..<3 { _ = try both.value(forKey: key) }
      #expect(front.all == back.base.all)
    }
  }
}

/// Gives other threads a turn between looking and answering, where a stale value would slip through.
struct SlowStorage<Key: StorageKey, Value: Sendable>: UpdatableStorage {
  let base: DictionaryStorage<Key, Value>
  var name: String { base.name }

  init(_ base: DictionaryStorage<Key, Value>) {
    self.base = base
  }

  func identity(of key: Key) throws(StorageError) -> StorageRequest.Identity { try base.identity(of: key) }

  func read(_ key: Key, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Value>? {
    let found = try base.read(key, call)
    sched_yield()
    return found
  }

  func write(_ key: Key, _ call: StorageRequest.Write<Value>) throws(StorageError) -> StorageRequest.Receipt {
    sched_yield()
    let receipt = try base.write(key, call)
    sched_yield()
    return receipt
  }
}
