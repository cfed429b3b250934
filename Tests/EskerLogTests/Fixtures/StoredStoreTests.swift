import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Stores that versions before this one have written, and one whose version is unknown.
@Suite struct StoredStoreTests {
  private static func key(_ number: Int) -> [UInt8] {
    bytes("\(number * 7 % 40 + 10)/\(String(repeating: "-", count: 20 * number))/\(number)")
  }

  /// What "posts" has, in order.
  private static let posts: [(key: [UInt8], value: [UInt8])] = (0..<40).filter { $0 % 7 != 0 || $0 % 11 == 1 }
    .map { (key($0), bytes($0 % 11 == 1 ? "new \($0)" : "value \($0)")) }
    .sorted { $0.key.lexicographicallyPrecedes($1.key) }

  private func machine(with store: StoredStore) throws -> Machine {
    let machine = Machine()
    // Later than when it was written.
    machine.clock.setWall(milliseconds: 2_000_000_000_000)
    try machine.disk.createDirectory(machine.path)
    for file in store.files {
      let created = try machine.disk.open("\(machine.path)/\(file.name)", .create)
      defer { created.close() }
      try created.writeAll(try file.bytes(), at: 0)
    }
    return machine
  }

  /// Opens the store, and compares all entries, by their keys and in order.
  private func openWhole(_ machine: Machine, _ log: EventLog, readOnly: Bool = false) throws -> LogStore {
    let store = try machine.open {
      $0.readOnly = readOnly
      $0.onEvent = { log.record($0) }
    }
    let space = try store.keyspace("posts")
    let posts = Self.posts
    #expect(try space.count() == posts.count)
    for number in 0..<40 {
      let expected = posts.first { $0.key == Self.key(number) }?.value
      #expect(try space.get(Self.key(number)) == expected, "\(number)")
    }
    #expect(try space.entries().map(\.key) == posts.map(\.key))
    #expect(try space.entries(order: .descending).map(\.value) == posts.map(\.value).reversed())
    #expect(try space.keys(in: .prefix("2")) == posts.map(\.key).filter { $0.starts(with: bytes("2")) })
    let middle = posts[17].key
    #expect(try space.keys(in: .from(middle)) == posts[17...].map(\.key))
    #expect(try space.last(in: .upTo(middle))?.value == posts[16].value)
    let snapshot = try store.snapshot()
    #expect(try snapshot.entries(in: space, .after(middle)).map { try $0.key() } == posts[18...].map(\.key))
    #expect(try store.keyspace("emptied").entries().map(\.key) == [bytes("there")])
    #expect(try store.entries().map(\.key) == [[], bytes("late")])
    #expect(try store.entries().map(\.value) == [bytes("without a key"), bytes("late")])
    return store
  }

  /// Their checkpoints do not say how many bytes keyspaces take, and are not used.
  @Test(arguments: [StoredStore.withoutOrders, .withOrders], [false, true])
  func aStoreOfAVersionBeforeOpensWithAllEntries(_ stored: StoredStore, _ readOnly: Bool) throws {
    let machine = try machine(with: stored)
    let log = EventLog()
    let store = try openWhole(machine, log, readOnly: readOnly)
    #expect(log.opening?.indexSource == .segments)
    #expect(try store.verify().isClean)
    #expect(log.damage.isEmpty, "\(log.damageReasons)")
    // It knows nothing of a history.
    #expect(store.history.openings.count == (readOnly ? 0 : 1) && !store.history.isDamaged)
    if readOnly { return try store.close() }
    // From here on it is one of this version.
    try store.put("v", forKey: "more")
    try store.remove("more")
    try store.close()
    let again = try openWhole(machine, log)
    #expect(try again.keyspace("posts").core.order?.checkpoint == again.probe.checkpointID)
    #expect(again.probe.checkpointID > 0 && log.damage.isEmpty)
    try again.close()
  }

  @Test(arguments: [false, true]) func aStoreOfThisVersionOpensWithItsKeysInOrder(_ readOnly: Bool) throws {
    let machine = try machine(with: .withByteCounts)
    let before = try machine.open { $0.readOnly = readOnly }
    let orders = try before.keyspaceNames.map { try before.keyspace($0).core.order } + [before.default.core.order]
    #expect(orders.count == 4 && orders.count { $0?.isComplete == true } == 3)
    // Pages as they were written, of which keys of such lengths need some.
    #expect(before.statistics.keyspaces.compactMapValues(\.orderBytes) == ["": 4096, "emptied": 4096, "posts": 20_480])
    try before.close()
    let log = EventLog()
    let store = try openWhole(machine, log, readOnly: readOnly)
    #expect(log.opening?.indexSource == .checkpoint)
    #expect(try store.keyspace("posts").core.order?.checkpoint == 1)
    let cache = try store.keyspace("cache")
    #expect(cache.capacity == Keyspace.Capacity(bytes: 1 << 20, entries: 10))
    #expect(try Set(cache.keys()) == Set((5..<15).map { bytes("\($0)") }))
    #expect(store.statistics.keyspaces["cache"]?.liveBytes == 5 * 48 + 5 * 56)
    if !readOnly {
      try cache.put("v", forKey: "more")
      #expect(try cache.count() == 10 && !cache.contains("5"))
    }
    #expect(try store.verify().isClean)
    #expect(log.damage.isEmpty, "\(log.damageReasons)")
    try store.close()
  }

  /// A checkpoint with a feature that nobody knows yet is left alone: it only saves time.
  @Test func aCheckpointOfUnknownFeaturesIsNotUsed() throws {
    for feature in 2..<32 {
      let machine = try machine(with: .withByteCounts)
      let path = try #require(try machine.files(".checkpoint").first)
      let file = try machine.disk.open(path, .readWrite)
      defer { file.close() }
      var header = try file.bytes(in: 0..<CheckpointHeader.pageSize)
      header[12 + feature / 8] |= 1 << UInt8(feature % 8)
      let checksum = CRC32C.checksum(of: ContiguousArray(header[..<4092]).span.bytes)
      for byte in 0..<4 { header[4092 + byte] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(byte))) }
      try file.writeAll(header, at: 0)
      let written = try file.allBytes()
      let log = EventLog()
      let reader = try openWhole(machine, log, readOnly: true)
      try reader.close()
      let store = try openWhole(machine, log)
      #expect(log.opening?.indexSource == .segments)
      #expect(log.damage.map(\.path) == [path, path])
      #expect(log.damageReasons.allSatisfy { $0.contains("needs unknown features") })
      #expect(try file.allBytes() == written)
      // The next one takes its place.
      try store.put("v", forKey: "more")
      try store.remove("more")
      try store.close()
      let again = try openWhole(machine, EventLog())
      #expect(again.probe.checkpointID > 1)
      try again.close()
    }
  }
}
