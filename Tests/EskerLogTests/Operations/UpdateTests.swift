import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct UpdateTests {
  let machine = Machine()
  let store: LogStore

  init() throws {
    store = try machine.open()
  }

  @Test func compareAndSetByVersionWinsOnceOnly() throws {
    #expect(try store.compareAndSet("x", forKey: "k", ifVersion: SequenceNumber(rawValue: 1)) == nil)
    let first = try #require(try store.compareAndSet("1", forKey: "k", ifVersion: nil))
    #expect(try store.compareAndSet("2", forKey: "k", ifVersion: nil) == nil)
    let second = try #require(try store.compareAndSet("2", forKey: "k", ifVersion: first))
    #expect(try store.compareAndSet("3", forKey: "k", ifVersion: first) == nil)
    #expect(second > first)
    #expect(try store.get("k") == bytes("2"))
    #expect(store.lastSequence == second)
  }

  @Test func removalByVersionRemovesWhatWasSeenOnly() throws {
    let first = try store.put("1", forKey: "k")
    let second = try store.put("2", forKey: "k", expiry: .after(.seconds(100)))
    #expect(try !store.remove("k", ifVersion: first))
    #expect(try store.get("k") == bytes("2"))
    #expect(try store.remove("k", ifVersion: second))
    #expect(try !store.remove("k", ifVersion: second))
    #expect(try store.get("k") == nil)
    #expect(try store.remove("k") == false)
    let third = try store.put("3", forKey: "k", expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 1000)
    #expect(try !store.remove("k", ifVersion: third))
  }

  @Test func compareAndSetByValueComparesBytes() throws {
    #expect(try store.compareAndSet("1", forKey: "k", ifValue: bytes("0")) == nil)
    #expect(try store.compareAndSet("", forKey: "k", ifValue: nil) != nil)
    #expect(try store.compareAndSet("1", forKey: "k", ifValue: nil) == nil)
    #expect(try store.compareAndSet("1", forKey: "k", ifValue: []) != nil)
    #expect(try store.compareAndSet("2", forKey: "k", ifValue: bytes("11")) == nil)
    #expect(try store.compareAndSet("2", forKey: "k", ifValue: bytes("1")) != nil)
    #expect(try store.get("k") == bytes("2"))
  }

  @Test func anExpiredValueCountsAsAbsentToCompareAndSet() throws {
    try store.put("old", forKey: "k", expiry: .after(.seconds(1)))
    #expect(try store.putIfAbsent("new", forKey: "k") == nil)
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.putIfAbsent("new", forKey: "k") != nil)
    #expect(try store.get("k") == bytes("new"))
  }

  @Test func putIfAbsentKeepsWhatIsThere() throws {
    #expect(try store.putIfAbsent("1", forKey: "k") != nil)
    #expect(try store.putIfAbsent("2", forKey: "k") == nil)
    #expect(try store.get("k") == bytes("1"))
    try store.remove("k")
    #expect(try store.putIfAbsent("3", forKey: "k") != nil)
  }

  @Test func updateReplacesRemovesOrKeeps() throws {
    let put = try store.update(forKey: "k") { (span) throws(StoreError) in
      let count = span?.byteCount
      #expect(count == nil)
      return .put(bytes("1"))
    }
    #expect(put == store.lastSequence)
    let kept = try store.update(forKey: "k") { (span) throws(StoreError) in
      let count = span?.byteCount
      #expect(count == 1)
      return .keep
    }
    #expect(kept == nil)
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .remove } == store.lastSequence)
    #expect(try store.get("k") == nil)
    #expect(try store.update(forKey: "k") { (_) throws(StoreError) in .remove } == nil)
    #expect(store.lastSequence.rawValue == 2)
  }

  @Test func updateRunsAgainWhenAnotherWriteCameBetween() throws {
    try store.put("1", forKey: "k")
    var seen: [String] = []
    try store.update(forKey: "k") { (span) throws(StoreError) in
      let text = span?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
      seen.append(text)
      if seen.count == 1 { try store.put("2", forKey: "k") }
      return .put(bytes(text + "!"))
    }
    #expect(seen == ["1", "2"])
    #expect(try store.get("k") == bytes("2!"))
  }

  @Test func updateThatThrowsWritesNothing() throws {
    struct Foreign: Error {}
    try store.put("1", forKey: "k")
    #expect(throws: Foreign.self) { try store.update(forKey: "k") { _ in throw Foreign() } }
    #expect(throws: StoreError.cancelled) {
      try store.update(forKey: "k") { (_) throws(StoreError) -> Update in throw .cancelled }
    }
    #expect(store.lastSequence.rawValue == 1)
  }

  @Test func updateSetsTheExpiryItIsTold() throws {
    try store.update(forKey: "k") { (_) throws(StoreError) in .put(bytes("1"), expiry: .after(.seconds(5))) }
    machine.clock.advance(milliseconds: 4999)
    #expect(try store.get("k") != nil)
    machine.clock.advance(milliseconds: 1)
    #expect(try store.get("k") == nil)
  }

  @Test func incrementCountsFromZeroWrapsAndKeepsTheExpiry() throws {
    #expect(try store.increment("n") == 1)
    #expect(try store.increment("n", by: 41) == 42)
    #expect(try store.increment("n", by: -50) == -8)
    #expect(try store.get("n") == [0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try store.increment("m", by: .max) == .max)
    #expect(try store.increment("m") == .min)
    try store.touch("n", expiry: .after(.seconds(10)))
    #expect(try store.increment("n") == -7)
    machine.clock.advance(milliseconds: 10_000)
    #expect(try store.get("n") == nil)
    #expect(try store.increment("n") == 1)
    #expect(try store.metadata(forKey: "n")?.expiry == .never)
  }

  @Test func incrementOfSomethingElseIsATypedError() throws {
    try store.put("seven", forKey: "n")
    #expect {
      try store.increment("n")
    } throws: { error in
      guard case StoreError.damaged(let location, _) = error else { return false }
      return location.key == bytes("n")
    }
    #expect(try store.get("n") == bytes("seven"))
  }

  @Test func appendExtendsAndKeepsTheExpiry() throws {
    try store.append("ab", toKey: "k")
    try store.append("", toKey: "k")
    try store.append("cd", toKey: "k")
    #expect(try store.get("k") == bytes("abcd"))
    try store.touch("k", expiry: .after(.seconds(1)))
    try store.append("e", toKey: "k")
    #expect(try store.get("k") == bytes("abcde"))
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.get("k") == nil)
  }

  @Test func touchAndPersistChangeOnlyTheExpiry() throws {
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    let version = try #require(try store.touch("k", expiry: .after(.seconds(3))))
    #expect(try store.metadata(forKey: "k")?.version == version)
    machine.clock.advance(milliseconds: 2000)
    #expect(try store.get("k") == bytes("v"))
    #expect(try store.persist("k") != nil)
    machine.clock.advance(milliseconds: 1_000_000)
    #expect(try store.get("k") == bytes("v"))
    #expect(try store.touch("absent", expiry: .never) == nil)
    #expect(try store.persist("absent") == nil)
    #expect(try store.touch("k", expiry: .after(.zero)) != nil)
    #expect(try store.get("k") == nil)
    #expect(try store.touch("k", expiry: .never) == nil)
  }
}
