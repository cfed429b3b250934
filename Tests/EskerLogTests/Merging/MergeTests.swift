import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct MergeTests {
  let machine = Machine()

  /// A store that merges only when told to.
  private func open(_ machine: Machine) throws -> LogStore {
    try machine.open { $0.merge.isAutomatic = false }
  }

  private func fill(_ store: LogStore, keys: Int = 100, rounds: Int = 8) throws -> [[UInt8]: [UInt8]] {
    for round in 0..<rounds {
      for number in 0..<keys { try store.put([UInt8](repeating: UInt8(round), count: 500), forKey: "key \(number)") }
    }
    return try store.contents()
  }

  @Test func mergingGivesDeadSpaceUpAndKeepsEveryValueAndVersion() throws {
    var store = try open(machine)
    let contents = try fill(store)
    let versions = try contents.keys.map { try store.metadata(forKey: $0)?.version }
    let before = store.statistics
    let report = try store.merge()
    let after = store.statistics
    #expect(after.deadBytes == 0)
    #expect(after.liveBytes == before.liveBytes)
    #expect(after.bytesOnDisk < before.bytesOnDisk / 3 + store.probe.reserveLength)
    #expect(report.bytesFreed == before.deadBytes)
    #expect(report.segmentsRemoved >= before.segments.count - 1)
    #expect(after.merges > 0)
    #expect(after.merged == report)
    for _ in 0..<2 {
      #expect(try store.contents() == contents)
      #expect(try contents.keys.map { try store.metadata(forKey: $0)?.version } == versions)
      #expect(try store.verify().isClean)
      try store.close()
      try machine.deleteCheckpoint()
      store = try open(machine)
    }
    let opening = try machine.disk.processKilled()
    var copy = machine
    copy.disk = opening
    #expect(try open(copy).contents() == contents)
  }

  @Test func mergedSegmentsAreMergedAgain() throws {
    let store = try open(machine)
    var contents = try fill(store)
    for round in 0..<5 {
      try store.merge()
      for number in 0..<50 { try store.put("round \(round)", forKey: "key \(number)") }
      contents = try store.contents()
    }
    try store.merge()
    #expect(try store.contents() == contents)
    #expect(store.statistics.deadBytes == 0)
    #expect(store.statistics.segments.count { $0.isMerged } <= 2)
  }

  @Test func chosenSegmentsOnlyAreMerged() throws {
    let store = try open(machine)
    let contents = try fill(store)
    let ids = store.statistics.segments.map(\.id)
    try store.merge(segments: [ids[1], 999])
    let left = store.statistics.segments.map(\.id)
    #expect(ids.filter { !left.contains($0) } == [ids[1]])
    #expect(try store.contents() == contents)
  }

  @Test func aStoreMergesByItself() throws {
    let store = try machine.open()
    let contents = try fill(store, rounds: 60)
    let figures = store.statistics
    #expect(figures.merges > 0)
    let records = figures.segments.reduce(0) { $0 + $1.recordBytes }
    #expect(records < figures.liveBytes * 2 + 3 * 64 << 10)
    #expect(try store.contents() == contents)
  }

  @Test func pausedMergingWaitsUntilItIsResumed() throws {
    let store = try machine.open()
    store.pauseMerging()
    _ = try fill(store, rounds: 60)
    #expect(store.statistics.merges == 0)
    store.resumeMerging()
    try store.put("v", forKey: "k")
    _ = try fill(store, rounds: 2)
    #expect(store.statistics.merges > 0)
  }

  @Test func noMergeBeginsOutsideItsWindow() throws {
    let store = try machine.open { options in options.merge.window = { _ in false } }
    _ = try fill(store, rounds: 60)
    #expect(store.statistics.merges == 0)
    try store.merge()
    #expect(store.statistics.deadBytes == 0)
  }

  @Test func progressIsToldAndCanStopAMerge() throws {
    let store = try open(machine)
    let contents = try fill(store, keys: 1000, rounds: 4)
    var shares: [Double] = []
    #expect(throws: StoreError.cancelled) {
      try store.merge { share in
        shares.append(share)
        return shares.count < 2
      }
    }
    #expect(shares.count == 2)
    #expect(try store.contents() == contents)
    shares = []
    try store.merge { share in
      shares.append(share)
      return true
    }
    #expect(shares == shares.sorted())
    #expect(shares.last == 1)
    #expect(store.statistics.deadBytes == 0)
  }

  @Test func whoStillReadsAMergedSegmentKeepsIt() throws {
    let store = try open(machine)
    let contents = try fill(store)
    var snapshot: Snapshot? = try store.snapshot()
    var iterator = snapshot?.makeIterator()
    var entry = iterator?.next()
    iterator = nil
    let key = try #require(entry).key()
    try store.merge()
    for number in 0..<100 { try store.remove("key \(number)") }
    try store.merge()
    #expect(store.statistics.pinnedBytes > 0)
    #expect(try snapshot?.contents() == contents)
    snapshot = nil
    #expect(try entry?.value() == contents[key])
    entry = nil
    // Pins are the whole process's: another test may just be reading.
    store.probe.collect()
    #expect(store.statistics.pinnedBytes == 0)
    #expect(try store.count() == 0)
  }

  @Test func aSnapshotTakenAfterAMergeShowsTheSame() throws {
    let store = try open(machine)
    let contents = try fill(store)
    try store.merge()
    let snapshot = try store.snapshot()
    _ = try fill(store, keys: 40, rounds: 3)
    try store.merge()
    #expect(try snapshot.contents() == contents)
  }

  @Test func removingEverythingGivesNearlyAllSpaceBack() throws {
    var store = try open(machine)
    _ = try fill(store)
    for number in 0..<100 { try store.remove("key \(number)") }
    try store.merge()
    #expect(store.statistics.segments.reduce(0) { $0 + $1.recordBytes } == 0)
    try store.close()
    #expect(try machine.files(".segment") == [])
    store = try open(machine)
    #expect(try store.count() == 0)
    #expect(store.lastSequence.rawValue == 900)
  }

  @Test func anEmptiedKeyspaceGivesItsSpaceBack() throws {
    var store = try open(machine)
    let space = try store.keyspace("space")
    for number in 0..<1000 { try space.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    try store.put("v", forKey: "k")
    try space.removeAll()
    try space.put("new", forKey: "key 1")
    try store.merge()
    #expect(store.statistics.segments.reduce(0) { $0 + $1.recordBytes } < 200)
    try store.close()
    try machine.deleteCheckpoint()
    store = try open(machine)
    #expect(try store.keyspace("space").count() == 1)
    #expect(try store.keyspace("space").get("key 1") == bytes("new"))
    #expect(try store.count() == 1)
  }

  @Test func segmentsOfExpiredRecordsAreGivenUpWithoutCopying() throws {
    let store = try machine.open { $0.segmentSize = 256 << 10 }
    for number in 0..<8000 {
      try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)", expiry: .after(.seconds(10)))
      if number % 10 == 0 { machine.clock.advance(milliseconds: 100) }
    }
    let figures = store.statistics
    #expect(figures.merges > 0)
    #expect(figures.merged.bytesWritten == 0)
    #expect(figures.writeAmplification < 1.1)
    #expect(figures.segments.reduce(0) { $0 + $1.recordBytes } < 5 * 256 << 10 + 1000 * 360)
    #expect(try store.get("key 7999") != nil)
    #expect(try store.get("key 0") == nil)
  }

  @Test func aSegmentIsGivenUpOnlyOnceItsLastValueHasExpired() throws {
    let store = try open(machine)
    for number in 0..<100 {
      let seconds = number % 2 == 0 ? 10 : 1_000
      try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)", expiry: .after(.seconds(seconds)))
    }
    try store.probe.endTail()
    for (milliseconds, left) in [(10_000, 50), (989_000, 50), (1_000, 0)] as [(Int64, Int)] {
      machine.clock.advance(milliseconds: milliseconds)
      try store.merge(segments: store.statistics.segments.map(\.id))
      #expect(try store.count() == left)
      #expect(try (store.get("key 1") != nil) == (left > 0))
    }
  }

  @Test func survivorsAreGroupedByExpiry() throws {
    let store = try open(machine)
    for number in 0..<300 {
      let expiry: Expiry = [.after(.seconds(10)), .after(.seconds(100_000)), .never][number % 3]
      try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)", expiry: expiry)
      try store.put("dead", forKey: "other")
    }
    try store.merge()
    let groups = store.probe.segments.filter { $0.kind == .merged }
    #expect(groups.count { $0.neverExpiring > 0 && $0.minExpiry <= $0.maxExpiry } == 0)
    machine.clock.advance(milliseconds: 10_000)
    let read = store.statistics.merged.bytesWritten
    try store.merge()
    #expect(store.statistics.merged.bytesWritten == read)
    #expect(try store.count() == 201)
  }

  @Test func aSegmentWithADamagedLiveRecordIsLeftAlone() throws {
    let machine = Machine()
    var store = try open(machine)
    _ = try fill(store, rounds: 2)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let damaged = try image.flipping(name, 60_000, bit: 3).machine()
    store = try open(damaged)
    #expect(throws: StoreError.self) { try store.merge() }
    #expect(try damaged.disk.list(damaged.path).contains(name))
    let errors = (0..<100).count { (try? store.get("key \($0)")) == nil }
    #expect(errors == 1)
  }

  @Test func eventsTellOfAMerge() throws {
    let log = EventLog()
    let store = try machine.open { options in
      options.merge.isAutomatic = false
      options.onEvent = { log.record($0) }
    }
    _ = try fill(store)
    let report = try store.merge()
    var began: [UInt64] = []
    var ended = Report.Merge()
    for event in log.events {
      if case .mergeBegan(let segments) = event { began += segments }
      if case .mergeEnded(let part, _) = event {
        ended.segmentsRemoved += part.segmentsRemoved
        ended.segmentsWritten += part.segmentsWritten
        ended.bytesRead += part.bytesRead
        ended.bytesWritten += part.bytesWritten
      }
    }
    #expect(began.count == report.segmentsRemoved)
    #expect(ended == report)
  }

  @Test func aMergeOfAReadOnlyOrClosedStoreIsRefused() throws {
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.close()
    #expect(throws: StoreError.closed) { try store.merge() }
    let reader = try machine.open { $0.readOnly = true }
    #expect(throws: StoreError.readOnly) { try reader.merge() }
  }
}
