import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// What a store says of its last openings.
@Suite struct OpeningHistoryTests {
  private static let first = "0000000000000001.segment"

  private func kinds(_ history: Report.History) -> [Report.Opening.Kind] { history.openings.map(\.kind) }

  @Test func eachOpeningForWritingIsToldOf() throws {
    var machine = Machine()
    var store = try machine.open()
    #expect(kinds(store.history) == [.created])
    try store.put("v", forKey: "k")
    machine.clock.advance(milliseconds: 1_000)
    try store.close()
    // What a closed store knew, it still knows.
    #expect(kinds(store.history) == [.created])
    store = try machine.open()
    #expect(kinds(store.history) == [.created, .clean])
    try store.put("v", forKey: "l", durability: .synced)
    machine.clock.advance(milliseconds: 1_000)
    store = try machine.reopenAfterKill()
    let history = store.history
    #expect(kinds(history) == [.created, .clean, .afterCrash])
    #expect(!history.isDamaged)
    try #require(history.openings.count == 3)
    #expect(history.openings.map { $0.lastSequence.rawValue } == [0, 1, 2])
    #expect(history.openings.map(\.keys) == [0, 1, 2])
    let times = history.openings.map(\.time.millisecondsSince1970)
    #expect(times[1] - times[0] == 1_000 && times[2] - times[1] == 1_000)
    #expect(history.openings.allSatisfy { $0.isComplete && $0.cut == nil && $0.damageCount == 0 })
    #expect(history.openings[1].indexSource == .checkpoint)
    #expect(history.openings[2].indexSource == .checkpointAndReplay)
    #expect(history.openings[2].replayedRecords == 1)
    try store.close()
    // As the manifest has it, without opening the store and by a reader.
    let kept = try LogStore.history(at: machine.path, host: machine.host)
    #expect(kept == history)
    #expect(try machine.open { $0.readOnly = true }.history == history)
  }

  /// What an opening changes nothing for costs nothing: neither a sync nor a write.
  @Test func aCleanOpeningWritesNothing() throws {
    var machine = Machine()
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    for number in 0..<20 { try store.put("v", forKey: "key \(number)") }
    try store.close()
    let before = FaultOperation.allCases.map { plan.callCount(of: $0) }
    let again = try machine.open()
    #expect(kinds(again.history) == [.created, .clean])
    for (operation, count) in zip(FaultOperation.allCases, before)
    where [.write, .sync, .syncDirectory, .truncate, .create].contains(operation) {
      #expect(plan.callCount(of: operation) == count, "\(operation)")
    }
    // Nor does a reader, ever.
    let reader = try machine.open { $0.readOnly = true }
    #expect(kinds(reader.history) == [.created])
    try reader.close()
    try again.close()
  }

  @Test func aReaderSeesWhatItsWriterRecords() throws {
    let machine = Machine()
    let writer = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    #expect(reader.history == Report.History())
    try writer.put("v", forKey: "k")
    try reader.refresh()
    #expect(reader.history == writer.history)
    #expect(kinds(reader.history) == [.created])
    try reader.close()
    try writer.close()
  }

  @Test func thirtyTwoAreKeptAndThoseWithACrashLongest() throws {
    var machine = Machine()
    var store = try machine.open()
    try store.put("v", forKey: "first")
    store = try machine.reopenAfterKill()
    try store.put("v", forKey: "second")
    store = try machine.reopenAfterKill()
    try store.close()
    for number in 0..<40 {
      machine.clock.advance(milliseconds: 1_000)
      store = try machine.open()
      try store.put("v", forKey: "\(number)")
      try store.close()
    }
    let history = try LogStore.history(at: machine.path, host: machine.host)
    #expect(kinds(history) == [.created, .afterCrash, .afterCrash] + Array(repeating: .clean, count: 29))
    // What it found, before the last write.
    #expect(history.openings.last?.keys == 41)
  }

  // MARK: Crashes

