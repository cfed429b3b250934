import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct PackingTests {
  @Test func everythingReadsFromPackedSegments() throws {
    let packed = try PackedStore(1_200)
    let segments = PackedStore.packed(packed.store)
    #expect(segments.count > 1)
    // A segment of what expires together may be small, and then so is what it gains.
    let unpacked = segments.reduce(0) { $0 + $1.unpackedBytes }
    let bytes = segments.reduce(0) { $0 + $1.recordBytes }
    #expect(Double(unpacked) / Double(bytes) > 1.3, "\(segments.map(\.compressionRatio))")
    #expect(segments.allSatisfy { $0.isSealed && $0.isMerged })
    // Nothing but the empty tail is left of the log.
    #expect(packed.store.statistics.segments.filter { !$0.isPacked }.allSatisfy { $0.recordBytes == 0 })
    try packed.check(packed.store, "packed")
    try packed.store.close()
  }

  @Test func threadsReadPackedValuesSideBySide() throws {
    let packed = try PackedStore(600)
    let errors = try onThreads(6) { _ in
      for _ in 0..<5 {
        for space in PackedStore.spaces {
          let keyspace = try packed.store.keyspace(space)
          for (key, value) in packed.expected[space] ?? [:] where try keyspace.get(key) != value {
            throw StoreError.closed
          }
        }
      }
    }
    #expect(errors.isEmpty)
  }

  @Test func packedStoreOpensFromCheckpointFootersAndRecords() throws {
    var packed = try PackedStore(600)
    let unpacked = PackedStore.packed(packed.store).map(\.unpackedBytes).sorted()
    try packed.store.close()
    var store = try packed.machine.open()
    try packed.check(store, "from the checkpoint")
    #expect(PackedStore.packed(store).map(\.unpackedBytes).sorted() == unpacked)
    try store.close()
    try packed.machine.deleteCheckpoint()
    let log = EventLog()
    store = try packed.machine.open { $0.onEvent = { log.record($0) } }
    #expect(log.opening?.indexSource == .segments && log.damage.isEmpty)
    try packed.check(store, "from footers")
    try store.close()
    try packed.machine.deleteCheckpoint()
    for segment in PackedStore.packed(store) { Issue.record("closed store shows \(segment.id)") }
    try Self.damageFooters(&packed.machine)
    store = try packed.machine.open { $0.onEvent = { log.record($0) } }
    #expect(!log.damage.isEmpty)
    for space in PackedStore.spaces {
      #expect(try store.snapshot().contents(of: space) == packed.expected[space])
    }
    try store.close()
  }

  /// Takes the footers' trailers away.
  private static func damageFooters(_ machine: inout Machine) throws {
    for file in try machine.files(".segment") {
      let handle = try machine.disk.open(file, .readWrite)
      let size = try handle.status().size
      let bytes = try handle.bytes(in: 0..<size)
      let magic = Array("ESKRFTR1".utf8)
      for offset in stride(from: 0, to: size - 8, by: 8) where Array(bytes[offset..<offset + 8]) == magic {
        try handle.writeAll([0], at: offset)
      }
    }
  }

  @Test func killedStoreKeepsWhatWasPacked() throws {
    var packed = try PackedStore(600)
    let store = try packed.machine.reopenAfterKill()
    try packed.check(store, "after a kill")
    #expect(!PackedStore.packed(store).isEmpty)
    try store.close()
  }

  @Test func packedKeysAreOverwrittenAndRemoved() throws {
    var packed = try PackedStore(400)
    let store = packed.store
    let keys = (packed.expected[""] ?? [:]).keys.sorted { $0.lexicographicallyPrecedes($1) }
    for (position, key) in keys.enumerated() {
      switch position % 4 {
      case 0:
        #expect(try store.remove(key))
        packed.expected[""]?[key] = nil
      case 1:
        try store.put("new", forKey: key)
        packed.expected[""]?[key] = bytes("new")
      case 2:
        let version = try #require(try store.metadata(forKey: key)?.version)
        let outcome = try store.compareAndSet("swapped", forKey: key, ifVersion: version)
        #expect(outcome != nil)
        packed.expected[""]?[key] = bytes("swapped")
      default: break
      }
    }
    try packed.check(store, "changed")
    try store.merge()
    try packed.check(store, "packed again")
    try store.close()
    try packed.machine.deleteCheckpoint()
    let reopened = try packed.machine.open()
    try packed.check(reopened, "rebuilt")
    try reopened.close()
  }

  @Test func expiredPackedEntriesAreNotSeenAndReaped() throws {
    let packed = try PackedStore(400)
    let before = try packed.store.totalCount()
    packed.machine.clock.advance(milliseconds: 2_000_000)
    let removed = try packed.store.removeExpired() + packed.store.keyspace("other").removeExpired()
    #expect(try removed > 20 && packed.store.totalCount() == before - removed)
    for (key, value) in packed.expected[""] ?? [:] {
      if let found = try packed.store.get(key) { #expect(found == value) }
    }
    let figures = try packed.store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    try packed.store.close()
  }

  @Test func snapshotShowsWhatIsPackedUnderIt() throws {
    let machine = Machine()
    let store = try machine.open { $0.compression = .lz4 }
    for number in 0..<100 { try store.put([UInt8](repeating: 7, count: 400), forKey: "key \(number)") }
    var snapshot: Snapshot? = try store.snapshot()
    try store.merge()
    #expect(!PackedStore.packed(store).isEmpty)
    #expect(try snapshot?.contents().count == 100)
    snapshot = nil
    #expect(try store.snapshot().contents().count == 100)
    try store.close()
  }

  @Test func optionCanBeChangedOnAnExistingStore() throws {
    let machine = Machine()
    var store = try machine.open()
    for number in 0..<900 { try store.put([UInt8](repeating: 65, count: 300), forKey: "key \(number)") }
    #expect(PackedStore.packed(store).isEmpty)
    try store.close()
    // What was sealed before is packed once it has been there for some time.
    machine.clock.advance(milliseconds: MergePolicy.packingDelay)
    store = try machine.open { $0.compression = .lz4(level: 9) }
    try store.put("one", forKey: "more", durability: .synced)
    #expect(PackedStore.packed(store).count > 1)
    try store.close()
    store = try machine.open { $0.compression = .off }
    for number in 0..<900 { try store.put("raw \(number)", forKey: "key \(number)") }
    for number in 0..<900 { #expect(try store.get("key \(number)") == bytes("raw \(number)")) }
    // Without compression, merges unpack.
    try store.merge()
    #expect(PackedStore.packed(store).isEmpty)
    for number in 0..<900 { #expect(try store.get("key \(number)") == bytes("raw \(number)")) }
    #expect(try store.get("more") == bytes("one"))
    #expect(try store.verify().isClean)
    try store.close()
  }

  @Test func readOnlyOpeningReadsPackedSegments() throws {
    let packed = try PackedStore(300)
    let reader = try packed.machine.open { $0.readOnly = true }
    for (key, value) in packed.expected[""] ?? [:] { #expect(try reader.get(key) == value) }
    try packed.store.put("fresh", forKey: "later")
    try reader.refresh()
    #expect(try reader.get("later") == bytes("fresh"))
    try reader.close()
    try packed.store.close()
  }
}
