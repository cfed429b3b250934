import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct HybridStorageTests {
  /// A key that is counted whenever it becomes bytes.
  private struct Counted: StorageKey {
    static let encodings = Collected<Int>()
    var number: Int

    static var keyTransformer: KeyTransformer<Counted> {
      KeyTransformer(id: "counted") { (key: Counted) in
        encodings.add(key.number)
        return Array("\(key.number)".utf8)
      } decode: { bytes in
        Counted(number: Int(String(validating: bytes) ?? "") ?? 0)
      }
    }
  }

  @Test func aPutThroughAFrontEncodesItsKeyOnce() throws {
    try withTemporaryStore { store in
      let front = HybridStorage(try LogStorage(store, "n", key: Counted.self, of: Int.self))
      try front.set(5, forKey: Counted(number: 1))
      #expect(Counted.encodings.count == 1)
      #expect(try front.back.value(forKey: Counted(number: 1)) == 5 && front.statistics.count == 1)
      let before = Counted.encodings.count
      #expect(try front.removeValue(forKey: Counted(number: 1)))
      #expect(Counted.encodings.count == before + 1)
    }
  }

  @Test func storeOpenForReadingOnlyIsAlwaysAsked() throws {
    try withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      var options = Options()
      options.readOnly = true
      let reader = try LogStore(at: store.path, options: options)
      let front = HybridStorage(
        try LogStorage(reader, "scores", key: String.self, of: Int.self),
        remembersAbsence: true
      )
      #expect(try front.value(forKey: "a") == 1 && front.value(forKey: "b") == nil)
      try scores.set(2, forKey: "a")
      try scores.set(3, forKey: "b")
      try reader.refresh()
      #expect(try front.value(forKey: "a") == 2 && front.value(forKey: "b") == 3)
      try reader.close()
    }
  }

  @Test func whatNeverExpiresStaysInMemoryAtTheEndOfTime() throws {
    let clock = FakeClock()
    let front = HybridStorage(MemoryStorage<String, Int>(clock: clock.storeClock), clock: clock.storeClock)
    try front.set(1, forKey: "stays")
    try front.set(2, forKey: "brief", expiry: .after(.seconds(1)))
    #expect(try front.value(forKey: "stays") == 1 && front.value(forKey: "brief") == 2)
    #expect(front.statistics.count == 2)
    clock.setWall(milliseconds: .max)
    #expect(try front.removeExpired() == 1)
    #expect(front.statistics.count == 1)
    #expect(try origin(front, "stays") == .memory)
  }

  private func origin<S: ReadableStorage>(_ storage: S, _ key: S.Key) throws -> StorageRequest.Origin? {
    try storage.entry(forKey: key)?.origin
  }

  @Test func writtenValueIsInTheLogAndInMemory() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "users", key: String.self, of: Int.self)
      let hybrid = HybridStorage(log)
      try hybrid.set(1, forKey: "a", expiry: .after(.seconds(86_400)))
      #expect(try log.value(forKey: "a") == 1)
      #expect(try origin(hybrid, "a") == .memory)
      #expect(try hybrid.entry(forKey: "a")?.expiry == log.entry(forKey: "a")?.expiry)
      #expect(try hybrid.removeValue(forKey: "a") && hybrid.value(forKey: "a") == nil && log.value(forKey: "a") == nil)
    }
  }

  /// What memory does not know of several keys is asked for together, and a write that comes meanwhile is not overwritten in memory.
  @Test func severalKeysAreReadFromBehindTogether() throws {
    let back = HookedStorage(DictionaryStorage<String, Int>(["a": 1, "b": 2, "c": 3]))
    let front = back.cached(remembersAbsence: true)
    #expect(try front.value(forKey: "a") == 1)
    back.onceAfterRead { try? front.set(9, forKey: "c") }
    #expect(try front.values(forKeys: ["c", "a", "d", "b"]) == [3, 1, nil, 2])
    #expect(back.asked == [["c", "d", "b"]])
    #expect(try front.values(forKeys: ["a", "b", "d", "c", "c"]) == [1, 2, nil, 9, 9])
    // What was written meanwhile was not kept; nor was what lies in the same shard of memory, which depends on the hashes.
    let again = back.asked.last ?? []
    #expect(again.filter { $0 == "c" }.count == 2 && !again.contains("a"))
    #expect(try front.values(forKeys: ["a", "b", "d", "c"]) == [1, 2, nil, 9])
    #expect(back.asked.count == 2)
  }

  @Test func readValueIsInMemoryAfterwards() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "users", key: String.self, of: Int.self)
      try log.set(1, forKey: "a")
      let hybrid = HybridStorage(log, keepsWrites: false)
      #expect(try origin(hybrid, "a") == .log && origin(hybrid, "a") == .memory)
      try hybrid.set(2, forKey: "a")
      #expect(try origin(hybrid, "a") == .log && hybrid.value(forKey: "a") == 2)
      hybrid.removeInMemory(forKey: "a")
      #expect(try origin(hybrid, "a") == .log)
      hybrid.removeAllInMemory()
      #expect(hybrid.statistics.count == 0)
      #expect(try origin(hybrid, "a") == .log)
    }
  }

  @Test func aStorageOfHiddenTypeReachesItsMemory() throws {
    try withTemporaryStore { store in
      let limits = MemoryLimits(count: 100)
      let users: Storage<String, Int> = try store.storage("users", memory: limits)
      let mapped = Storage(users.mapKeys(to: Int.self, { "\($0)" }, back: { Int($0) ?? 0 }))
      for storage in [
        users, Storage(users.tap { _ in }),
        Storage(mapped.mapKeys(to: String.self, { Int($0) ?? 0 }, back: { "\($0)" })),
      ] {
        let before = try #require(storage.statistics)
        for key in ["1", "2", "3"] { try storage.set(7, forKey: key) }
        #expect(try storage.value(forKey: "1") == 7)
        #expect(storage.statistics?.count == 3 && storage.statistics?.hits == before.hits + 1)
        storage.removeInMemory(forKey: "1")
        #expect(storage.statistics?.count == 2)
        #expect(try storage.value(forKey: "1") == 7, "it is still in the log")
        #expect(storage.statistics?.misses == before.misses + 1)
        storage.trim(toCount: 2)
        #expect(storage.statistics?.count == 2)
        storage.trim(toCost: 1)
        #expect(storage.statistics?.count == 1)
        storage.removeAllInMemory()
        #expect(try storage.statistics?.count == 0 && storage.count() == 3)
      }
      #expect(try store.storage("users", of: Int.self).statistics == nil, "another view, without memory")
    }
  }

  /// Of memory alone nothing is dropped but what is evicted: the value would be gone.
  @Test func memoryAloneOfHiddenTypeKeepsWhatItHas() throws {
    let storage = Storage(MemoryStorage<String, Int>())
    for key in ["a", "b"] { try storage.set(1, forKey: key) }
    storage.removeInMemory(forKey: "a")
    storage.removeAllInMemory()
    #expect(try storage.count() == 2 && storage.statistics?.count == 2)
    storage.trim(toCount: 1)
    #expect(try storage.count() == 1)
  }

  /// What a hit ratio is made of: each read is one hit or one miss, whatever it is called by, and each miss asked behind.
  @Test func eachReadIsAHitOrAMiss() async throws {
    let back = DictionaryStorage(["a": 1, "b": 2, "c": 3])
    let hybrid = HybridStorage(back)
    let erased = PartialStorage(hybrid)
    #expect(try hybrid.value(forKey: "a") == 1 && erased.value(forKey: "a") == 1)
    #expect(try await hybrid.async.value(forKey: "b") == 2)
    #expect(try await erased.async.value(forKey: "b") == 2)
    #expect(try hybrid.values(forKeys: ["a", "b", "c"]) == [1, 2, 3])
    #expect(try hybrid.value(forKey: "d") == nil && hybrid.value(forKey: "d") == nil)
    #expect(hybrid.statistics.hits == 4 && hybrid.statistics.misses == 5 && back.reads == 5)
    #expect(abs(hybrid.statistics.hitRatio - 4.0 / 9) < 1e-9)
  }

  @Test func everyViewOfTheKeyspaceReachesTheFront() throws {
    try withTemporaryStore { store in
      let hybrid = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self), remembersAbsence: true)
      let views: [Storage<String, Int>] = [
        try store.storage("n"), Storage(hybrid), Storage(HybridStorage(try store.storage("n", of: Int.self))),
      ]
      for (number, view) in views.enumerated() {
        try view.set(number, forKey: "a")
        #expect(try hybrid.value(forKey: "a") == number)
        try view.update(forKey: "a", default: 0) { $0 += 100 }
        #expect(try hybrid.value(forKey: "a") == number + 100)
        try view.removeValue(forKey: "a")
        #expect(try hybrid.value(forKey: "a") == nil && hybrid.value(forKey: "a") == nil)
        try view.set(number, forKey: "a")
        #expect(try hybrid.value(forKey: "a") == number)
        try view.removeAll()
        #expect(try hybrid.value(forKey: "a") == nil)
      }
    }
  }

  @Test func writesPastTheViewsReachTheFront() throws {
    try withTemporaryStore { store in
      let keyspace = try store.keyspace("n")
      let hybrid = HybridStorage(try LogStorage(store, "n", key: String.self, of: UInt8.self), remembersAbsence: true)
      #expect(try hybrid.value(forKey: "a") == nil)
      try keyspace.put([1], forKey: "a")
      #expect(try hybrid.value(forKey: "a") == 1)
      try store.write { batch throws(StoreError) in try batch.put([2], forKey: "a", in: keyspace) }
      #expect(try hybrid.value(forKey: "a") == 2)
      try keyspace.remove("a")
      #expect(try hybrid.value(forKey: "a") == nil)
      try keyspace.put([3], forKey: "a")
      #expect(try hybrid.value(forKey: "a") == 3)
      try keyspace.removeAll()
      #expect(try hybrid.value(forKey: "a") == nil)
    }
  }

  @Test func viewOfOtherValuesSharesWhatIsWritten() throws {
    try withTemporaryStore { store in
      let numbers = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int64.self))
      let bits = numbers.transform(to: Transformer<UInt64>.littleEndian)
      let erased = try Storage(numbers).transform(to: Transformer<UInt64>.littleEndian)
      try numbers.set(-1, forKey: "a")
      #expect(try bits.value(forKey: "a") == .max && erased.value(forKey: "a") == .max)
      try bits.set(5, forKey: "a")
      #expect(try numbers.value(forKey: "a") == 5 && erased.value(forKey: "a") == 5)
      #expect(try origin(bits, "a") == .memory)
      try erased.set(6, forKey: "a")
      #expect(try numbers.value(forKey: "a") == 6 && bits.value(forKey: "a") == 6)
    }
  }

  @Test func frontOfAnyKeyIsToldOfWritesByItsBytes() throws {
    try withTemporaryStore { store in
      let text = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      let bytes = try store.keyspace("n")
      try text.set(1, forKey: "é")
      try bytes.put(Transformer<Int>.littleEndian.encode(2), forKey: Array("é".utf8))
      #expect(try text.value(forKey: "é") == 2)
      try bytes.put(Transformer<Int>.littleEndian.encode(3), forKey: [0xFF])
      #expect(try text.value(forKey: "é") == 2)
    }
  }

  @Test(arguments: [("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("a", "A")])
  func keysThatTheLogTellsApartAreNotOneInMemory(first: String, second: String) throws {
    try withTemporaryStore { store in
      let hybrid = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      try hybrid.set(1, forKey: first)
      #expect(try hybrid.value(forKey: second) == nil)
      try hybrid.set(2, forKey: second)
      #expect(try hybrid.value(forKey: first) == 1 && hybrid.value(forKey: second) == 2)
      let pairs = HybridStorage(
        try LogStorage(store, "pairs", key: CompositeKey<String, Int>.self, of: Int.self)
      )
      try pairs.set(1, forKey: CompositeKey(first, 7))
      #expect(try pairs.value(forKey: CompositeKey(second, 7)) == nil)
      try pairs.set(2, forKey: CompositeKey(second, 7))
      #expect(try pairs.value(forKey: CompositeKey(first, 7)) == 1)
    }
  }

  @Test func absenceIsRememberedWhereAskedFor() throws {
    let back = DictionaryStorage<String, Int>()
    let hybrid = HybridStorage(back, remembersAbsence: true)
    #expect(try hybrid.value(forKey: "a") == nil && hybrid.value(forKey: "a") == nil)
    #expect(back.reads == 1)
    guard case .absent = try hybrid.held("a", StorageRequest.Read()) else {
      Issue.record("absence is not known")
      return
    }
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 1)
    let forgetful = HybridStorage(DictionaryStorage<String, Int>())
    _ = try forgetful.value(forKey: "a")
    guard case .unknown = try forgetful.held("a", StorageRequest.Read()) else {
      Issue.record("absence is remembered unasked")
      return
    }
  }

  @Test func expiredValueIsAbsentInBothTiersAtTheSameInstant() throws {
    let clock = FakeClock()
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Options()
    options.clock = clock.storeClock
    let store = try LogStore(at: path, options: options)
    let log = try LogStorage(store, "n", key: String.self, of: Int.self)
    try log.keyspace.setDefaultExpiry(.seconds(5))
    let hybrid = HybridStorage(log)
    try hybrid.set(1, forKey: "default")
    try hybrid.set(2, forKey: "explicit", expiry: .after(.seconds(3)))
    clock.advance(milliseconds: 2999)
    #expect(try hybrid.value(forKey: "explicit") == 2 && origin(hybrid, "explicit") == .memory)
    clock.advance(milliseconds: 1)
    #expect(try hybrid.value(forKey: "explicit") == nil && log.value(forKey: "explicit") == nil)
    #expect(try origin(hybrid, "default") == .memory)
    // A wall clock set back brings nothing back.
    clock.advance(milliseconds: 2000)
    clock.setWall(milliseconds: 1_600_000_000_000)
    #expect(try hybrid.value(forKey: "default") == nil && log.value(forKey: "default") == nil)
    #expect(try hybrid.removeExpired() == 2)
    try store.close()
  }

  @Test(arguments: [true, false])
  func valueThatCannotBeEncodedChangesNoTier(policy: Bool) throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, transformer: Transformer<Double>.json)
      let hybrid = HybridStorage(log, keepsWrites: policy)
      try hybrid.set(1, forKey: "a")
      guard case .encoding = failure(of: { try hybrid.set(.nan, forKey: "a") }) else {
        Issue.record("it was encoded")
        return
      }
      #expect(try hybrid.value(forKey: "a") == 1 && log.value(forKey: "a") == 1)
    }
  }

  @Test func bytesThatCannotBeDecodedStayAndAreNotKept() throws {
    try withTemporaryStore { store in
      let hybrid = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self), remembersAbsence: true)
      let bytes = try LogStorage(store, "n", key: String.self, transformer: Transformer<[UInt8]>.bytes)
      try bytes.set([1, 2], forKey: "a")
      for _ in 0..<2 {
        guard case .decoding = failure(of: { try hybrid.value(forKey: "a") }) else {
          Issue.record("it was decoded")
          return
        }
      }
      #expect(try bytes.value(forKey: "a") == [1, 2])
    }
  }

  @Test func fillThatAWriteOvertookIsNotKept() throws {
    let back = HookedStorage(DictionaryStorage(["a": 1]))
    let hybrid = HybridStorage(back)
    back.onceAfterRead { try? hybrid.set(2, forKey: "a") }
    #expect(try hybrid.value(forKey: "a") == 1)
    #expect(try hybrid.value(forKey: "a") == 2)
  }

  @Test func fillDuringAWriteIsNotKept() throws {
    let back = HookedStorage(DictionaryStorage(["a": 1]))
    let hybrid = HybridStorage(back)
    back.onceBeforeSet { _ = try? hybrid.value(forKey: "a") }
    try hybrid.set(2, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 2)
  }

  @Test func valueWithAnUnknownEndIsNotKept() throws {
    let back = DictionaryStorage<String, Int>()
    let hybrid = HybridStorage(back)
    try hybrid.set(1, forKey: "a", expiry: .after(.seconds(1)))
    _ = try hybrid.value(forKey: "a")
    _ = try hybrid.value(forKey: "a")
    #expect(back.reads == 2)
  }

  @Test func asynchronousHitDoesNotReachTheBack() async throws {
    let back = DictionaryStorage(["a": 1], mayBlock: true)
    let hybrid = HybridStorage(back)
    #expect(try await hybrid.async.value(forKey: "a") == 1)
    #expect(try await hybrid.async.value(forKey: "a") == 1)
    #expect(try await PartialStorage(hybrid).mapValues(to: Int.self) { $0 + 1 }.async.value(forKey: "a") == 2)
    #expect(back.reads == 1 && back.heldReads == 0)
    // What memory answers needs no other thread.
    guard case .entry = try hybrid.held("a", StorageRequest.Read()),
      case .entry = try PartialStorage(hybrid).mapValues(to: Int.self, { $0 + 1 }).held("a", StorageRequest.Read())
    else {
      Issue.record("memory does not say what it has")
      return
    }
  }

  @Test func observersHearWhatIsWrittenThroughTheFront() throws {
    try withTemporaryStore { store in
      let hybrid = HybridStorage(try LogStorage(store, "n", key: String.self, of: Int.self))
      let heard = Collected<Int>()
      let observation = try hybrid.observe { change in
        if case .set(_, _, let after) = change { heard.add(after) }
      }
      for number in 0..<10 { try hybrid.set(number, forKey: "a") }
      #expect(heard.reach(10) && heard.all == Array(0..<10))
      #expect(try hybrid.value(forKey: "a") == 9 && hybrid.entry(forKey: "a")?.origin == .memory)
      observation.cancel()
    }
  }

  @Test func frontThatIsGoneIsToldNothing() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      do {
        let hybrid = HybridStorage(log)
        try hybrid.set(1, forKey: "a")
      }
      #expect(try log.value(forKey: "a") == 1)
      try log.set(2, forKey: "a")
      #expect(try HybridStorage(log).value(forKey: "a") == 2)
    }
  }
}
