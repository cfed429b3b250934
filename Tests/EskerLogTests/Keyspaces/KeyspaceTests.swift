import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct KeyspaceTests {
  var machine = Machine()

  @Test func equalKeysInTwoKeyspacesAreTwoEntries() throws {
    let store = try machine.open()
    let one = try store.keyspace("one")
    let two = try store.keyspace("two")
    try store.put("0", forKey: "k")
    try one.put("1", forKey: "k")
    try two.put("2", forKey: "k")
    #expect(try store.get("k") == bytes("0"))
    #expect(try one.get("k") == bytes("1"))
    #expect(try two.get("k") == bytes("2"))
    #expect(try one.remove("k"))
    #expect(try one.get("k") == nil)
    #expect(try two.get("k") == bytes("2"))
    #expect(try store.count() == 1)
    #expect(try one.count() == 0)
    #expect(try two.count() == 1)
    #expect(try store.totalCount() == 2)
  }

  @Test func aKeyspaceIsCreatedOnFirstUseAndKept() throws {
    let store = try machine.open()
    #expect(try store.keyspaceNames == [])
    _ = try store.keyspace("empty")
    let generation = store.probe.generation
    _ = try store.keyspace("empty")
    #expect(store.probe.generation == generation)
    try store.keyspace("full").put("v", forKey: "k")
    #expect(try Set(store.keyspaceNames) == ["empty", "full"])
    #expect(try store.keyspace("").name == "")
    try store.close()
    let again = try machine.open()
    #expect(try Set(again.keyspaceNames) == ["empty", "full"])
    #expect(try again.keyspace("full").get("k") == bytes("v"))
    #expect(try again.keyspace("full").store === again)
  }

  @Test func namesAreTextAndKeysAreBytes() throws {
    let store = try machine.open()
    try store.keyspace("caf\u{E9}").put("1", forKey: "caf\u{E9}")
    let same = try store.keyspace("cafe\u{301}")
    #expect(try store.keyspaceNames == ["caf\u{E9}"])
    #expect(try same.get("caf\u{E9}") == bytes("1") && same.get("cafe\u{301}") == nil)
    try store.close()
    let again = try machine.open()
    #expect(try again.keyspace("cafe\u{301}").count() == 1 && again.keyspaceNames.count == 1)
  }

  @Test func aKeyspaceSurvivesAKill() throws {
    var machine = machine
    let store = try machine.open()
    try store.keyspace("a").put("1", forKey: "k")
    try store.keyspace("b").put("2", forKey: "k")
    let again = try machine.reopenAfterKill()
    #expect(try again.keyspace("a").get("k") == bytes("1"))
    #expect(try again.keyspace("b").get("k") == bytes("2"))
    withExtendedLifetime(store) {}
  }

  @Test func namesOf255BytesAreTakenAndLongerOnesAreNot() throws {
    let store = try machine.open()
    let longest = String(repeating: "n", count: 255)
    try store.keyspace(longest).put("v", forKey: "k")
    let tooLong = String(repeating: "ü", count: 128)
    #expect(throws: StoreError.invalidKeyspace(tooLong)) { try store.keyspace(tooLong) }
    #expect(try store.keyspace("\u{0}/../%").put("v", forKey: "k").rawValue == 2)
    try store.close()
    #expect(Set(try machine.open().keyspaceNames) == [longest, "\u{0}/../%"])
  }

  @Test func removeAllEmptiesOneKeyspaceInOneRecord() throws {
    var machine = machine
    var store = try machine.open()
    let other = try store.keyspace("other")
    for number in 0..<1000 {
      try store.put("v", forKey: "key \(number)")
      try other.put("w", forKey: "key \(number)")
    }
    let before = store.lastSequence.rawValue
    try other.removeAll()
    #expect(store.lastSequence.rawValue == before + 1)
    #expect(try other.count() == 0)
    #expect(try store.count() == 1000)
    #expect(try other.get("key 1") == nil)
    #expect(try other.get(["key 1", "key 2"]) == [nil, nil])
    #expect(try !other.remove("key 1"))
    try other.put("new", forKey: "key 1")
    #expect(try other.get("key 1") == bytes("new"))
    #expect(try other.count() == 1)
    func check(_ store: LogStore, _ what: String) throws {
      let other = try store.keyspace("other")
      #expect(try other.get("key 1") == bytes("new"), "\(what)")
      #expect(try other.get("key 2") == nil, "\(what)")
      #expect(try store.get("key 2") == bytes("v"), "\(what)")
      #expect(try other.count() == 1 && store.count() == 1000, "\(what)")
      #expect(try store.contents(of: other) == [bytes("key 1"): bytes("new")], "\(what)")
    }
    try check(store, "at once")
    store = try machine.reopenAfterKill()
    try check(store, "killed")
    try store.close()
    store = try machine.open()
    try check(store, "closed")
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    try check(store, "rebuilt")
    #expect(try store.verify().isClean)
  }

  /// No manifest may know of it sooner than the log.
  @Test func whatAPowerFailureTakesBackIsNotEmptied() throws {
    var machine = machine
    let store = try machine.open()
    try store.keyspace("other").put("v", forKey: "k", durability: .synced)
    try store.keyspace("other").removeAll()
    try store.probe.writeManifest()
    var generator = SeededGenerator(seed: 1)
    machine.disk = try machine.disk.crashImage(.drop, using: &generator)
    let again = try machine.open()
    #expect(again.lastSequence.rawValue == 1)
    #expect(try again.keyspace("other").get("k") == bytes("v"))
    withExtendedLifetime(store) {}
  }

  /// The index leads there as long as it was not swept.
  @Test func whatWasEmptiedIsNotCopiedByAMerge() throws {
    let store = try machine.open { $0.merge.isAutomatic = false }
    let other = try store.keyspace("other")
    for number in 0..<100 { try other.put("v", forKey: "key \(number)") }
    store.probe.stopBackground()
    try other.removeAll()
    try store.probe.endTail()
    store.probe.sealFinished()
    try store.sync()
    try store.merge(segments: store.statistics.segments.map(\.id))
    #expect(store.statistics.merged.bytesRead > 0)
    #expect(store.statistics.merged.bytesWritten == 0)
    #expect(try other.count() == 0)
  }

  @Test func removeAllOfTheDefaultKeyspaceKeepsTheOthers() throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    try store.put("v", forKey: "k")
    try other.put("v", forKey: "k")
    for _ in 0..<5 { try store.removeAll() }
    #expect(try store.get("k") == nil)
    try store.close()
    let again = try machine.open()
    #expect(try again.get("k") == nil)
    #expect(try again.keyspace("other").get("k") == bytes("v"))
    #expect(try again.totalCount() == 1)
  }

  @Test func theDefaultExpiryIsKeptAndOverridden() throws {
    let store = try machine.open { $0.defaultExpiry = .after(.seconds(100)) }
    let keyspace = try store.keyspace("brief")
    #expect(keyspace.defaultExpiry == nil)
    try keyspace.setDefaultExpiry(.seconds(10))
    try keyspace.put("v", forKey: "default")
    try keyspace.put("v", forKey: "longer", expiry: .after(.seconds(50)))
    try keyspace.put("v", forKey: "never", expiry: .never)
    try store.put("v", forKey: "store")
    try store.write { (batch) throws(StoreError) in try batch.put("v", forKey: "batch", in: keyspace) }
    machine.clock.advance(milliseconds: 10_000)
    #expect(try keyspace.get("default") == nil)
    #expect(try keyspace.get("batch") == nil)
    #expect(try keyspace.get("longer") != nil)
    #expect(try store.get("store") != nil)
    machine.clock.advance(milliseconds: 90_000)
    #expect(try keyspace.get("longer") == nil)
    #expect(try store.get("store") == nil)
    #expect(try keyspace.get("never") != nil)
    try store.close()
    let again = try machine.open { $0.defaultExpiry = .never }
    let kept = try again.keyspace("brief")
    #expect(kept.defaultExpiry == .seconds(10))
    try kept.setDefaultExpiry(nil)
    #expect(kept.defaultExpiry == nil)
    try kept.put("v", forKey: "stays")
    #expect(try kept.metadata(forKey: "stays")?.expiry == .never)
    try kept.setDefaultExpiry(.zero)
    try kept.put("v", forKey: "stays")
    #expect(try kept.get("stays") == nil)
  }

  @Test func manyKeyspacesAreKeptApart() throws {
    let store = try machine.open()
    for number in 0..<200 { try store.keyspace("space \(number)").put("\(number)", forKey: "k") }
    try store.close()
    let again = try machine.open()
    for number in 0..<200 { #expect(try again.keyspace("space \(number)").get("k") == bytes("\(number)")) }
    #expect(try again.totalCount() == 200)
  }
}
