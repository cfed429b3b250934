import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct SnapshotTests {
  let machine = Machine()
  let store: LogStore

  init() throws {
    store = try machine.open()
  }

  private func filled() throws -> [[UInt8]: [UInt8]] {
    for number in 0..<100 { try store.put("value \(number)", forKey: "key \(number)") }
    return try store.contents()
  }

  @Test func aSnapshotShowsEachLiveEntryOnce() throws {
    for number in 0..<300 { try store.put("value \(number)", forKey: "key \(number % 100)") }
    for number in 0..<10 { try store.remove("key \(number)") }
    let snapshot = try store.snapshot()
    let keys = try snapshot.map { try $0.key() }
    #expect(keys.count == 90)
    #expect(Set(keys).count == 90)
    #expect(snapshot.count == 90)
    #expect(snapshot.sequence == store.lastSequence)
    for entry in snapshot {
      let key = try entry.key()
      #expect(try entry.value() == store.get(key))
      #expect(try entry.version == store.metadata(forKey: key)?.version)
      #expect(try entry.valueLength == entry.value().count)
      #expect(entry.expiry == .never)
      #expect(try entry.withBytes { (key, value) throws(StoreError) in key.byteCount + value.byteCount } > 0)
    }
  }

  @Test func putsRemovesAndBatchesAfterwardsDoNotShow() throws {
    let before = try filled()
    let snapshot = try store.snapshot()
    for number in 0..<50 { try store.put("changed", forKey: "key \(number)") }
    for number in 40..<80 { try store.remove("key \(number)") }
    try store.put("new", forKey: "new")
    try store.write { (batch) throws(StoreError) in
      try batch.put("batch", forKey: "key 90")
      try batch.remove("key 91")
      try batch.put("new", forKey: "newer")
    }
    for _ in 0..<3 { for number in 0..<50 { try store.put("again", forKey: "key \(number)") } }
    #expect(try snapshot.contents() == before)
    #expect(snapshot.count == 100)
    #expect(try store.contents() != before)
  }

  @Test func removeAllAfterwardsDoesNotShow() throws {
    let before = try filled()
    let other = try store.keyspace("other")
    try other.put("v", forKey: "k")
    let snapshot = try store.snapshot()
    try store.removeAll()
    try store.put("after", forKey: "key 1")
    #expect(try snapshot.contents() == before)
    #expect(try snapshot.contents(of: "other") == [bytes("k"): bytes("v")])
    #expect(try store.contents() == [bytes("key 1"): bytes("after")])
  }

  @Test func removeExpiredAfterwardsDoesNotShow() throws {
    for number in 0..<50 { try store.put("v", forKey: "\(number)", expiry: .after(.seconds(1))) }
    let snapshot = try store.snapshot()
    machine.clock.advance(milliseconds: 2000)
    #expect(try store.removeExpired() == 50)
    #expect(try snapshot.contents().count == 50)
    #expect(try store.snapshot().contents().isEmpty)
  }

  @Test func expiredEntriesAreCountedUntilReapedAndNotShown() throws {
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 1000)
    let snapshot = try store.snapshot()
    #expect(snapshot.count == 1)
    #expect(try snapshot.contents().isEmpty)
  }

  @Test func severalSnapshotsEachShowTheirInstant() throws {
    var taken: [(Snapshot, [[UInt8]: [UInt8]])] = []
    var model: [[UInt8]: [UInt8]] = [:]
    for round in 0..<20 {
      for number in 0..<30 where (number + round) % 3 == 0 {
        let key = bytes("key \(number)")
        if round % 4 == 3 {
          try store.remove(key)
          model[key] = nil
        } else {
          let value = [UInt8](repeating: UInt8(round), count: 500)
          try store.put(value, forKey: key)
          model[key] = value
        }
      }
      taken.append((try store.snapshot(), model))
    }
    for (snapshot, model) in taken { #expect(try snapshot.contents() == model) }
    #expect(store.statistics.openSnapshots == 20)
  }

  @Test func aSnapshotIsReleasedWithItsLastReference() throws {
    do {
      let snapshot = try store.snapshot()
      #expect(store.statistics.openSnapshots == 1)
      withExtendedLifetime(snapshot) {}
    }
    #expect(store.statistics.openSnapshots == 0)
    #expect(store.probe.snapshotCount == 0)
  }

  @Test func entriesByKeyspaceAndPrefix() throws {
    let other = try store.keyspace("other")
    try store.put("1", forKey: "ab")
    try store.put("2", forKey: "abc")
    try store.put("3", forKey: "b")
    try other.put("4", forKey: "abd")
    let snapshot = try store.snapshot()
    let own = store.default
    #expect(try snapshot.entries(in: own, .prefix("ab")).map { try $0.key() } == [bytes("ab"), bytes("abc")])
    #expect(try snapshot.entries(in: other, .prefix("ab")).map { try $0.value() } == [bytes("4")])
    #expect(Array(snapshot.entries(in: own, .prefix(""))).count == 3)
    #expect(Array(snapshot.entries(in: own, .prefix("abcd"))).isEmpty)
    #expect(try snapshot.entries(in: other).map { try $0.key() } == [bytes("abd")])
    #expect(Array(snapshot.entries(in: other)).allSatisfy { $0.keyspace == "other" })
    #expect(Array(snapshot).count == 4)
  }

  @Test func entriesStayReadableAfterOverwritesRotationsAndClose() throws {
    let before = try filled()
    let entries = Array(try store.snapshot())
    for number in 0..<200 { try store.put([UInt8](repeating: 0, count: 2000), forKey: "key \(number % 100)") }
    try store.close()
    var read: [[UInt8]: [UInt8]] = [:]
    for entry in entries { read[try entry.key()] = try entry.value() }
    #expect(read == before)
    // The store itself is open to the next one meanwhile.
    let again = try machine.open()
    #expect(try again.count() == 100)
    for number in 0..<200 { try again.put([UInt8](repeating: 1, count: 2000), forKey: "key \(number % 100)") }
    for entry in entries { #expect(try before[entry.key()] == entry.value()) }
  }

  @Test func aSnapshotOutlivesItsStore() throws {
    let before = try filled()
    let snapshot: Snapshot
    do {
      let machine = Machine()
      let brief = try machine.open()
      for (key, value) in before { try brief.put(value, forKey: key) }
      snapshot = try brief.snapshot()
    }
    #expect(try snapshot.contents() == before)
  }

  @Test func iteratorsOfOneSnapshotAreIndependent() throws {
    _ = try filled()
    let snapshot = try store.snapshot()
    var one = snapshot.makeIterator()
    let first = try one.next()?.key()
    var other = snapshot.makeIterator()
    #expect(try other.next()?.key() == first)
    try store.removeAll()
    var count = 1
    while one.next() != nil { count += 1 }
    #expect(count == 100)
    while other.next() != nil { count += 1 }
    #expect(count == 199)
    #expect(one.next() == nil)
  }

  /// How many old values a loop shows of a hundred entries that are overwritten in its first turn.
  private func old<I: IteratorProtocol<Snapshot.Entry>>(_ iterator: I) throws -> Int {
    var iterator = iterator
    var old = 0
    while let entry = iterator.next() {
      if old == 0 { for number in 0..<100 { try store.put("overwritten", forKey: "key \(number)") } }
      if try entry.value() != bytes("overwritten") { old += 1 }
    }
    return old
  }

  /// As a `for` loop over an expression does it: nobody else holds the snapshot.
  @Test(arguments: ["whole", "keyspace", "prefix", "lazy"])
  func aLoopShowsTheInstantThoughOnlyItHoldsTheSnapshot(_ way: String) throws {
    _ = try filled()
    let shown =
      switch way {
      case "whole": try old(store.snapshot().makeIterator())
      case "keyspace": try old(store.snapshot().entries(in: store.default).makeIterator())
      case "prefix": try old(store.snapshot().entries(in: store.default, .prefix("key")).makeIterator())
      default: try old(store.snapshot().lazy.filter { $0.valueLength > 0 }.map { $0 }.prefix(1000).makeIterator())
      }
    #expect(shown == 100)
    #expect(store.statistics.openSnapshots == 0)
    #expect(store.probe.snapshotCount == 0)
  }

  @Test func anIteratorKeepsItsSnapshotOpenUntilItGoes() throws {
    _ = try filled()
    do {
      var iterator = try store.snapshot().makeIterator()
      _ = iterator.next()
      #expect(store.statistics.openSnapshots == 1)
      _ = iterator.next()
    }
    #expect(store.statistics.openSnapshots == 0)
  }

  @Test func aSnapshotOfAnEmptyStoreIsEmpty() throws {
    let snapshot = try store.snapshot()
    try store.put("v", forKey: "k")
    #expect(Array(snapshot).isEmpty)
    #expect(snapshot.count == 0)
    #expect(snapshot.sequence.rawValue == 0)
  }
}
