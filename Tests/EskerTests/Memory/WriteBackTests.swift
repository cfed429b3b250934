import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct WriteBackTests {
  @Test func whatWaitsIsReadBeforeItIsWritten() throws {
    let back = DictionaryStorage<String, Int>()
    back.refuse(writes: true)
    let hybrid = HybridStorage(back, writing: .back(window: 8))
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 1 && hybrid.contains("a"))
    guard case .present(let entry) = try hybrid.residentEntry(forKey: "a") else {
      Issue.record("not resident")
      return
    }
    #expect(entry.value == 1 && back.all.isEmpty)
    back.refuse()
    while (try? hybrid.flush()) == nil {}
    #expect(back.all == ["a": 1])
  }

  @Test func windowIsBounded() throws {
    let back = DictionaryStorage<Int, Int>()
    back.refuse(writes: true)
    let hybrid = HybridStorage(back, writing: .back(window: 3))
    var accepted = 0
    for key in 0..<20 { if (try? hybrid.set(key, forKey: key)) != nil { accepted += 1 } }
    #expect(accepted <= 3 && accepted > 0)
    back.refuse()
    while (try? hybrid.flush()) == nil {}
    #expect(back.all.count == accepted)
    for key in 0..<100 { try hybrid.set(key, forKey: key) }
    try hybrid.flush()
    #expect(back.all.count == 100)
  }

  @Test func anotherViewSeesWhatWaits() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let hybrid = HybridStorage(log, writing: .back(window: 1000))
      let other = HybridStorage(log)
      for number in 0..<200 {
        try hybrid.set(number, forKey: "a")
        #expect(try log.value(forKey: "a") == number)
        try hybrid.set(number + 1, forKey: "a")
        #expect(try other.value(forKey: "a") == number + 1)
        try hybrid.set(number + 2, forKey: "a")
        try log.update(forKey: "a", default: 0) { $0 += 10 }
        #expect(try hybrid.value(forKey: "a") == number + 12)
        try hybrid.set(number, forKey: "a")
        try other.set(-1, forKey: "a")
        #expect(try hybrid.value(forKey: "a") == -1 && log.value(forKey: "a") == -1)
        try hybrid.set(number, forKey: "a")
        #expect(try log.removeValue(forKey: "a") && hybrid.value(forKey: "a") == nil)
        try hybrid.set(number, forKey: "a")
        #expect(try log.count() == 1 && hybrid.entries().count == 1)
      }
    }
  }

  @Test func removeUpdateAndRemoveAllComeAfterWhatWaits() throws {
    let back = DictionaryStorage<String, Int>()
    let hybrid = HybridStorage(back, writing: .back(window: 8))
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.update(forKey: "a", default: 0) { $0 += 1 } == 2)
    try hybrid.set(3, forKey: "a")
    #expect(try hybrid.removeValue(forKey: "a") && back.all.isEmpty)
    try hybrid.set(4, forKey: "a")
    try hybrid.removeAll()
    try hybrid.flush()
    #expect(try back.all.isEmpty && hybrid.value(forKey: "a") == nil)
  }

  @Test func waitingValueThatExpiredHidesTheOldOne() throws {
    let clock = FakeClock()
    let back = DictionaryStorage(["a": 1])
    back.refuse(writes: true)
    let hybrid = HybridStorage(back, writing: .back(window: 8), clock: clock.storeClock)
    try hybrid.set(2, forKey: "a", expiry: .after(.seconds(3)))
    clock.advance(milliseconds: 3000)
    #expect(try hybrid.value(forKey: "a") == nil && !hybrid.contains("a"))
    back.refuse()
  }

  @Test func twoFrontsWithWindowsAgree() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let one = HybridStorage(log, writing: .back(window: 100))
      let two = HybridStorage(log, writing: .back(window: 100))
      for number in 0..<200 {
        try one.set(number, forKey: "a")
        try two.set(-number, forKey: "a")
        #expect(try one.value(forKey: "a") == -number && log.value(forKey: "a") == -number)
        try one.set(number, forKey: "a")
        #expect(try two.value(forKey: "a") == number && one.value(forKey: "a") == number)
      }
    }
  }

  @Test func durationCountsFromTheSetAndNotFromTheWrite() throws {
    let clock = FakeClock()
    let back = DictionaryStorage<String, Int>()
    let hybrid = HybridStorage(back, writing: .back(window: 8), clock: clock.storeClock)
    let now = clock.wallMilliseconds()
    try hybrid.set(1, forKey: "a", expiry: .after(.seconds(3)))
    try hybrid.flush()
    #expect(try back.entry(forKey: "a")?.expiry == .at(WallTime(millisecondsSince1970: now + 3000)))
  }

  /// Writes past the views come after what waits, of whatever kind they are.
  @Test func laterWriteToTheKeyspaceWins() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let keyspace = log.keyspace
      let hybrid = HybridStorage(log, writing: .back(window: 1000))
      let bytes = try log.values.encode(-1)
      let writes: [(expected: Int?, write: () throws -> Void)] = [
        (-1, { try keyspace.put(bytes, forKey: "a") }),
        (nil, { try keyspace.remove("a") }),
        (-1, { try store.write { (batch) throws(StoreError) in try batch.put(bytes, forKey: "a", in: keyspace) } }),
        (nil, { try store.write { (batch) throws(StoreError) in try batch.remove("a", in: keyspace) } }),
        (nil, { try keyspace.removeAll() }),
        (-1, { try keyspace.update(forKey: "a") { (found) throws(StoreError) in found == nil ? .keep : .put(bytes) } }),
        (7, { try keyspace.compareAndSet(bytes, forKey: "a", ifVersion: nil) }),
      ]
      for number in 0..<200 {
        let (expected, write) = writes[number % writes.count]
        try hybrid.set(7, forKey: "a")
        try hybrid.set(number, forKey: "b")
        try write()
        #expect(try hybrid.value(forKey: "a") == expected, "\(number % writes.count)")
        try hybrid.flush()
        #expect(try hybrid.value(forKey: "a") == expected && log.value(forKey: "a") == expected)
      }
    }
  }

  @Test func equalKeysOfOtherBytesWaitSideBySide() throws {
    try withTemporaryStore { store in
      let log = try LogStorage(store, "pairs", key: CompositeKey<String, Int>.self, of: Int.self)
      for _ in 0..<50 {
        let hybrid = HybridStorage(log, writing: .back(window: 1000))
        try hybrid.set(1, forKey: CompositeKey("\u{E9}", 7))
        try hybrid.set(2, forKey: CompositeKey("e\u{301}", 7))
        #expect(try hybrid.value(forKey: CompositeKey("\u{E9}", 7)) == 1)
        #expect(try hybrid.value(forKey: CompositeKey("e\u{301}", 7)) == 2)
        try hybrid.flush()
        #expect(try log.count() == 2)
        try hybrid.removeAll()
      }
    }
  }
}
