import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Whatever changes where the index leads tells open snapshots and a checkpoint under way before, and keeps the figures.
@Suite struct IndexChangeTests {
  private let machine = Machine()
  private let plan = FaultPlan()

  private func open(_ change: (inout Options) -> Void = { _ in }) throws -> LogStore {
    let options = machine.options { options in
      options.merge.isAutomatic = false
      change(&options)
    }
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    return try LogStore(at: machine.path, options: options, host: StoreHost(platform: platform, background: .inline))
  }

  private static func value(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number & 0xff), count: 400) }

  private func fill(_ store: LogStore, _ keys: Range<Int>, expiry: Expiry = .never) throws {
    for key in keys { try store.put(Self.value(key), forKey: "key \(key)", expiry: expiry) }
  }

  private func expectToldBefore(
    _ store: LogStore,
    leaving least: Int,
    isUndone: Bool = false,
    _ change: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bystander = store.probe.bystander()
    try change()
    let report = bystander.leave()
    #expect(report.toldTooLate == 0, "after the index led elsewhere", sourceLocation: sourceLocation)
    #expect(report.untold == 0, sourceLocation: sourceLocation)
    #expect((report.toldInVain > 0) == isUndone, sourceLocation: sourceLocation)
    #expect(report.unsaved == 0, "buckets that a checkpoint shows as they became", sourceLocation: sourceLocation)
    #expect(report.left >= least, "the change takes something away", sourceLocation: sourceLocation)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount, sourceLocation: sourceLocation)
    #expect(store.statistics.keys == store.probe.indexCount, sourceLocation: sourceLocation)
  }

  @Test func insertionsOverwritesAndRemovals() throws {
    let store = try open()
    try fill(store, 0..<50)
    try expectToldBefore(store, leaving: 40) {
      try fill(store, 20..<60)
      for key in 0..<10 { try store.remove("key \(key)") }
    }
  }

  @Test func batches() throws {
    let store = try open()
    try fill(store, 0..<50)
    try expectToldBefore(store, leaving: 31) {
      try store.write { (batch) throws(StoreError) in
        for key in 20..<60 { try batch.put("changed", forKey: "key \(key)") }
        try batch.put("again", forKey: "key 30")
        try batch.remove("key 1")
      }
    }
  }

  @Test func removalsOfTheExpired() throws {
    let store = try open()
    try fill(store, 0..<50, expiry: .after(.seconds(1)))
    try fill(store, 50..<60)
    machine.clock.advance(milliseconds: 2000)
    try expectToldBefore(store, leaving: 50) {
      let removed = try store.removeAllExpired()
      #expect(removed == 50)
    }
  }

  @Test func sweepsOfAnEmptiedKeyspace() throws {
    let store = try open()
    try fill(store, 0..<50)
    try expectToldBefore(store, leaving: 50) {
      try store.removeAll()
      store.probe.sweep()
    }
  }

  @Test func merges() throws {
    let store = try open()
    try fill(store, 0..<600)
    try fill(store, 0..<100, expiry: .after(.seconds(1)))
    machine.clock.advance(milliseconds: 2000)
    try store.probe.endTail()
    let ids = store.statistics.segments.map(\.id)
    // 500 have a new place, and 100 go.
    try expectToldBefore(store, leaving: 600) { try store.merge(segments: ids) }
    #expect(try store.count() == 500)
  }

  @Test func mergesThatAreUndone() throws {
    let store = try open()
    try fill(store, 0..<600)
    try store.probe.endTail()
    let before = try store.contents()
    plan.fail(.write, on: .prefix("manifest"), sticky: true, .error(PlatformError.noSpace))
    try expectToldBefore(store, leaving: 0, isUndone: true) {
      let ids = store.statistics.segments.map(\.id)
      #expect(throws: StoreError.self) { try store.merge(segments: ids) }
    }
    plan.heal()
    #expect(try store.contents() == before)
  }

  @Test func evictions() throws {
    let store = try open { $0.capacity = 1 << 20 }
    try fill(store, 0..<400)
    let ids = store.statistics.segments.map(\.id)
    try expectToldBefore(store, leaving: 300) {
      try fill(store, 400..<2_600)
      let left = store.statistics.segments.map(\.id)
      #expect(!left.contains { ids.contains($0) })
    }
  }

  @Test func whatAReaderTakesIn() throws {
    let writer = try open()
    try fill(writer, 0..<300)
    let reader = try machine.open { $0.readOnly = true }
    try expectToldBefore(reader, leaving: 100) {
      try fill(writer, 50..<150)
      for key in 0..<10 { try writer.remove("key \(key)") }
      try reader.refresh()
    }
    try expectToldBefore(reader, leaving: 150) {
      try writer.merge()
      try fill(writer, 0..<10)
      try reader.refresh()
    }
    #expect(try reader.contents() == writer.contents())
  }

  /// A walk over the index, as of a verification, has the writer's lock: nothing moves under it, in a reader neither.
  @Test(arguments: [false, true])
  func aReaderChangesNothingWhileTheIndexIsWalked(isMerged: Bool) throws {
    let writer = try open()
    try fill(writer, 0..<300)
    let reader = try machine.open { $0.readOnly = true }
    if isMerged {
      try fill(writer, 0..<10)
      try writer.merge()
    } else {
      try fill(writer, 100..<600)
    }
    let probe = reader.probe
    let hasRead = SharedFlag()
    let follower = try probe.holdingWriter {
      let before = probe.bucketWords
      let follower = try WorkerThread(name: "follows") {
        try? reader.refresh()
        hasRead.raise()
      }
      // Far longer than it takes.
      for _ in 0..<5_000 where !hasRead.isRaised { Platform.yieldThread() }
      #expect(!hasRead.isRaised)
      let isSame = probe.bucketWords == before
      #expect(isSame)
      return follower
    }
    follower.join()
    #expect(try reader.contents() == writer.contents())
  }

  @Test func aDamagedRecordThatIsOverwrittenIsCountedOut() throws {
    let store = try open()
    try fill(store, 0..<300)
    let before = try #require(store.probe.segments.first)
    // The first record's key.
    let first = try #require(store.probe.hold(before.id))
    first.store(0xff, at: SegmentHeader.length + RecordLayout.headerLength)
    try store.put("healed", forKey: "key 0")
    let after = try #require(store.probe.segments.first { $0.id == before.id })
    #expect(after.liveRecords == before.liveRecords - 1)
  }
}