  /// A store whose process was killed: two durable writes, and others, of which the fifth is missing on the disk.
  private func bench(failingSync: Bool) throws -> (bench: FaultBench, cut: Report.Cut) {
    let bench = FaultBench()
    let store = try bench.open()
    for number in 0..<2 { try store.put([UInt8](repeating: 1, count: 100), forKey: "key \(number)") }
    try store.sync()
    var offsets: [Int] = []
    for number in 2..<14 {
      offsets.append(try #require(store.probe.tailEnd))
      try store.put([UInt8](repeating: 2, count: 100), forKey: "key \(number)")
    }
    let end = try #require(store.probe.tailEnd)
    if failingSync {
      bench.plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: false))
      #expect(throws: StoreError.self) { try store.sync() }
    }
    store.probe.kill()
    try bench.killProcess()
    var bytes = try bench.bytes(Self.first)
    bytes.replaceSubrange(offsets[4]..<offsets[5], with: repeatElement(0, count: offsets[5] - offsets[4]))
    try bench.write(bytes, to: Self.first)
    let cut = Report.Cut(
      segment: 1,
      offset: offsets[4],
      sequence: SequenceNumber(rawValue: 7),
      records: 8,
      bytes: end - offsets[4],
      discardedSegments: 0
    )
    return (bench, cut)
  }

  private static func crashImage(of disk: SimulatedDisk, _ policy: CrashPolicy, seed: Int) -> SimulatedDisk? {
    var generator = SeededGenerator(seed: UInt64(seed))
    return try? disk.crashImage(policy, using: &generator)
  }

  /// Power fails at each call around an opening that cuts something off and the write after it. The next opening finds the hole itself, or
  /// what the one before has recorded.
  @Test(arguments: [false, true], CrashPolicy.allCases)
  func aCutIsNeverForgotten(failingSync: Bool, policy: CrashPolicy) throws {
    let (start, cut) = try bench(failingSync: failingSync)
    let base = start.disk
    let images = Guarded<[SimulatedDisk]>([])
    let bench = start
    bench.plan.onCall { call in
      guard [.write, .sync, .syncDirectory, .create, .remove, .reserve].contains(call.operation) else { return }
      images.withLock { images in
        if let image = Self.crashImage(of: base, policy, seed: images.count) { images.append(image) }
      }
    }
    let store = try bench.open(seed: 2)
    let found = try #require(store.history.openings.last)
    #expect(found.kind == .afterCrash && found.cut == cut && found.isComplete)
    #expect(bench.reported.contains(.cut(cut)))
    #expect(found.lastSync == (failingSync ? .failed : .complete))
    #expect(found.rewrittenRecords == (failingSync ? 4 : 0))
    #expect(found.lastSequence.rawValue == 6)
    try store.put("v", forKey: "new", durability: .synced)
    try store.close()
    bench.plan.onCall(nil)
    var generator = SeededGenerator(seed: 1)
    let last = try bench.disk.crashImage(policy, using: &generator)
    let all = images.withLock { $0 } + [last]
    #expect(all.count > 8)
    var recorded = 0
    for (number, image) in all.enumerated() {
      bench.disk = image
      bench.forgetEvents()
      let store = try bench.open(seed: 3)
      let rows = store.history.openings
      let tells = rows.filter { $0.cut?.sequence == cut.sequence && $0.cut?.offset == cut.offset }
      // What was rewritten because of a failed sync was moved; a cut behind it was made before.
      #expect(!tells.isEmpty, "image \(number) of \(all.count): \(rows)")
      if rows.last?.cut == nil { recorded += 1 }
      // Once it is recorded, it is there whatever comes.
      try store.put("v", forKey: "later")
      store.probe.kill()
      try bench.cutPower(.drop)
      let again = try bench.open(seed: 4)
      #expect(again.history.openings.contains { $0.cut?.sequence == cut.sequence }, "image \(number)")
      again.probe.kill()
    }
    #expect(recorded > 0, "nothing was ever found recorded")
  }

  /// The edit that makes a cut take effect is one of the opening itself, and the last one.
  @Test func anOpeningThatRecordedNothingAfterwardsIsNotKnownToHaveEnded() throws {
    let (bench, cut) = try bench(failingSync: true)
    let next = try bench.open(seed: 2)
    #expect(next.history.openings.last?.isComplete == true)
    next.probe.kill()
    try bench.cutPower(.drop)
    let rows = try LogStore.history(
      at: bench.path,
      host: StoreHost(platform: .simulated(fileSystem: bench.disk), background: .inline)
    ).openings
    #expect(rows.last?.isComplete == false && rows.last?.cut == cut)
    #expect(rows.last?.lastSync == .failed)
    let store = try bench.open(seed: 3)
    #expect(store.history.openings.contains { $0.cut == cut && !$0.isComplete })
    #expect(store.history.openings.last?.isComplete == true)
    try store.close()
  }

  @Test func aSyncWithoutAnEndIsToldOf() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("1", forKey: "k", durability: .synced)
    try store.put("2", forKey: "k")
    bench.killProcess(before: .sync, of: Self.first)
    try store.sync()
    store.probe.kill()
    try bench.takeKilled()
    let next = try bench.open(seed: 2)
    #expect(next.history.openings.last?.lastSync == .interrupted)
    try next.close()
    let history = try bench.open(seed: 3).history
    #expect(history.openings.map(\.lastSync) == [.complete, .interrupted, .complete])
  }

  // MARK: Damage

  @Test func damageIsToldOfWithItsPlace() throws {
    let bench = FaultBench()
    let store = try bench.open()
    var offset = 0
    for number in 0..<10 {
      if number == 5 { offset = store.probe.tailEnd ?? SegmentHeader.length }
      try store.put([UInt8](repeating: UInt8(number), count: 200), forKey: "key \(number)")
    }
    try store.sync()
    try store.put("says what was durable", forKey: "last")
    store.probe.kill()
    try bench.killProcess()
    try bench.change(Self.first, at: offset + 100)
    let damaged = try bench.open(seed: 2)
    let row = try #require(damaged.history.openings.last)
    #expect(row.damageCount == 1 && row.damage.count == 1)
    let damage = try #require(row.damage.first)
    #expect(damage.location.path == "\(bench.path)/\(Self.first)")
    #expect(damage.location.segment == 1 && damage.location.offset == offset)
    #expect(damage.records == 1 && damage.length > 200)
    #expect(bench.damage.count == 1)
    try damaged.close()
    let history = try bench.open(seed: 3).history
    #expect(history.openings.contains(row))
    #expect(history.openings.last?.damageCount == 0)
  }

  /// One copy's history is replaced from the other; without any, the store opens all the same, and says so.
  @Test(arguments: [[FileName.manifests[0]], [FileName.manifests[1]], FileName.manifests], [false, true])
  func aDamagedHistoryKeepsNoStoreFromOpening(damaged names: [String], isKilled: Bool) throws {
    let bench = FaultBench()
    var store = try bench.open()
    try store.put("v", forKey: "k", durability: .synced)
    if isKilled { store.probe.kill() } else { try store.close() }
    try bench.killProcess()
    for name in names {
      let contents = try bench.bytes(name)
      let manifest = try Manifest(decoding: ContiguousArray(contents).span.bytes)
      try bench.change(name, at: manifest.encoded().count - 20)
    }
    let isLost = names.count == 2
    let host = StoreHost(platform: .simulated(fileSystem: bench.disk), background: .inline)
    let closed = try LogStore.history(at: bench.path, host: host)
    #expect(closed.isDamaged == isLost)
    #expect(kinds(closed) == (isLost ? [] : [.created]))
    let reader = try bench.open(seed: 2) { $0.readOnly = true }
    #expect(reader.history == closed)
    #expect(try reader.get("k") == bytes("v"))
    try reader.close()
    bench.forgetEvents()
    store = try bench.open(seed: 2)
    #expect(try store.get("k") == bytes("v"))
    #expect(bench.damage.count == names.count, "\(bench.damage)")
    #expect(store.history.isDamaged == isLost)
    #expect(kinds(store.history) == (isLost ? [] : [.created]) + [isKilled ? .afterCrash : .clean])
    #expect(store.history.openings.last?.damage.allSatisfy { $0.reason.contains("history") } == true)
    try store.put("w", forKey: "k")
    try store.close()
    // It is whole again, and tells of that.
    bench.forgetEvents()
    store = try bench.open(seed: 3)
    #expect(bench.damage.isEmpty)
    #expect(!store.history.isDamaged)
    #expect(store.history.openings.contains { $0.damageCount == names.count })
    #expect(try store.verify().isClean)
    try store.close()
  }

  @Test func withoutAManifestThereIsNoHistory() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.close()
    for name in FileName.manifests { try machine.disk.remove("\(machine.path)/\(name)") }
    let history = try LogStore.history(at: machine.path, host: machine.host)
    #expect(history.openings.isEmpty && history.isDamaged)
    #expect(throws: StoreError.notAStore(path: "/nothing")) {
      try LogStore.history(at: "/nothing", host: machine.host)
    }
  }

  // MARK: Copies

  @Test func aBackupHasTheHistoryOfItsStoreAndSaysWhenItWasMade() throws {
    var machine = Machine()
    var store = try machine.open()
    try store.put("v", forKey: "k")
    store = try machine.reopenAfterKill()
    try store.put("w", forKey: "l")
    machine.clock.advance(milliseconds: 5_000)
    try store.backup(to: "/backup")
    let copy = try LogStore.history(at: "/backup", host: machine.host)
    #expect(copy.openings.dropLast() == store.history.openings[...])
    #expect(copy.openings.last?.kind == .copied)
    #expect(copy.openings.last?.lastSequence == store.lastSequence)
    #expect(copy.openings.last?.keys == 2)
    #expect(copy.openings.last?.time.millisecondsSince1970 == machine.clock.wallMilliseconds())
    try LogStore.restore(from: "/backup", to: "/restored", copying: false, host: machine.host)
    let restored = try LogStore(at: "/restored", options: machine.options(), host: machine.host)
    #expect(kinds(restored.history) == kinds(copy) + [.copied, .clean])
    try restored.close()
    try store.close()
  }

  @Test func aRepairedStoreSaysWhatWasLost() throws {
    let machine = Machine()
    let store = try machine.open()
    var places: [Int] = []
    for number in 0..<10 {
      places.append(store.probe.tailEnd ?? SegmentHeader.length)
      try store.put([UInt8](repeating: UInt8(number), count: 200), forKey: "key \(number)")
    }
    try store.close()
    let damaged = try DiskImage(of: machine).flipping(Self.first, places[3] + 100, bit: 1).machine()
    let report = try LogStore.salvage(from: damaged.path, to: "/new", options: damaged.options(), host: damaged.host)
    let loss = try #require(report.losses.first)
    let rows = try LogStore.history(at: "/new", host: damaged.host).openings
    #expect(rows.map(\.kind) == [.repaired])
    let row = try #require(rows.first)
    #expect(row.damageCount == 1 && row.damage.count == 1)
    #expect(row.keys == 9 && row.lastSequence.rawValue == 9)
    let told = try #require(row.damage.first)
    #expect(told.location.path == Self.first && told.location.offset == loss.location.offset)
    #expect(told.records == 1 && told.reason == loss.reason)
    // Its own openings follow.
    let repaired = try LogStore(at: "/new", options: damaged.options(), host: damaged.host)
    #expect(kinds(repaired.history) == [.repaired, .clean])
    try repaired.close()
  }
}
