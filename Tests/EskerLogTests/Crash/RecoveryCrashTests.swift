import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What recovery makes of a disk in one definite state each.
@Suite struct RecoveryCrashTests {
  private static let first = "0000000000000001.segment"
  private static let second = "0000000000000002.segment"

  /// Puts a value of `length` bytes under each key and says where each record begins.
  @discardableResult
  private func fill(_ store: LogStore, _ keys: Range<Int>, length: Int = 1_000) throws -> [Int] {
    try keys.map { number in
      let offset = store.probe.tailEnd ?? SegmentHeader.length
      try store.put([UInt8](repeating: UInt8(number & 0xff), count: length), forKey: "key \(number)")
      return offset
    }
  }

  private func expect(_ store: LogStore, _ keys: Range<Int>, length: Int = 1_000) throws {
    for number in keys {
      #expect(
        try store.get("key \(number)") == [UInt8](repeating: UInt8(number & 0xff), count: length),
        "key \(number)"
      )
    }
  }

  private func expectAbsent(_ store: LogStore, _ keys: Range<Int>) throws {
    for number in keys { #expect(try store.get("key \(number)") == nil, "key \(number)") }
  }

  private func isDamaged(_ body: () throws(StoreError) -> Void) -> Bool {
    do throws(StoreError) { try body() } catch {
      if case .damaged = error { return true }
    }
    return false
  }

  @Test func aHoleBeforeAnIntactLaterSegmentIsCutThere() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<1)
    try store.sync()
    // The process ends when the first segment is full, the next one has a record and neither is synced: just before the
    // full one gets its footer.
    bench.killProcess(before: .write, of: Self.first)
    let offsets = try fill(store, 1..<80)
    store.probe.kill()
    try bench.takeKilled()
    // The first offset that goes back is that of the second record behind the rotation.
    let count = try #require(offsets.indices.dropFirst().first { offsets[$0] < offsets[$0 - 1] }) + 1
    // Two pages of the first segment were never written; everything else was.
    var bytes = try bench.bytes(Self.first)
    let hole = offsets[19]
    bytes.replaceSubrange(hole..<hole + 2_000, with: repeatElement(0, count: 2_000))
    try bench.write(bytes, to: Self.first)
    let recovered = try bench.open(seed: 2)
    let cut = try #require(bench.cut)
    #expect((cut.segment, cut.offset, cut.discardedSegments) == (1, hole, 1))
    #expect(cut.records == count - 20, "\(cut)")
    try expect(recovered, 0..<20)
    try expectAbsent(recovered, 20..<count)
    #expect(recovered.lastSequence.rawValue == 20)
    #expect(try recovered.count() == 20)
    // What stood behind the hole is not believed after the next crash either.
    let sequence = try recovered.put("new", forKey: "key 20", durability: .synced)
    #expect(sequence.rawValue > UInt64(count), "a number is never used twice")
    recovered.probe.kill()
    try bench.cutPower(.keep)
    let again = try bench.open(seed: 3)
    try expect(again, 0..<20)
    #expect(try again.get("key 20") == Array("new".utf8))
    try expectAbsent(again, 21..<count)
    #expect(try again.count() == 21)
    #expect(try again.verify().isClean)
  }

  /// The next process seals in the manifest what it finds in the system's cache: a power cut may take it all the same.
  @Test func whatARecoverySealedAndNobodySyncedIsCutAndNotDamaged() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<5)
    try store.sync()
    let offsets = try fill(store, 5..<30)
    try bench.killProcess()
    store.probe.kill()
    let next = try bench.open(seed: 2)
    try next.put("later", forKey: "later")
    let listed = next.probe.listed.first { $0.id == 1 }
    #expect(listed?.state == .sealed)
    next.probe.kill()
    // Of the two segments the power cut takes the end of the first.
    try bench.cutPower(.keep)
    var bytes = try bench.bytes(Self.first)
    bytes.replaceSubrange(offsets[10]..., with: repeatElement(0, count: bytes.count - offsets[10]))
    try bench.write(bytes, to: Self.first)
    let again = try bench.open(seed: 3)
    let cut = try #require(bench.cut)
    #expect((cut.segment, cut.offset, cut.discardedSegments) == (1, offsets[10], 1))
    try expect(again, 0..<15)
    #expect(try again.count() == 15)
    #expect(bench.damage.isEmpty, "\(bench.damage)")
    let report = try again.verify()
    #expect(report.isClean, "\(report.damage)")
  }

  /// The next process finds the end of a full segment in the system's cache, and syncs only what comes behind it.
  @Test(arguments: [false, true])
  func aSealThatTheProcessLeftUnsyncedIsNotMissedAfterTheNextOneSynced(isTorn: Bool) throws {
    let bench = FaultBench()
    var store = try bench.open()
    try fill(store, 0..<62)
    try store.sync()
    let seal = try #require(store.probe.tailEnd)
    // The process ends when the first segment is full and sealed and the next one has a record, before the footer.
    bench.killProcess(before: .write, of: Self.first)
    try fill(store, 62..<63)
    store.probe.kill()
    try bench.takeKilled()
    store = try bench.open(seed: 2)
    try store.sync()
    #expect(store.durableSequence.rawValue == 63)
    store.probe.kill()
    try bench.cutPower(isTorn ? .keep : .drop)
    if isTorn { try bench.change(Self.first, at: seal + 8) }
    try expectWhole(try bench.open(seed: 3), 63, bench)
  }

  @Test func aSealThatComesWhileASyncEndsIsNotMissed() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<40)
    let hasEnded = Guarded(false)
    // A writer ends the segment between its sync and the end of that sync, which then takes the segment for synced whole.
    bench.plan.onCall { call in
      guard call.operation == .fileStatus, call.path.hasSuffix(Self.first) else { return }
      let isFirst = hasEnded.withLock { hasEnded in
        defer { hasEnded = true }
        return !hasEnded
      }
      if isFirst { try? store.probe.rotate() }
    }
    try store.probe.waitDurable(through: 40)
    #expect(store.probe.tailID == 2)
    // Power fails once the next write is durable, before the full segment gets its footer.
    bench.killProcess(before: .write, of: Self.first)
    try store.put([UInt8](repeating: 40, count: 1_000), forKey: "key 40", durability: .synced)
    store.probe.kill()
    try bench.takeKilled()
    try bench.cutPower(.drop)
    try expectWhole(try bench.open(seed: 2), 41, bench)
  }

  /// Expects all that was filled in, and that recovery found nothing wrong.
  private func expectWhole(_ store: LogStore, _ count: Int, _ bench: FaultBench) throws {
    #expect(!bench.reported.contains { if case .cut = $0 { true } else { false } })
    #expect(bench.damage.isEmpty)
    try expect(store, 0..<count)
    #expect(store.lastSequence.rawValue == UInt64(count))
    #expect(try store.verify().isClean)
  }

  @Test func numbersThatACutSkippedAreNotMissedWhenAllBeforeThemWasMerged() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<1)
    try store.sync()
    let offsets = try fill(store, 1..<4)
    store.probe.kill()
    var bytes = try bench.bytes(Self.first)
    bytes.replaceSubrange(offsets[1]..<offsets[2], with: repeatElement(0, count: offsets[2] - offsets[1]))
    try bench.write(bytes, to: Self.first)
    let recovered = try bench.open(seed: 2)
    #expect(recovered.lastSequence.rawValue == 2)
    // The new last segment begins behind the numbers that were seen, and is the only one that no merge wrote.
    try recovered.sync()
    #expect(try recovered.merge(segments: [1]).segmentsRemoved == 1)
    recovered.probe.writeCheckpoint()
    try fill(recovered, 4..<6)
    recovered.probe.kill()
    let again = try bench.open(seed: 3)
    #expect(bench.damage.isEmpty)
    try expect(again, 0..<2)
    try expectAbsent(again, 2..<4)
    try expect(again, 4..<6)
    #expect(try again.count() == 4)
  }

  @Test func aDamagedDurableRecordIsReportedAndLaterOnesAreReadOn() throws {
    for part in [0, 20, 60] {
      let bench = FaultBench()
      let store = try bench.open()
      let offsets = try fill(store, 0..<20)
      try store.sync()
      // The next record says that everything before it was durable.
      try fill(store, 20..<21)
      store.probe.kill()
      try bench.change(Self.first, at: offsets[7] + part)
      let recovered = try bench.open(seed: 2)
      #expect(!bench.damage.isEmpty)
      #expect(!bench.reported.contains { if case .cut = $0 { true } else { false } })
      try expect(recovered, 0..<7)
      try expect(recovered, 8..<21)
      // Only a record whose key can still be told can answer with an error.
      if part == 60 { #expect(isDamaged { () throws(StoreError) in _ = try recovered.get("key 7") }) }
      recovered.probe.kill()
    }
  }

  @Test func aDamagedFirstRecordOfTheLastSegmentCostsOnlyItself() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<70)
    #expect(store.probe.tailID == 2)
    try store.sync()
    try fill(store, 70..<72)
    store.probe.kill()
    let start = SegmentHeader.length
    try bench.change(Self.second, at: start + 8)
    let recovered = try bench.open(seed: 2)
    #expect(bench.damage.count == 1)
    #expect(try recovered.count() == 71)
    try expect(recovered, 70..<72)
    try recovered.put("x", forKey: "x", durability: .synced)
    recovered.probe.kill()
    let again = try bench.open(seed: 3)
    #expect(try again.count() == 72)
  }

  @Test func aDamagedLastRecordThatWasNotDurableIsCut() throws {
    for part in [0, 20, 60] {
      let bench = FaultBench()
      let store = try bench.open()
      try fill(store, 0..<5)
      try store.sync()
      let offsets = try fill(store, 5..<9)
      store.probe.kill()
      try bench.change(Self.first, at: offsets[3] + part)
      let recovered = try bench.open(seed: 2)
      #expect(bench.damage.isEmpty)
      try expect(recovered, 0..<8)
      try expectAbsent(recovered, 8..<9)
      #expect(try recovered.count() == 8)
    }
  }

  @Test func aDamagedRecordSurvivesTheRewritingOfADoubtfulTail() throws {
    let bench = FaultBench()
    let store = try bench.open()
    let offsets = try fill(store, 0..<10)
    try store.sync()
    try fill(store, 10..<20)
    bench.plan.fail(.sync, .failedSync(code: 5, marksPagesClean: true))
    #expect(throws: StoreError.syncFailed(errno: 5)) { try store.sync() }
    store.probe.kill()
    try bench.killProcess()
    try bench.change(Self.first, at: offsets[4])
    let recovered = try bench.open(seed: 2)
    try expect(recovered, 0..<4)
    try expect(recovered, 5..<20)
    #expect(try recovered.count() == 19)
    recovered.probe.kill()
    try bench.cutPower()
    try expect(try bench.open(seed: 3), 5..<20)
  }

  @Test func aBatchWithoutItsEndNeverTookEffect() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<1)
    let start = try #require(store.probe.tailEnd)
    try store.write { (batch) throws(StoreError) in
      for key in 1..<4 { try batch.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(key)") }
    }
    let end = try #require(store.probe.tailEnd)
    store.probe.kill()
    try bench.killProcess()
    var bytes = try bench.bytes(Self.first)
    bytes.replaceSubrange(start + (end - start) / 3..<end, with: repeatElement(0, count: (end - start) / 3 * 2))
    try bench.write(bytes, to: Self.first)
    let reopened = try bench.open(seed: 2)
    try expect(reopened, 0..<1)
    try expectAbsent(reopened, 1..<4)
    #expect(reopened.lastSequence.rawValue == 1)
    try reopened.close()
  }

  // MARK: The manifest

  @Test(arguments: ["manifest.a", "manifest.b"])
  func aMissingOrDamagedCopyOfTheManifestIsReplaced(name: String) throws {
    for removes in [true, false] {
      let bench = FaultBench()
      var store = try bench.open()
      try fill(store, 0..<10)
      try store.close()
      if removes { try bench.remove(name) } else { try bench.change(name, at: 50) }
      store = try bench.open(seed: 2)
      try expect(store, 0..<10)
      try fill(store, 10..<11)
      #expect(try store.verify().isClean)
      try store.close()
      #expect(try bench.bytes("manifest.a").prefix(100) == bench.bytes("manifest.b").prefix(100))
    }
  }

  @Test(arguments: ["manifest.a", "manifest.b"])
  func aCrashWhileTheDamagedCopyIsReplacedLeavesTheWholeOne(name: String) throws {
    for torn in 1...2 {
      let bench = FaultBench()
      var store = try bench.open()
      try fill(store, 0..<10)
      try store.close()
      try bench.change(name, at: 50)
      store = try bench.open(seed: 2)
      bench.plan.fail(.write, on: .prefix("manifest"), nth: torn, .partial(bytes: 70, code: 5))
      #expect(throws: StoreError.self) { try fill(store, 10..<11) }
      store.probe.kill()
      try bench.cutPower(.keep)
      store = try bench.open(seed: 3)
      try expect(store, 0..<10)
    }
  }

  @Test(arguments: ["manifest.a", "manifest.b"])
  func ofTwoWholeCopiesTheNewerOneCounts(older: String) throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<10)
    // They take turns at being written first.
    let second = store.probe.generation.isMultiple(of: 2) ? "manifest.a" : "manifest.b"
    if older != second { _ = try store.keyspace("before") }
    bench.killProcess(before: .write, of: older)
    _ = try store.keyspace("newest")
    store.probe.kill()
    try bench.takeKilled()
    let reopened = try bench.open(seed: 2)
    #expect(try reopened.keyspaceNames.contains("newest"))
    try expect(reopened, 0..<10)
    try reopened.close()
  }

  @Test func aStoreWithoutAWholeManifestIsDamagedAndUntouched() throws {
    for removes in [true, false] {
      let bench = FaultBench()
      let store = try bench.open()
      try fill(store, 0..<10)
      try store.close()
      for name in ["manifest.a", "manifest.b"] {
        if removes { try bench.remove(name) } else { try bench.change(name, at: 50) }
      }
      let names = try bench.names
      let segment = try bench.bytes(Self.first)
      #expect(isDamaged { () throws(StoreError) in _ = try bench.open(seed: 2) })
      #expect(try bench.names == names)
      #expect(try bench.bytes(Self.first) == segment)
    }
  }

  @Test func aNewerManifestIsRefusedAndNothingIsTouched() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<10)
    try store.close()
    for name in ["manifest.a", "manifest.b"] {
      var bytes = try bench.bytes(name)
      bytes[8] = 2
      let checksum = CRC32C.checksum(of: ContiguousArray(bytes[..<36]).span.bytes)
      for index in 0..<4 { bytes[36 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index))) }
      try bench.write(bytes, to: name)
    }
    let before = try bench.names.map { ($0, try bench.bytes($0)) }
    #expect(throws: StoreError.unknownFormat(path: "/store/manifest.a", version: 2)) { try bench.open(seed: 2) }
    let after = try bench.names.map { ($0, try bench.bytes($0)) }
    #expect(before.map(\.0) == after.map(\.0))
    #expect(before.map(\.1) == after.map(\.1))
  }

  // MARK: Segments

  @Test func aMissingSegmentIsDamage() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try fill(store, 0..<10)
    try store.close()
    try bench.remove(Self.first)
    #expect(isDamaged { () throws(StoreError) in _ = try bench.open(seed: 2) })
  }

  @Test func anotherStoresSegmentIsDamage() throws {
    let (bench, other) = (FaultBench(), FaultBench())
    for (bench, seed) in [(bench, 1 as UInt64), (other, 9)] {
      let store = try bench.open(seed: seed)
      try fill(store, 0..<10)
      try store.close()
    }
    try bench.write(other.bytes(Self.first), to: Self.first)
    #expect(isDamaged { () throws(StoreError) in _ = try bench.open(seed: 2) })
  }

  @Test func aTruncatedSegmentServesWhatIsLeft() throws {
    for isClean in [true, false] {
      let bench = FaultBench()
      let store = try bench.open()
      let offsets = try fill(store, 0..<20)
      try store.sync()
      try fill(store, 20..<21)
      if isClean { try store.close() } else { store.probe.kill() }
      try bench.write(Array(bench.bytes(Self.first)[..<offsets[10]]), to: Self.first)
      for name in try bench.names where FileName.checkpointID(name) != nil { try bench.remove(name) }
      let recovered = try bench.open(seed: 2)
      try expect(recovered, 0..<10)
      if isClean { #expect(!bench.damage.isEmpty) }
      try recovered.put("x", forKey: "x", durability: .synced)
      recovered.probe.kill()
      let again = try bench.open(seed: 3)
      try expect(again, 0..<10)
      #expect(try again.get("x") == Array("x".utf8))
    }
  }

  // MARK: Checkpoints

  @Test func aCheckpointThatIsGoneDamagedOrStaleChangesNothing() throws {
    for change in 0..<4 {
      let bench = FaultBench()
      var store = try bench.open()
      try fill(store, 0..<30)
      try store.close()
      let name = try #require(try bench.names.first { FileName.checkpointID($0) != nil })
      let old = try bench.bytes(name)
      store = try bench.open(seed: 2)
      try fill(store, 20..<40, length: 500)
      try store.remove("key 3")
      try store.close()
      let newer = try #require(try bench.names.first { FileName.checkpointID($0) != nil })
      switch change {
      case 0: try bench.remove(newer)
      case 1: try bench.change(newer, at: 4_096 + 70)
      case 2: try bench.change(newer, at: 20)
      default: try bench.write(old, to: newer)
      }
      store = try bench.open(seed: 3)
      #expect(try store.count() == 39)
      try expect(store, 0..<3)
      try expect(store, 4..<20)
      try expect(store, 20..<40, length: 500)
      try expectAbsent(store, 3..<4)
    }
  }

  // MARK: Other files

  @Test func straysAreRemovedAndForeignFilesAreNot() throws {
    let bench = FaultBench()
    var store = try bench.open()
    try fill(store, 0..<10)
    try store.close()
    let segment = try bench.bytes(Self.first)
    try bench.write(segment, to: "00000000000000aa.segment")
    try bench.write([], to: "00000000000000ab.segment")
    let foreign = [
      "notes.txt", "00000000000000ac.segment", "00000000000000ad.checkpoint", "1.segment", "manifest.c", "LOCK.old",
    ]
    for name in foreign { try bench.write(Array("not Esker's, whatever it is called, and long".utf8), to: name) }
    store = try bench.open(seed: 2)
    try fill(store, 10..<200)
    try store.close()
    let names = try bench.names
    #expect(!names.contains("00000000000000aa.segment"))
    #expect(!names.contains("00000000000000ab.segment"))
    for name in foreign { #expect(try bench.bytes(name) == Array("not Esker's, whatever it is called, and long".utf8)) }
    try expect(try bench.open(seed: 3), 0..<200)
  }

  @Test func aStrayStaysUntilTheManifestThatDelistsItIsDurable() throws {
    for seed in 0..<24 as Range<UInt64> {
      let bench = FaultBench()
      var store = try bench.open()
      try fill(store, 0..<62)
      // The next segment is made and listed, and has nothing in it yet.
      store.probe.prepareSpare()
      store.probe.kill()
      #expect(try bench.names.contains(Self.second))
      // Recovery gives up the empty second segment; the process ends before the edit that says so is on disk.
      try bench.killProcess()
      store = try bench.open(seed: 2)
      bench.killProcess(before: .sync, of: seed.isMultiple(of: 2) ? "manifest.a" : "manifest.b")
      try store.sync()
      try fill(store, 62..<63)
      store.probe.kill()
      try bench.takeKilled()
      store = try bench.open(seed: 3)
      try expect(store, 0..<62)
      store.probe.kill()
      try bench.cutPower(.reorder, seed: seed)
      store = try bench.open(seed: 4)
      try expect(store, 0..<62)
      store.probe.kill()
    }
  }
}
