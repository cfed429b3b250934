import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What concerns only a small keyspace finds its entries without reading the store.
@Suite struct KeyspaceListingTests {
  /// What a snapshot shows of a keyspace, by the keyspace's hash list, if it has one.
  private static func listed(_ snapshot: Snapshot, _ space: Keyspace) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    for entry in snapshot.entries(in: space) {
      let key = try entry.key()
      #expect(found[key] == nil, "a key is listed twice")
      #expect(entry.keyspace == space.name)
      found[key] = try entry.value()
    }
    return found
  }

  private static func expectListed(_ snapshot: Snapshot, _ space: Keyspace, _ moment: @autoclosure () -> String) throws
  {
    let expected = try snapshot.contents(of: space.name)
    let found = try listed(snapshot, space)
    // Not the two as they are: to tell where so many entries differ takes minutes.
    let isSame = found == expected
    #expect(isSame, "\(moment()): \(found.count) of \(expected.count)")
  }

  private static func hasKeyHashes(_ space: Keyspace) -> Bool { space.core.hasKeyHashes }

  @Test func aSmallKeyspaceIsListedByItsKeys() throws {
    let store = try Machine().open()
    let space = try store.keyspace("small")
    for number in 0..<1_000 { try store.put("v", forKey: "key \(number)") }
    for number in 0..<10 { try space.put("\(number)", forKey: "key \(number)") }
    let snapshot = try store.snapshot()
    #expect(try Self.listed(snapshot, space).count == 10)
    // Ten keys are looked up, whatever else there is.
    #expect(try snapshot.addresses(of: space.core, space.core.tag)?.count == 10)
    try store.close()
  }

  @Test func aLargeKeyspaceHasNoListAndIsReadAsBefore() throws {
    let store = try Machine().open()
    let space = try store.keyspace("large")
    for number in 0...KeyHashList.limit { try space.put("\(number)", forKey: "key \(number)") }
    #expect(!Self.hasKeyHashes(space))
    #expect(space.core.keyHashes.withLock { $0.hashes.isEmpty })
    #expect(try Self.listed(store.snapshot(), space).count == KeyHashList.limit + 1)
    // An emptied keyspace is small again.
    try space.removeAll()
    try space.put("v", forKey: "k")
    #expect(Self.hasKeyHashes(space))
    #expect(try Self.listed(store.snapshot(), space) == [bytes("k"): bytes("v")])
  }

  @Test func keysThatComeAndGoDoNotMakeItLarge() throws {
    let store = try Machine().open()
    let space = try store.keyspace("sessions")
    for number in 0..<20_000 {
      try space.put("v", forKey: "session \(number)")
      if number >= 8 { try space.remove("session \(number - 8)") }
    }
    #expect(Self.hasKeyHashes(space))
    #expect(space.core.keyHashes.withLock { $0.capacity } == 16)
    #expect(try Self.listed(store.snapshot(), space).count == 8)
  }

  /// Two bytes a key, and half a mebibyte.
  @Test func allListsTogetherAreBounded() throws {
    let store = try Machine().open()
    let spaces = try store.keyspaces((0..<200).map { "space \($0)" })
    for space in spaces {
      for number in 0..<600 { try space.put("v", forKey: "key \(number)") }
    }
    let rooms = spaces.map { space in space.core.keyHashes.withLock { $0.capacity } }
    let total = rooms.reduce(0, +)
    #expect(try total <= 64 << 10 + store.totalCount() / 4)
    #expect(total == store.engine.keydir.keyHashCapacity.load(ordering: .relaxed))
    #expect(spaces.contains { Self.hasKeyHashes($0) } && spaces.contains { !Self.hasKeyHashes($0) })
    for space in [spaces[0], spaces[199]] { #expect(try Self.listed(store.snapshot(), space).count == 600) }
    for space in spaces { try space.removeAll() }
    #expect(store.engine.keydir.keyHashCapacity.load(ordering: .relaxed) == 0)
  }

  @Test func theListSurvivesACleanCloseAndAKill() throws {
    var machine = Machine()
    var store = try machine.open()
    for number in 0..<2_000 { try store.put("v", forKey: "key \(number)") }
    let names = ["a", "b", "c"]
    for space in try store.keyspaces(names) {
      for number in 0..<30 { try space.put("v", forKey: "\(space.name) \(number)") }
    }
    func check(_ moment: String, _ count: Int) throws {
      for space in try store.keyspaces(names) {
        #expect(Self.hasKeyHashes(space), "\(moment)")
        #expect(try Self.listed(store.snapshot(), space).count == count, "\(moment)")
      }
    }
    try store.close()
    store = try machine.open()
    #expect(store.engine.keydir.loadedCheckpoint != nil)
    try check("from a checkpoint", 30)
    for space in try store.keyspaces(names) { try space.put("v", forKey: "more") }
    store.probe.writeCheckpoint()
    for space in try store.keyspaces(names) { try space.put("v", forKey: "and more") }
    store = try machine.reopenAfterKill()
    try check("from a checkpoint and the log", 32)
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open()
    try check("from the log", 32)
  }

  /// The list of 600 keys has room for more of them after an opening, too.
  @Test func aListFromACheckpointGrows() throws {
    let machine = Machine()
    var store = try machine.open()
    try store.put("v", forKey: "k")
    let space = try store.keyspace("small")
    for number in 0..<600 { try space.put("v", forKey: "\(number)") }
    #expect(Self.hasKeyHashes(space))
    try store.close()
    store = try machine.open()
    let again = try store.keyspace("small")
    for number in 600..<700 { try again.put("v", forKey: "\(number)") }
    #expect(Self.hasKeyHashes(again))
    #expect(try Self.listed(store.snapshot(), again).count == 700)
    #expect(store.engine.keydir.keyHashCapacity.load(ordering: .relaxed) == 1_024)
  }

  @Test func whatLeftTheIndexIsKnownOnceInTheOrderOfTheNotes() {
    let state = SnapshotState()
    var (expected, found): ([UInt64], [UInt64]) = ([], [])
    for address in UInt64(1)...40_000 {
      state.noteSuperseded(address, 1)
      state.noteSuperseded(address / 2 + 1, 1)
      expected.append(address)
      if address % 5_000 == 0 { found += state.superseded(behind: found.count) }
    }
    while found.count < state.supersededCount { found += state.superseded(behind: found.count) }
    #expect(found == expected && state.superseded(behind: found.count).isEmpty)
    #expect(expected.allSatisfy { state.wasSuperseded($0) } && !state.wasSuperseded(40_001))
  }

  /// Nobody can tell what a damaged record was: it is not left out, as if it had never been.
  @Test(arguments: [true, false]) func aDamagedRecordIsShownAsDamage(isSmall: Bool) throws {
    let machine = Machine()
    var store = try machine.open()
    let space = try store.keyspace("small")
    for number in 0..<(isSmall ? 20 : KeyHashList.limit + 1) {
      try space.put("a value \(number)", forKey: "key \(1_000 + number)")
    }
    try store.close()
    let name = try #require(machine.files(".segment").first)
    let file = try machine.disk.open(name, .readWrite)
    let contents = try file.bytes(in: 0..<4096)
    let place = try #require(contents.indices.first { contents[$0...].starts(with: bytes("key 1010")) })
    // In the header of the record, which begins before its key.
    try file.writeAll([contents[place - 20] ^ 1], at: place - 20)
    file.close()
    store = try machine.open()
    let found = try store.keyspace("small")
    #expect(Self.hasKeyHashes(found) == isSmall)
    let snapshot = try store.snapshot()
    var keys = 0
    #expect(throws: StoreError.self) {
      for entry in snapshot.entries(in: found) where try !entry.key().isEmpty { keys += 1 }
    }
    #expect(keys >= 1)
  }

  @Test func expiredEntriesOfASmallKeyspaceAreCountedAndRemoved() throws {
    let machine = Machine()
    let store = try machine.open()
    let space = try store.keyspace("sessions")
    for number in 0..<300 {
      try store.put("v", forKey: "key \(number)", expiry: .after(.seconds(1)))
      try space.put("v", forKey: "key \(number)", expiry: number % 3 == 0 ? .after(.seconds(1)) : .never)
    }
    let snapshot = try store.snapshot()
    #expect(try space.countExpired() == 0)
    machine.clock.advance(milliseconds: 2_000)
    #expect(try space.countExpired() == 100)
    #expect(try space.removeExpired() == 100)
    #expect(try space.countExpired() == 0)
    #expect(try space.removeExpired() == 0)
    #expect(try space.count() == 200 && store.count() == 0)
    #expect(try Self.listed(store.snapshot(), space).count == 200)
    #expect(try Self.listed(snapshot, space).count == 300)
    #expect(try store.removeExpired() == 300)
  }

  /// Random writes, merges, openings and readers: a listing shows what reading everything does, also of older snapshots.
  @Test(arguments: 0..<6) func listingsShowWhatSnapshotsDo(seed: Int) throws {
    var generator = SeededGenerator(announcedFor: "KeyspaceListing \(seed)")
    var machine = Machine()
    let names = ["a", "b", "c"]
    func open() throws -> LogStore { try machine.open { $0.compression = seed % 2 == 0 ? .off : .lz4 } }
    var store = try open()
    var snapshots: [Snapshot] = []
    var reader: LogStore?
    for step in 0..<1_500 {
      let space = try store.keyspaces(names)[Int.random(in: 0..<3, using: &generator)]
      let key = "key \(Int.random(in: 0..<(space.name == "c" ? 3_000 : 60), using: &generator))"
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<60: try space.put([UInt8](repeating: UInt8(step & 255), count: 300), forKey: key)
      case 60..<75: try space.remove(key)
      case 75..<85: try store.put([UInt8](repeating: 2, count: 900), forKey: key)
      case 85..<87 where step % 5 == 0: try space.removeAll()
      case 87..<88 where step % 3 == 0: try store.removeKeyspace(space.name)
      case 88..<91: snapshots.append(try store.snapshot())
      case 91..<93 where !snapshots.isEmpty: snapshots.removeFirst()
      case 93..<95: try store.merge()
      case 95..<96: store.probe.writeCheckpoint()
      case 96..<97:
        snapshots = []
        reader = nil
        if step % 2 == 0 {
          try store.close()
          store = try open()
        } else {
          store.probe.kill()
          machine.disk = try machine.disk.processKilled()
          store = try open()
        }
      case 97..<98: reader = try machine.open { $0.readOnly = true }
      default: break
      }
      guard step % 10 == 0 else { continue }
      for name in names where try store.keyspaceNames.contains(name) {
        let space = try store.keyspace(name)
        try Self.expectListed(store.snapshot(), space, "seed \(seed), step \(step), \(name)")
        for (number, snapshot) in snapshots.enumerated() {
          guard snapshot.keyspaces[space.core.id] != nil else { continue }
          try Self.expectListed(snapshot, space, "seed \(seed), step \(step), \(name), snapshot \(number)")
        }
      }
      guard let reader else { continue }
      try reader.refresh()
      for name in names where try reader.keyspaceNames.contains(name) {
        let space = try reader.keyspace(name)
        try Self.expectListed(reader.snapshot(), space, "seed \(seed), step \(step), reader's \(name)")
        #expect(try space.count() == store.keyspace(name).count())
      }
    }
  }
}
