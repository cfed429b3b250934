import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What an opening finds is told, and is in the report of a verification.
@Suite struct OpeningDamageTests {
  private func outcome(
    of image: DiskImage,
    readOnly: Bool = true
  ) throws -> (log: EventLog, report: Report.Verification, keys: Int) {
    let log = EventLog()
    let store = try image.machine().open {
      $0.readOnly = readOnly
      $0.onEvent = { log.record($0) }
      $0.merge.isAutomatic = false
    }
    let report = try store.verify()
    let keys = try store.count()
    try store.close()
    return (log, report, keys)
  }

  @Test func theStoreIsAsItShouldBe() throws {
    let store = try KilledStore()
    #expect(store.rows.contains { $0.kind == .merged })
    #expect(store.sealed != nil)
    #expect(!store.full.isEmpty)
    let (log, report, keys) = try outcome(of: store.image)
    #expect(log.damage.isEmpty && report.isClean)
    #expect(keys == store.keys)
  }

  /// Rows say how long each file is for certain, so that a shorter one is told from a crash.
  @Test func aListedSegmentIsAsLongAsItsRowSays() throws {
    let store = try KilledStore()
    for row in store.rows {
      let length = try #require(store.image.files[FileName.segment(row.id)]?.count)
      #expect(row.fileLength > 0 && row.fileLength <= UInt64(length))
      if row.state == .active { #expect(row.fileLength >= 64 << 10) }
    }
  }

  @Test(arguments: [true, false]) func aSegmentThatWasCutShortIsToldOfAndInTheReportOnce(readOnly: Bool) throws {
    let store = try KilledStore()
    for row in store.rows {
      let name = FileName.segment(row.id)
      for length in [0, 200, 10_000, 40_000, Int(row.fileLength) - 1] where length < Int(row.fileLength) {
        let (log, report, _) = try outcome(of: store.image.truncating(name, to: length), readOnly: readOnly)
        let events = log.damage.filter { $0.path.hasSuffix(name) }
        #expect(!events.isEmpty, "\(name) of \(row.fileLength) bytes cut to \(length): no event")
        let found = report.damage.filter { $0.location.path.hasSuffix(name) }
        #expect(!found.isEmpty, "\(name) of \(row.fileLength) bytes cut to \(length): not in the report")
        #expect(Set(found.map(\.location.offset)).count == found.count, "\(found)")
      }
    }
  }

  /// A full segment that is not sealed: no crash makes its file shorter, so what is behind the gap is read on, though it is not
  /// durable for certain.
  @Test(arguments: [true, false]) func whatIsBehindAShortSegmentIsKept(readOnly: Bool) throws {
    let store = try KilledStore()
    let row = try #require(store.full.first)
    let image = store.image.truncating(FileName.segment(row.id), to: 10_000)
    let (log, report, keys) = try outcome(of: image, readOnly: readOnly)
    #expect(keys < store.keys)
    #expect(keys > store.keys - 100)
    #expect(!log.events.contains { if case .cut = $0 { true } else { false } })
    #expect(log.damage.map(\.segment) == [row.id, row.id])
    #expect(Set(report.damage.map(\.location.segment)) == [row.id])
    #expect(report.damage.contains { $0.reason.contains("to #\(row.lastSequence) are damaged") }, "\(report.damage)")
  }

  /// The log in front of a checkpoint is not read, but a segment that is not sealed says nowhere for certain where it ends.
  @Test(arguments: [true, false], [true, false])
  func damageInFrontOfACheckpointHidesNothingBehindIt(readOnly: Bool, isBody: Bool) throws {
    let store = try KilledStore(hasCheckpoint: true)
    #expect(store.image.names.contains { FileName.checkpointID($0) != nil })
    #expect(!store.full.isEmpty)
    for row in store.full {
      let offset = SegmentHeader.length + (isBody ? 100 : 8)
      let machine = try store.image.flipping(FileName.segment(row.id), offset, bit: 1).machine()
      for isAgain in [false, true] {
        let log = EventLog()
        let opened = try machine.open {
          $0.readOnly = readOnly
          $0.onEvent = { log.record($0) }
          $0.merge.isAutomatic = false
        }
        #expect(log.opening?.indexSource == .checkpointAndReplay)
        let readable = (0..<475).count { number in
          do throws(StoreError) { return try opened.get("key \(number)") != nil } catch { return false }
        }
        #expect(readable == store.keys - 1, "\(row.id) \(isAgain)")
        #expect(!log.events.contains { if case .cut = $0 { true } else { false } })
        let report = try opened.verify()
        #expect(report.damage.map(\.location.segment) == [row.id], "\(report.damage)")
        if isAgain { try opened.close() } else { opened.probe.kill() }
      }
    }
  }

  /// Zeros in the sealed part: the records before them end there, and those behind are read on.
  @Test func missingRecordsAreInTheReportWithTheirNumbers() throws {
    let store = try KilledStore()
    let row = try #require(store.sealed)
    let name = FileName.segment(row.id)
    var image = store.image
    // The footer too, so that the records are read.
    for offset in 20_000..<Int(row.fileLength) { image.files[name]?[offset] = 0 }
    let (log, report, _) = try outcome(of: image)
    #expect(!log.damage.isEmpty)
    #expect(report.damage.contains { $0.location.segment == row.id && ($0.location.offset ?? 0) <= 20_000 })
    let covering = report.damage.filter { $0.location.segment == row.id }
    #expect(Set(covering.map(\.location.offset)).count == covering.count, "\(covering)")
  }

  /// Without a footer, the records of what a merge wrote are read one by one: that it is damaged is damage to nothing else.
  @Test(arguments: [false, true]) func whatAMergeWroteIsReadWithoutItsFooter(isBodyDamaged: Bool) throws {
    let store = try KilledStore()
    let row = try #require(store.rows.first { $0.kind == .merged })
    let name = FileName.segment(row.id)
    var image = store.image.flipping(name, Int(row.footerOffset) + 40, bit: 1)
    if isBodyDamaged { image = image.flipping(name, SegmentHeader.length + 100, bit: 1) }
    let (log, report, keys) = try outcome(of: image)
    let expected = isBodyDamaged ? 2 : 1
    #expect(log.damage.count == expected, "\(log.damage)")
    #expect(log.damage.allSatisfy { $0.path.hasSuffix(name) })
    #expect(report.damage.count == expected, "\(report.damage)")
    #expect(keys == store.keys)
  }

  @Test func theUnusedEndOfAClosedStoreIsMissedToo() throws {
    let machine = Machine()
    let store = try machine.open()
    try store.put("v", forKey: "k")
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let length = try #require(image.files[name]?.count)
    #expect(try outcome(of: image).report.isClean)
    let (log, report, keys) = try outcome(of: image.truncating(name, to: length - 1))
    #expect(log.damage.map(\.offset) == [length - 1] && !report.isClean)
    #expect(keys == 1)
    // A writer makes it long enough again.
    let damaged = try image.truncating(name, to: length - 1).machine()
    let writer = try damaged.open()
    try writer.put("w", forKey: "k")
    try writer.close()
    #expect(try outcome(of: DiskImage(of: damaged)).report.isClean)
  }

  @Test(arguments: [true, false]) func aCopyOfTheManifestThatIsGoneIsToldOfUntilItIsReplaced(readOnly: Bool) throws {
    for name in FileName.manifests {
      var image = try KilledStore().image
      image.files[name] = nil
      let machine = try image.machine()
      for isGone in [true, readOnly] {
        let log = EventLog()
        let store = try machine.open {
          $0.readOnly = readOnly
          $0.onEvent = { log.record($0) }
        }
        #expect(log.damage.count == (isGone ? 1 : 0))
        #expect(try store.verify().isClean == !isGone)
        if !readOnly { try store.put("v", forKey: "k") }
        try store.close()
      }
    }
  }

  /// A writer that closes gives back what it has not used. Who reads the manifest before and the file after is not alarmed.
  @Test func aWriterThatClosesIsNoDamage() throws {
    let machine = Machine()
    let writer = try machine.open()
    for number in 0..<10 { try writer.put("v", forKey: "key \(number)") }
    let plan = FaultPlan()
    let isArmed = Guarded(true)
    plan.onCall { call in
      guard call.operation == .open, call.path.hasSuffix(".segment"), isArmed.withLock({ $0 }) else { return }
      isArmed.withLock { $0 = false }
      #expect(throws: Never.self) { try writer.close() }
    }
    let platform = Platform.simulated(fileSystem: FaultyFileSystem(machine.disk, plan: plan), clock: machine.clock)
    let log = EventLog()
    let options = machine.options {
      $0.readOnly = true
      $0.onEvent = { log.record($0) }
    }
    let reader = try LogStore(
      at: machine.path,
      options: options,
      host: StoreHost(platform: platform, background: .inline)
    )
    #expect(!isArmed.withLock { $0 })
    #expect(log.damage.isEmpty)
    #expect(try reader.count() == 10)
    #expect(try reader.verify().isClean)
    try reader.close()
  }
}
