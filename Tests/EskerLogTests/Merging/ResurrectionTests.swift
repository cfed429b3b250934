import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What is gone must not come back, whatever is merged in which order: the ways in which Bitcask brought it back.
@Suite struct ResurrectionTests {
  private let machine = Machine()

  private func open(_ machine: Machine) throws -> LogStore {
    try machine.open { $0.merge.isAutomatic = false }
  }

  /// Ends the segment and returns its id.
  private func end(_ store: LogStore) throws -> UInt64 {
    let id = try #require(store.probe.tailID)
    try store.probe.endTail()
    return id
  }

  /// The store as each way of opening it shows it.
  private func everyWay(_ store: LogStore, _ body: (LogStore) throws -> Void) throws {
    try body(store)
    var killed = machine
    killed.disk = try machine.disk.processKilled()
    try body(open(killed))
    var rebuilt = machine
    rebuilt.disk = try machine.disk.processKilled()
    try rebuilt.deleteCheckpoint()
    try body(open(rebuilt))
  }

  /// The value of the key `k`, whichever way the store is opened.
  private func expect(_ value: [UInt8]?, in store: LogStore) throws {
    try everyWay(store) { store throws in
      let found = try store.get("k")
      #expect(found == value)
    }
  }

  @Test func aTombstoneStaysAsLongAsAnOlderValueIsInASegmentThatWasNotMerged() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    let first = try end(store)
    try store.remove("k")
    let second = try end(store)
    try store.merge(segments: [second])
    try expect(nil, in: store)
    try store.merge(segments: [first])
    try expect(nil, in: store)
    try store.merge()
    #expect(store.statistics.segments.reduce(0) { $0 + $1.recordBytes } == 0)
    try expect(nil, in: store)
  }

  @Test func aTombstoneThatWasCopiedCountsBeforeAnOlderValueOfTheLogIsRead() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    try store.put("kept", forKey: "other")
    _ = try end(store)
    try store.remove("k")
    try store.put("kept", forKey: "another")
    let second = try end(store)
    try store.merge(segments: [second])
    // Merged segments are read before the log.
    try expect(nil, in: store)
    try everyWay(store) { store throws in #expect(try store.count() == 2) }
  }

  @Test func anExpiredValueHidesAnOlderOneThatLivesLonger() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    _ = try end(store)
    try store.put("new", forKey: "k", expiry: .after(.seconds(1)))
    let second = try end(store)
    machine.clock.advance(milliseconds: 1000)
    try store.merge(segments: [second])
    try expect(nil, in: store)
  }

  /// Then its segment is not known to have nothing but what has expired.
  @Test func anExpiredValueBesideOneThatStaysHidesAnOlderOne() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    _ = try end(store)
    try store.put("new", forKey: "k", expiry: .after(.seconds(1)))
    try store.put("kept", forKey: "other")
    let second = try end(store)
    machine.clock.advance(milliseconds: 1000)
    try store.merge(segments: [second])
    try expect(nil, in: store)
    try everyWay(store) { store throws in #expect(try store.get("other") == bytes("kept")) }
  }

  /// Its footer and its first record are damaged. A rebuild finds the second record, though the merge has not got that far.
  @Test func aTombstoneStaysAsLongAsAnOlderSegmentCannotBeRead() throws {
    let store = try open(machine)
    try store.put("damaged", forKey: "other")
    try store.put("old", forKey: "k")
    let first = try end(store)
    try store.remove("k")
    try store.put("kept", forKey: "another")
    let second = try end(store)
    store.probe.sealFinished()
    let figures = try #require(store.probe.segments.first { $0.id == first })
    try #require(figures.footerOffset > 0)
    do {
      let segment = try #require(store.probe.hold(first))
      segment.store(0xff, at: SegmentHeader.length)
      segment.store(0xff, at: figures.footerOffset)
    }
    try store.merge(segments: [second])
    #expect(store.statistics.merges == 1)
    try expect(nil, in: store)
  }

  @Test func aReapedValueHidesAnOlderOneThatLivesLonger() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    _ = try end(store)
    try store.put("new", forKey: "k", expiry: .after(.seconds(1)))
    let second = try end(store)
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.removeExpired() == 1)
    try store.merge(segments: [second])
    try expect(nil, in: store)
  }

  @Test func mergingRestsWhileWhatExpiredHidesAnOlderValueThatIsNotMerged() throws {
    let store = try machine.open { $0.merge.isAutomatic = true }
    store.pauseMerging()
    try store.put([UInt8](repeating: 1, count: 1000), forKey: "other")
    try store.put("old", forKey: "k")
    _ = try end(store)
    try store.put("short", forKey: "k", expiry: .after(.milliseconds(10)))
    _ = try end(store)
    machine.clock.advance(milliseconds: 20)
    var looks = 0
    while store.probe.mergeStep(), looks < 10 { looks += 1 }
    #expect(looks < 10)
    try expect(nil, in: store)
  }

  @Test func aKeyThatWasPutAgainAfterItsRemovalStays() throws {
    let store = try open(machine)
    try store.put("one", forKey: "k")
    let first = try end(store)
    try store.remove("k")
    let second = try end(store)
    try store.put("two", forKey: "k")
    let third = try end(store)
    for ids in [[third], [second], [first]] {
      try store.merge(segments: ids)
      try expect(bytes("two"), in: store)
    }
  }

  @Test func whatWasDurableIsNotLostToAPowerFailureBecauseANewerWriteWasNot() throws {
    let store = try open(machine)
    try store.put("durable", forKey: "k", durability: .synced)
    let first = try end(store)
    try store.put("newer", forKey: "k")
    try store.merge(segments: [first])
    var generator = SeededGenerator(seed: 1)
    var copy = machine
    copy.disk = try machine.disk.crashImage(.drop, using: &generator)
    let value = try open(copy).get("k")
    #expect(value == bytes("durable") || value == bytes("newer"))
  }

  @Test func touchAndPersistAreNotUndone() throws {
    let store = try open(machine)
    try store.put("v", forKey: "k", expiry: .after(.seconds(1)))
    let first = try end(store)
    try store.touch("k", expiry: .never)
    let second = try end(store)
    machine.clock.advance(milliseconds: 2000)
    for ids in [[first], [second]] {
      try store.merge(segments: ids)
      try expect(bytes("v"), in: store)
    }
  }

  @Test func theLastSequenceIsKeptWhenAllOfTheLogIsMerged() throws {
    let store = try open(machine)
    for number in 0..<10 { try store.put("v", forKey: "\(number % 3)") }
    try store.merge()
    try everyWay(store) { #expect($0.lastSequence.rawValue == 10) }
    try store.put("w", forKey: "1")
    try everyWay(store) { #expect($0.lastSequence.rawValue == 11) }
  }

  @Test func theLastSequenceIsKeptWhenNoSegmentIsLeft() throws {
    var machine = machine
    var store = try open(machine)
    try store.put("gone", forKey: "k", expiry: .after(.milliseconds(-1)))
    try store.merge()
    for _ in 0..<2 {
      store = try machine.reopenAfterKill { $0.merge.isAutomatic = false }
      #expect(store.lastSequence.rawValue == 1)
      // The manifest is written, and lists nothing.
      _ = try store.keyspace("new")
    }
    #expect(try store.put("next", forKey: "k").rawValue == 2)
  }

  @Test func whatAMergeEvictsStillHidesAnOlderValue() throws {
    let store = try open(machine)
    try store.put("old", forKey: "k")
    _ = try end(store)
    try store.put("new", forKey: "k")
    let newer = try end(store)
    try store.put("v", forKey: "tail", durability: .synced)
    store.probe.sealFinished()
    #expect(try store.probe.merge([#require(store.probe.hold(newer))], evicting: true).recordsEvicted == 1)
    try expect(nil, in: store)
  }

  /// It marks an empty place.
  @Test func theHashZeroIsRememberedToo() {
    var table = HashTable(capacity: 2)
    for hash in [0, 1] as [UInt64] { table.insert(hash) }
    let noted = [(0, 9), (0, 7), (0, 8), (1, 5), (2, 4)].map { table.note($0, $1) }
    #expect(noted == [true, true, true, true, false])
    #expect(table.leastSequence(of: 0) == 7)
    #expect(table.leastSequence(of: 1) == 5)
  }
}
