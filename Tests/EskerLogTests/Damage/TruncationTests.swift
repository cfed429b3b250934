import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct TruncationTests {
  private func expectNone(_ failures: [String]) {
    #expect(failures.isEmpty, "\(failures.count) failures: \(failures.prefix(12).joined(separator: "\n"))")
  }

  /// Every length of what holds something, and a few of the zeros behind.
  private func lengths(_ bytes: [UInt8]) -> [Int] {
    let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    return (0..<bytes.count).filter { $0 <= used && ($0 < 4096 || $0 % 61 == 0) || $0 % 512 == 0 }
  }

  @Test(arguments: [true, false])
  func aFileCutToAnyLengthNeverGivesAWrongValue(_ withCheckpoint: Bool) throws {
    let store = try DamagedStore()
    var image = store.image
    if !withCheckpoint { image.files = image.files.filter { !$0.key.hasSuffix(".checkpoint") } }
    var tally = DamageTally()
    for name in image.names {
      // Whether a checkpoint is whole is seen before any of it is used.
      let every = name.hasSuffix(".checkpoint") ? 37 : 1
      for length in lengths(image.files[name] ?? []) where length % every == 0 {
        let outcome = try store.outcome(of: image.truncating(name, to: length), isThorough: length % 16 == 0)
        // With the tail's end goes the only account of the records there.
        let mayExpose = name == store.tail && !withCheckpoint
        tally.add(outcome, kind: DamagedStore.kind(of: name), "\(name) cut to \(length)", mayExpose: mayExpose)
      }
    }
    tally.print(withCheckpoint ? "cut" : "cut without checkpoint")
    expectNone(tally.failures)
  }

  /// Then the replay starts where the file ends, which may be amid a record.
  @Test func aTailCutBeforeTheCheckpointsPlaceIsOpenedMoreThanOnce() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<8 { try store.put("value \(number)", forKey: "key \(number)") }
    store.probe.writeCheckpoint()
    try #require(store.probe.checkpointID != 0)
    try store.put("value", forKey: "later")
    let tail = try #require(store.statistics.segments.first)
    let name = try #require(tail.path.split(separator: "/").last.map { String($0) })
    let image = try DiskImage(of: machine)
    for length in SegmentHeader.length..<SegmentHeader.length + tail.recordBytes {
      let cut = try image.truncating(name, to: length).machine()
      for round in 0..<2 {
        #expect(throws: Never.self, "\(length) bytes, opening \(round)") {
          let store = try cut.open()
          try store.put("value", forKey: "round \(round)")
          try store.close()
        }
      }
    }
  }

  /// Its seal would go where no page is mapped.
  @Test func aTailCutRightBehindItsRecordsHasRoomForItsSeal() throws {
    let machine = Machine()
    var store = try machine.open()
    let key = "8 bytes."
    try store.put([UInt8](repeating: 1, count: 4096 - SegmentHeader.length - 32 - 8), forKey: key)
    let tail = try #require(store.statistics.segments.first)
    #expect(tail.recordBytes == 4096 - SegmentHeader.length)
    let name = try #require(tail.path.split(separator: "/").last.map { String($0) })
    try store.close()
    store = try DiskImage(of: machine).truncating(name, to: 4096).machine().open()
    try store.probe.endTail()
    let segment = try #require(store.probe.hold(tail.id))
    #expect(segment.recordsEnd == 4096)
    #expect(segment.accessibleLength >= 4096 + 32)
    try store.put("v", forKey: "later")
    #expect(try store.get(key)?.count == 4096 - SegmentHeader.length - 32 - 8)
    // What was cut off is still reported until the store is opened again.
    #expect(try store.verify().damage.allSatisfy { $0.reason.contains("the segment is truncated") })
    try store.close()
  }

  /// The first write marks the store as open. Until that is on disk, another edit of the manifest still says where the tail ends.
  @Test func anEditBeforeTheFirstWriteKeepsTheEndOfTheTail() throws {
    let machine = Machine()
    var store = try machine.open()
    try store.put([UInt8](repeating: 1, count: 4096 - SegmentHeader.length - 32 - 8), forKey: "8 bytes.")
    let tail = try #require(store.statistics.segments.first)
    let name = try #require(tail.path.split(separator: "/").last.map { String($0) })
    try store.close()
    // So that the first write begins by growing the file.
    var cut = try DiskImage(of: machine).truncating(name, to: 4096).machine()
    let plan = FaultPlan()
    let platform = Platform.simulated(
      fileSystem: FaultyFileSystem(cut.disk, plan: plan),
      clock: cut.clock,
      seed: 1
    )
    store = try LogStore(at: cut.path, options: cut.options(), host: StoreHost(platform: platform, background: .inline))
    let crashed = Guarded<SimulatedDisk?>(nil)
    let (opened, disk) = (store, cut.disk)
    plan.onCall { call in
      guard call.path.hasSuffix(name), crashed.withLock({ $0 == nil }) else { return }
      crashed.withLock { $0 = disk }
      _ = try? onThreads(1) { _ in
        _ = try? opened.keyspace("new")
        let after = try? disk.processKilled()
        crashed.withLock { $0 = after }
      }
    }
    try store.put("v", forKey: "later")
    plan.onCall(nil)
    cut.disk = try #require(crashed.withLock { $0 })
    #expect(cut.disk !== disk)
    for _ in 0..<2 {
      store = try cut.open()
      #expect(try store.contents().keys.contains(bytes("8 bytes.")))
      try store.put("v", forKey: "another")
      try store.close()
    }
  }

  @Test func aMissingFileIsNoticedOrMadeAnew() throws {
    let store = try DamagedStore(filler: 6000)
    for name in store.image.names {
      var image = store.image
      image.files[name] = nil
      let outcome = try store.outcome(of: image, isThorough: true)
      #expect(outcome.wrong.isEmpty && outcome.lost.isEmpty, "\(name)")
      if name.hasSuffix(".segment") {
        guard case .damaged(let location, _) = outcome.openError else {
          Issue.record("\(name): \(String(describing: outcome.openError))")
          continue
        }
        #expect(location.path.hasSuffix(name))
      } else {
        #expect(outcome.openError == nil, "\(name)")
      }
    }
  }

  @Test func withoutBothManifestsAStoreIsDamagedAndUntouched() throws {
    var image = try DamagedStore().image
    image.files["manifest.a"] = nil
    image.files["manifest.b"] = nil
    let machine = try image.machine()
    #expect {
      try machine.open()
    } throws: { error in
      guard case StoreError.damaged = error else { return false }
      return true
    }
    #expect(try DiskImage(of: machine).files == image.files)
  }

  @Test func twoDamagedManifestsAreATypedErrorAndNothingIsTouched() throws {
    let good = try DamagedStore().image
    for offset in stride(from: 0, to: 200, by: 3) {
      let image = good.flipping("manifest.a", offset, bit: 1).flipping("manifest.b", offset, bit: 2)
      let machine = try image.machine()
      #expect {
        try machine.open()
      } throws: { error in
        guard case StoreError.damaged = error else { return false }
        return true
      }
      #expect(try DiskImage(of: machine).files.filter { $0.key != "LOCK" } == image.files.filter { $0.key != "LOCK" })
    }
  }

  @Test func filesOfGarbageNeverTrap() throws {
    var generator = SeededGenerator(announcedFor: "filesOfGarbageNeverTrap")
    let store = try DamagedStore()
    var tally = DamageTally()
    for round in 0..<600 {
      var image = store.image
      let name = image.names[round % image.names.count]
      let old = image.files[name] ?? []
      let fresh = generator.bytes(Int.random(in: 0...20_000, using: &generator))
      // Garbage all through, behind a good start, or in the middle.
      switch round % 3 {
      case 0: image.files[name] = fresh
      case 1: image.files[name] = old.prefix(Int.random(in: 0...old.count, using: &generator)) + fresh
      default:
        var bytes = old
        let start = Int.random(in: 0...old.count, using: &generator)
        let end = min(old.count, start + Int.random(in: 0...200, using: &generator))
        bytes.replaceSubrange(start..<end, with: fresh.prefix(end - start))
        image.files[name] = bytes
      }
      let isSegment = name.hasSuffix(".segment")
      let outcome = try store.outcome(of: image, isThorough: round % 8 == 0)
      tally.add(outcome, kind: DamagedStore.kind(of: name), "\(name) round \(round)", opens: !isSegment)
    }
    tally.print("garbage")
    expectNone(tally.failures)
  }

  @Test func filesOfOneByteValueNeverTrap() throws {
    let store = try DamagedStore()
    for name in store.image.names {
      for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var image = store.image
        image.files[name] = [UInt8](repeating: byte, count: image.files[name]?.count ?? 0)
        let outcome = try store.outcome(of: image, isThorough: true)
        #expect(outcome.wrong.isEmpty && outcome.lost.isEmpty, "\(name) of \(byte)")
      }
    }
  }
}
