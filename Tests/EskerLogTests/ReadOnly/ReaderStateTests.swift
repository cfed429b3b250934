import EskerFormat
import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

/// What a read-only store shows is always a state that the writer had, whatever the writer does between two of its looks.
@Suite struct ReaderStateTests {
  private let bench = ReaderBench()

  /// The whole of what two stores show is the same.
  private func expectSame(_ reader: LogStore, _ writer: LogStore, _ comment: Comment? = nil) throws {
    #expect(reader.lastSequence == writer.lastSequence, comment)
    #expect(try reader.count() == writer.count(), comment)
    let contents = try writer.contents()
    #expect(try reader.contents() == contents, comment)
    let wrong = try contents.filter { try reader.get($0.key) != $0.value }
    #expect(wrong.isEmpty, comment)
  }

  // MARK: Opening

  @Test func aSegmentThatWasListedEmptyAndIsFilledDuringAnOpeningIsKept() throws {
    let large: (inout Options) -> Void = { $0.segmentSize = 4 << 20 }
    let writer = try bench.openWriter(large)
    @Sendable func put(_ numbers: Range<Int>) throws {
      for number in numbers {
        try writer.put(bytes("\(number) ") + [UInt8](repeating: 1, count: 20_000), forKey: "key \(number % 10)")
      }
    }
    var count = 300
    try put(0..<count)
    while !writer.statistics.segments.contains(where: { $0.recordBytes == 0 }) {
      try put(count..<count + 1)
      count += 1
    }
    // The look at the first segment's footer comes after all segments were opened.
    let start = count
    bench.before(.read, of: "0000000000000001.segment", nth: 2) { try put(start..<start + 160) }
    let reader = try bench.openReader(large)
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(try reader.contents().count == 10)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty)

    let report = try reader.backup(to: "/copy")
    let copy = try LogStore(
      at: "/copy",
      options: bench.options { $0.readOnly = true },
      host: StoreHost(platform: bench.disk.platform(clock: bench.clock), background: .inline)
    )
    #expect(report.sequence == writer.lastSequence)
    #expect(try copy.contents() == writer.contents())
    try put(count + 160..<count + 161)
    try reader.refresh()
    try expectSame(reader, writer)
  }

  /// What is too large for the segment that is ready goes to one that no manifest listed when the reader read it. The other one is used
  /// after it, and what is in there has been synced.
  @Test func aSegmentIsNotMissedThatComesBeforeOneThatWasListedEmpty() throws {
    let writer = try bench.openWriter()
    try writer.fill(150)
    writer.probe.prepareSpare()
    bench.before(.read, of: "0000000000000001.segment", nth: 2) {
      try writer.put([UInt8](repeating: 2, count: 70 << 10), forKey: "large")
      try writer.fill(30, from: 1000)
      try writer.sync()
      try writer.fill(5, from: 2000)
    }
    let reader = try bench.openReader()
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(try reader.contents().count >= 150)
    #expect(try reader.get("large") != nil || reader.get("fill 1000") == nil)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
  }

  /// What is merged away unread makes a reader load the rest by the footers. A segment that it has open from the time when it was a spare
  /// of one page is longer by then.
  @Test(arguments: [nil, 4 << 20]) func aSpareThatWasFilledUnseenIsReadAsFarAsItGoes(capacity: Int?) throws {
    func with(_ options: inout Options) {
      options.capacity = capacity
      options.segmentSize = capacity == nil ? 1 << 20 : nil
      options.merge.isAutomatic = capacity != nil
    }
    let writer = try bench.openWriter(with)
    try writer.fill(10)
    writer.probe.prepareSpare()
    let spares = writer.probe.segments.filter { $0.firstSequence == 0 }.map(\.id)
    #expect(!spares.isEmpty)
    let reader = try bench.openReader(with)
    // For what is too large for the spares, there is one that the reader does not know.
    try writer.put([UInt8](repeating: 2, count: 1 << 20), forKey: "large")
    let unknown = try #require(writer.probe.tail?.id)
    try writer.fill(300, from: 1000)
    try writer.put("small", forKey: "large")
    try writer.probe.endTail()
    #expect(writer.probe.segments.contains { spares.contains($0.id) && $0.isSealed && $0.recordsEnd > 4096 })
    try writer.merge(segments: [unknown])
    #expect(!writer.probe.segments.contains { $0.id == unknown })
    try reader.refresh()
    try expectSame(reader, writer)
    let report = try reader.verify()
    #expect(report.isClean, "\(report.damage)")
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
  }

  /// After a power failure, `LOCK` may be older than the log. Nobody writes then, so nobody says more.
  @Test(arguments: [false, true]) func whatADeadWriterPublishedHidesNothing(isSynced: Bool) throws {
    var machine = Machine()
    let writer = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    try writer.fill(20)
    if isSynced { try writer.sync() }
    try writer.fill(20, from: 100)
    let expected = try writer.contents()
    machine.disk = try machine.disk.processKilled()
    let lock = try machine.disk.open("\(machine.path)/LOCK", .readWrite)
    let words = try #require(try LockFile(lock).words())
    #expect(words.areReaders && words.published == 40)
    try lock.writeAll([3, 0, 0, 0, 0, 0, 0, 0], at: 56)
    let later = try machine.open { $0.readOnly = true }
    // Before it looks again: what it then finds need not include a segment that goes on behind a cut.
    #expect(later.lastSequence.rawValue == 40)
    #expect(try later.contents() == expected)
    try later.refresh()
    #expect(try later.contents() == expected)
    #expect(try machine.open().contents() == expected)
    try reader.close()
  }

  @Test func everyCallOfAnOpeningMayHaveWritesAndMergesBeforeIt() throws {
    // How many calls an opening makes that nothing disturbs.
    func prepare() throws -> (ReaderBench, LogStore) {
      let bench = ReaderBench()
      let writer = try bench.openWriter()
      try writer.putBatch("0", (0..<5).map { "batch \($0)" })
      try writer.fill(150, length: 700)
      try writer.remove("fill 3")
      return (bench, writer)
    }
    let (undisturbed, _) = try prepare()
    let start = undisturbed.plan.callCount
    _ = try undisturbed.openReader()
    let calls = undisturbed.plan.callCount - start
    for nth in 1...calls {
      let (bench, writer) = try prepare()
      let count = SharedCounter()
      let problems = Guarded<[any Error]>([])
      bench.plan.onCall { _ in
        guard count.add() == nth else { return }
        do {
          try writer.putBatch("1", (0..<5).map { "batch \($0)" })
          try writer.keyspace("new").put("1", forKey: "a")
          try writer.fill(130, length: 900, from: 20)
          try writer.merge()
          try writer.putBatch("2", (0..<5).map { "batch \($0)" })
          try writer.keyspace("new").put("2", forKey: "b")
        } catch { problems.withLock { $0.append(error) } }
      }
      let reader = try bench.openReader()
      #expect(problems.withLock { $0.isEmpty }, "call \(nth)")
      bench.plan.onCall(nil)
      let shown = try reader.contents()
      let values = Set((0..<5).map { shown[bytes("batch \($0)")] })
      #expect(values.count == 1, "before call \(nth): a part of a batch is shown")
      #expect(shown.count >= 154, "before call \(nth): \(shown.count) entries")
      #expect(try reader.count() == shown.count, "before call \(nth)")
      let all = try reader.snapshot()
      #expect(all.reduce(0) { count, _ in count + 1 } == all.count, "before call \(nth)")
      try reader.refresh()
      try expectSame(reader, writer, "before call \(nth)")
      #expect(bench.events.damage.isEmpty, "before call \(nth): \(bench.events.events)")
      #expect(!bench.events.events.contains { if case .cut = $0 { true } else { false } }, "before call \(nth)")
      try writer.fill(200)
      try reader.refresh()
      try expectSame(reader, writer, "before call \(nth), later")
    }
  }

  /// A segment that was listed as empty, and began to be used between the last look at where it begins and its reading: a backup has what
  /// is in it. Nothing is called in between at which a writer could be let in.
  @Test func aBackupHasASegmentThatBeganWhileItWasRead() throws {
    let writer = try bench.openWriter()
    try writer.fill(80)
    let reader = try bench.openReader()
    reader.probe.readLastAsIfItHadBeenEmpty()
    try reader.backup(to: "/copy")
    let host = StoreHost(platform: bench.disk.platform(clock: bench.clock), background: .inline)
    let copy = try LogStore(at: "/copy", options: bench.options { $0.readOnly = true }, host: host)
    try expectSame(copy, writer)
  }

  // MARK: Following

  @Test func whatIsWrittenBetweenTheLooksAtTheLogAndAtTheManifestIsReadBeforeAMergeTakesEffect() throws {
    let writer = try bench.openWriter()
    try writer.putBatch("old", ["a", "b", "c"])
    try writer.fill(100)
    try writer.put("old", forKey: "b")
    let reader = try bench.openReader()
    bench.before(.open, of: "manifest.a") {
      try writer.putBatch("new", ["a", "b", "c"])
      try writer.merge(segments: [try #require(writer.sealedIDs.first)])
    }
    try reader.refresh()
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(try ["a", "b", "c"].map { try reader.text($0) } == ["new", "new", "new"])
    try expectSame(reader, writer)
    try writer.putBatch("newer", ["a", "b", "c"])
    try reader.refresh()
    try expectSame(reader, writer)
    try writer.fill(200)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(try reader.verify().isClean)
  }

  /// What the reader has read to its end is sealed meanwhile, and what came next is merged away.
  @Test(arguments: [false, true]) func theLogGoesOnBehindWhatWasMergedAwayUnread(isSealSeen: Bool) throws {
    let writer = try bench.openWriter()
    try writer.fill(10)
    let reader = try bench.openReader()
    try writer.probe.endTail()
    if isSealSeen { try reader.refresh() }
    let id = writer.probe.segments.last?.id
    try writer.fill(20)
    try writer.probe.endTail()
    try writer.fill(5, from: 100)
    try writer.sync()
    try writer.merge(segments: [try #require(id)])
    try writer.fill(5, from: 200)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
    #expect(try reader.verify().isClean)
  }

  /// A merge copies what is removed right after; the reader reads of the removal, and then has to load what is listed.
  @Test func whatWasRemovedSinceAMergeDoesNotComeBackWithIt() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    try writer.put("v", forKey: "gone")
    try writer.probe.endTail()
    let first = try #require(writer.sealedIDs.first)
    let reader = try bench.openReader()
    try writer.put("again", forKey: "fill 3")
    try writer.merge(segments: [first])
    try writer.remove("gone")
    try writer.probe.endTail()
    let second = try #require(writer.probe.segments.last?.id)
    try writer.fill(10, from: 100)
    try writer.probe.endTail()
    try writer.fill(10, from: 200)
    try writer.merge(segments: [second])
    try writer.sync()
    _ = try writer.keyspace("so that the manifest says what is durable")
    try reader.refresh()
    #expect(try reader.get("gone") == nil)
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
  }

  /// A segment is listed with the number it is to begin with, and left empty when what comes is too large for it.
  @Test func anEmptySegmentHasNoPlaceInTheLog() throws {
    let writer = try bench.openWriter()
    // Each batch takes a segment of its own.
    @Sendable func putBatch(_ number: Int) throws {
      try writer.write { (batch) throws(StoreError) in
        for key in 0..<50 {
          try batch.put([UInt8](repeating: UInt8(number), count: 2_000), forKey: "key \(key)")
        }
      }
    }
    try writer.fill(20)
    try writer.probe.endTail()
    let reader = try bench.openReader()
    for number in 0..<2 { try putBatch(number) }
    try reader.refresh()
    try expectSame(reader, writer)
    for number in 2..<5 { try putBatch(number) }
    try writer.probe.endTail()
    // The records between those that the reader has and the last are merged away.
    let segments = writer.probe.segments.filter { $0.kind == .log }
    let last = reader.lastSequence.rawValue
    let merged = segments.filter { $0.firstSequence > last && $0.firstSequence < last + 100 }
    #expect(merged.count == 2)
    try writer.merge(segments: merged.map(\.id))
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
    #expect(try reader.verify().isClean)
  }

  /// Does something right before each call, in turn, of an opening (where `prepare` makes no reader) or a refresh, and looks
  /// whether the reader then shows a state that the writer had, and after another refresh the last.
  ///
  /// - Parameter disturb: writes, notes the states it makes, and gives the writer that is there in the end, if one is.
  private func beforeEachCall(
    _ prepare: () throws -> (ReaderBench, LogStore, LogStore?),
    _ disturb:
      @escaping @Sendable (ReaderBench, LogStore, _ note: @Sendable (LogStore) throws -> Void) throws -> LogStore?
  ) throws {
    for nth in 1... {
      let (bench, writer, early) = try prepare()
      let count = SharedCounter()
      let problems = Guarded<[any Error]>([])
      let states = Guarded([writer.lastSequence: try writer.contents()])
      let last = Guarded<LogStore?>(writer)
      bench.plan.onCall { _ in
        guard count.add() == nth else { return }
        do {
          let end = try disturb(bench, writer) { store in
            try states.withLock { $0[store.lastSequence] = try store.contents() }
          }
          last.withLock { $0 = end }
        } catch { problems.withLock { $0.append(error) } }
      }
      if let early { try early.refresh() }
      let reader = try early ?? bench.openReader()
      bench.plan.onCall(nil)
      guard count.value >= nth else {
        #expect(nth > 5)
        return
      }
      let errors = problems.withLock { $0 }
      #expect(errors.isEmpty, "before call \(nth): \(errors)")
      let snapshot = try reader.snapshot()
      let expected = try #require(states.withLock { $0[snapshot.sequence] }, "before call \(nth)")
      #expect(try snapshot.contents() == expected, "before call \(nth)")
      try reader.refresh()
      try expectSame(reader, last.withLock { $0 } ?? bench.openWriter(), "before call \(nth)")
      #expect(bench.events.damage.isEmpty, "before call \(nth): \(bench.events.events)")
    }
  }

  /// The tail is empty and listed with the number of its first record when a record comes that is too large for it: the
  /// segment of that record is listed later, and comes before the tail in the log.
  @Test(arguments: [false, true], [false, true])
  func everyCallMayHaveTheTailPassedOverBeforeIt(isAllElseMerged: Bool, isOpening: Bool) throws {
    func prepare() throws -> (ReaderBench, LogStore, LogStore?) {
      let bench = ReaderBench()
      let writer = try bench.openWriter()
      try writer.fill(150, length: 700)
      let reader = isOpening ? nil : try bench.openReader()
      try writer.fill(10, length: 700)
      try writer.probe.endTail()
      try writer.sync()
      if isAllElseMerged { try writer.merge(segments: writer.sealedIDs) }
      return (bench, writer, reader)
    }
    try beforeEachCall(prepare) { _, writer, note in
      let tail = writer.probe.tailID
      try writer.write { (batch) throws(StoreError) in
        for number in 0..<5 { try batch.put([UInt8](repeating: 2, count: 20_000), forKey: "fill \(number)") }
      }
      try note(writer)
      for number in 5..<10 {
        try writer.put([UInt8](repeating: 3, count: 700), forKey: "fill \(number)")
        try note(writer)
      }
      #expect(writer.probe.tailID == tail, "it was not passed over")
      return writer
    }
  }

  /// A writer that closes cuts off what it has not used, removes what it does not need, and leaves a checkpoint; the next one
  /// goes on there.
  @Test(arguments: [false, true], [false, true])
  func everyCallMayHaveAnotherWriterBeforeIt(isOpening: Bool, isNextThere: Bool) throws {
    func prepare() throws -> (ReaderBench, LogStore, LogStore?) {
      let bench = ReaderBench()
      let writer = try bench.openWriter()
      try writer.putBatch("0", (0..<5).map { "batch \($0)" })
      try writer.fill(20, length: 700)
      let reader = isOpening ? nil : try bench.openReader()
      try writer.fill(120, length: 700, from: 10)
      return (bench, writer, reader)
    }
    try beforeEachCall(prepare) { bench, writer, note in
      try writer.close()
      guard isNextThere else { return nil }
      let next = try bench.openWriter()
      for round in 1...3 {
        try next.putBatch("\(round)", (0..<5).map { "batch \($0)" })
        try note(next)
        try next.remove("fill \(round)")
        try note(next)
      }
      return next
    }
  }

  @Test func theEndOfASegmentMayBeCutOffAmidAnInspection() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    let fileSystem = FaultyFileSystem(bench.disk, plan: bench.plan)
    let platform = Platform.simulated(fileSystem: fileSystem, clock: bench.clock, seed: 3)
    let inspection = try StoreInspection(at: bench.path, host: StoreHost(platform: platform, background: .inline))
    bench.before(.extend, of: ".segment") { try writer.close() }
    let versions = try inspection.versions(of: bytes("fill 3"))
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(versions.count == 1)
  }

  @Test func everyCallOfARefreshMayHaveWritesAndMergesBeforeIt() throws {
    func prepare() throws -> (ReaderBench, LogStore, LogStore) {
      let bench = ReaderBench()
      let writer = try bench.openWriter()
      try writer.putBatch("0", (0..<5).map { "batch \($0)" })
      try writer.fill(150, length: 700)
      let reader = try bench.openReader()
      try writer.fill(90, length: 700, from: 40)
      try writer.merge()
      try writer.putBatch("1", (0..<5).map { "batch \($0)" })
      try writer.put([UInt8](repeating: 2, count: 100_000), forKey: "large")
      return (bench, writer, reader)
    }
    let (undisturbed, _, still) = try prepare()
    let start = undisturbed.plan.callCount
    try still.refresh()
    let calls = undisturbed.plan.callCount - start
    #expect(calls > 0)
    for nth in 1...calls {
      let (bench, writer, reader) = try prepare()
      let acknowledged = writer.lastSequence
      let count = SharedCounter()
      let problems = Guarded<[any Error]>([])
      bench.plan.onCall { _ in
        guard count.add() == nth else { return }
        do {
          try writer.putBatch("2", (0..<5).map { "batch \($0)" })
          try writer.fill(130, length: 900, from: 20)
          try writer.merge()
          try writer.remove("fill 7")
        } catch { problems.withLock { $0.append(error) } }
      }
      try reader.refresh()
      #expect(problems.withLock { $0.isEmpty }, "call \(nth)")
      bench.plan.onCall(nil)
      #expect(reader.lastSequence >= acknowledged, "before call \(nth)")
      let shown = try reader.contents()
      #expect(Set((0..<5).map { shown[bytes("batch \($0)")] }).count == 1, "before call \(nth): a part of a batch")
      #expect(shown.count >= 155, "before call \(nth): \(shown.count) entries")
      try reader.refresh()
      try expectSame(reader, writer, "before call \(nth)")
      #expect(bench.events.damage.isEmpty, "before call \(nth): \(bench.events.events)")
    }
  }

  @Test func aSnapshotTakenWhileTheWriterIsAmidABatchShowsTheLastWholeOne() throws {
    let reached = Signal()
    let goOn = Signal()
    let published = SharedCounter()
    let stop = SharedCounter()
    let writer = try bench.openWriter(onPublish: {
      if published.add() == stop.value {
        reached.raise()
        goOn.wait()
      }
    })
    let keys = (0..<50).map { "key \($0)" }
    try writer.putBatch("old", keys)
    let reader = try bench.openReader()
    // One whole batch and half of the next: the hook is called twice for each record.
    stop.add(published.value + 100 + 50)
    let thread = try WorkerThread(name: "writer") {
      for value in ["new", "newer"] { try? writer.putBatch(value, keys) }
    }
    reached.wait()
    defer {
      goOn.raise()
      thread.join()
    }
    try reader.refresh()
    #expect(reader.lastSequence.rawValue == 100)
    let shown = try reader.contents()
    #expect(shown.count == 50)
    #expect(Set(shown.values) == [bytes("new")])
    #expect(try reader.text("key 0") == "new")
  }

  /// A checkpoint is behind segments that nobody has sealed in the manifest yet.
  @Test func whatACheckpointKnowsIsInASnapshotToo() throws {
    let writer = try bench.openWriter()
    for number in 0..<3 {
      try writer.fill(5, from: number * 5)
      try writer.probe.rotate()
    }
    writer.probe.writeCheckpoint()
    #expect(writer.probe.checkpointID != 0)
    #expect(writer.probe.listed.count { $0.state == .active } > 1)
    let reader = try bench.openReader()
    try expectSame(reader, writer)
    try writer.fill(3, from: 100)
    try reader.refresh()
    try expectSame(reader, writer)
  }

  /// The log ends with a segment that nothing was written to; what was written last is merged away.
  @Test(arguments: [false, true]) func anEmptySegmentLacksNothing(readOnly: Bool) throws {
    let writer = try bench.openWriter()
    try writer.fill(5)
    try writer.probe.endTail()
    try writer.write { (batch) throws(StoreError) in
      for number in 0..<50 { try batch.put([UInt8](repeating: 2, count: 2_000), forKey: "fill \(number)") }
    }
    writer.probe.sealTail()
    writer.probe.sealFinished()
    try writer.merge(segments: [try #require(writer.sealedIDs.last)])
    let log = writer.probe.listed.filter { $0.kind == .log }
    #expect(log.map(\.state) == [.sealed, .active] && log.last?.firstSequence == 0)
    let contents = try writer.contents()
    if !readOnly { writer.probe.kill() }
    let events = EventLog()
    let again = readOnly ? try bench.openReader() : try bench.openWriter { $0.onEvent = { events.record($0) } }
    #expect(try again.contents() == contents && contents.count == 50)
    #expect(bench.events.damage.isEmpty && events.damage.isEmpty, "\(bench.events.damage) \(events.damage)")
    #expect(try again.verify().isClean)
  }

  /// The ways to remove a key that return without having found it.
  enum VainRemoval: CaseIterable {
    case key, range, update

    func remove(_ key: String, from store: LogStore, _ durability: Durability? = nil) throws {
      switch self {
      case .key: #expect(try !store.remove(key, durability: durability))
      case .range:
        // Begins in front of the key: a tombstone of its own would hide what else there is to see.
        var least = bytes(key)
        least[least.count - 1] -= 1
        #expect(try store.removeAll(in: .from(least + [0xff]).through(key), durability: durability) == 0)
      case .update: try store.update(forKey: key, durability: durability) { _ in .remove }
      }
    }
  }

  /// An eviction has no number: a reader that has not looked at the manifest yet still shows the value.
  @Test(arguments: VainRemoval.allCases)
  func whatIsRemovedAfterItsEvictionIsNotShownAtALaterNumber(_ removal: VainRemoval) throws {
    let writer = try bench.openWriter { $0.capacity = 1 << 20 }
    try writer.put("value", forKey: "evicted")
    try writer.fill(100)
    let reader = try bench.openReader()
    #expect(try reader.text("evicted") == "value")
    try writer.probe.makeRoom(for: 0, isVolumeFull: true, orThrow: .closed)
    #expect(try writer.get("evicted") == nil && writer.count() < 100)
    let before = writer.lastSequence
    try removal.remove("evicted", from: writer)
    #expect(writer.lastSequence > before)
    let after = try writer.put("later", forKey: "later")
    let snapshot = try reader.snapshot()
    #expect(snapshot.sequence == before || snapshot.sequence == after, "\(snapshot.sequence)")
    let shown = try snapshot.contents()
    #expect((shown[bytes("later")] != nil) == (snapshot.sequence == after))
    #expect(snapshot.sequence == after && shown[bytes("evicted")] == nil)
    try reader.refresh()
    try expectSame(reader, writer)
  }

  /// While the reader adopts a manifest, behind its look at what was evicted.
  @Test(arguments: VainRemoval.allCases)
  func whatIsRemovedWhileAReaderAdoptsAManifestIsNotShownAtALaterNumber(_ removal: VainRemoval) throws {
    let writer = try bench.openWriter { $0.capacity = 1 << 20 }
    try writer.put("value", forKey: "evicted")
    try writer.fill(100)
    let reader = try bench.openReader()
    #expect(try reader.text("evicted") == "value")
    // So that there are segments that the reader has not opened.
    try writer.fill(300, from: 100)
    try writer.probe.endTail()
    try writer.put("one", forKey: "one")
    bench.clock.advance(milliseconds: 2)
    bench.before(.open, of: ".segment") {
      try writer.probe.makeRoom(for: 0, isVolumeFull: true, orThrow: .closed)
      #expect(try writer.get("evicted") == nil)
      try removal.remove("evicted", from: writer)
      try writer.put("later", forKey: "later")
    }
    let shown = try reader.snapshot().contents()
    #expect(bench.hasRun)
    #expect(shown[bytes("later")] == nil || shown[bytes("evicted")] == nil)
    try reader.refresh()
    try expectSame(reader, writer)
  }

  /// Also where there is no room for one until something is evicted.
  @Test func eachRemovalOfACacheIsLogged() throws {
    let writer = try bench.openWriter { $0.capacity = 256 << 10 }
    try writer.fill(300)
    let before = writer.lastSequence.rawValue
    for number in 0..<10_000 { #expect(try !writer.remove("absent \(number)")) }
    #expect(writer.lastSequence.rawValue == before + 10_000)
  }

  @Test(arguments: [0, 3]) func anOpeningAmidABatchGoesOnAtItsStart(recordsBefore: Int) throws {
    let reached = Signal()
    let goOn = Signal()
    let published = SharedCounter()
    let stop = SharedCounter()
    let writer = try bench.openWriter(onPublish: {
      if published.add() == stop.value {
        reached.raise()
        goOn.wait()
      }
    })
    try writer.fill(5)
    try writer.probe.endTail()
    try writer.fill(recordsBefore)
    let last = writer.lastSequence
    // The hook is called twice for each record.
    stop.add(published.value + 41)
    let thread = try WorkerThread(name: "writer") { try? writer.putBatch("new", (0..<50).map { "key \($0)" }) }
    reached.wait()
    let reader: LogStore
    do {
      defer {
        goOn.raise()
        thread.join()
      }
      reader = try bench.openReader()
      #expect(reader.lastSequence == last)
    }
    try writer.fill(100)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.damage)")
  }

  @Test func aSegmentMadeForALargeRecordIsReadBeforeTheSpareThatWasThereFirst() throws {
    let writer = try bench.openWriter { $0.segmentSize = 4 << 20 }
    try writer.put("1", forKey: "a")
    let reader = try bench.openReader()
    // More than half full, so that a spare is listed, and known to the reader.
    try writer.fill(60, length: 50_000)
    #expect(writer.statistics.segments.contains { $0.recordBytes == 0 })
    try reader.refresh()
    #expect(reader.statistics.segments.count == writer.statistics.segments.count)
    try writer.put([UInt8](repeating: 3, count: 5_000_000), forKey: "large")
    try writer.put([UInt8](repeating: 4, count: 5_000), forKey: "after")
    try reader.refresh()
    #expect(try reader.get("large")?.count == 5_000_000)
    try expectSame(reader, writer)
  }

  /// The reader has mapped as much of the next segment as there was, and that is less than its first record takes.
  @Test(arguments: [false, true]) func aLargeRecordMayBeTheFirstOfAnEmptySegment(isBatch: Bool) throws {
    let writer = try bench.openWriter { $0.segmentSize = 4 << 20 }
    try writer.fill(20)
    let reader = try bench.openReader()
    try writer.probe.endTail()
    try reader.refresh()
    if isBatch {
      try writer.write { (batch) throws(StoreError) in
        for number in 0..<3 { try batch.put([UInt8](repeating: 2, count: 200_000), forKey: "fill \(number)") }
      }
    } else {
      try writer.put([UInt8](repeating: 2, count: 500_000), forKey: "fill 3")
    }
    try reader.refresh()
    try expectSame(reader, writer)
    try writer.fill(20)
    try reader.refresh()
    try expectSame(reader, writer)
  }

  @Test(arguments: [false, true])
  func aReaderFollowsRecordsThatAreCopiedAfterAFailedSync(isPartDurable: Bool) throws {
    let plan = FaultPlan()
    let writer = try bench.openWriter(over: plan)
    try writer.put("first", forKey: "a", durability: isPartDurable ? .synced : .buffered)
    try writer.put("buffered", forKey: "b")
    try writer.put("buffered", forKey: "c")
    let reader = try bench.openReader()
    #expect(try reader.text("b") == "buffered")
    plan.fail(.sync, on: .suffix(".segment"), .failedSync(code: 5, marksPagesClean: true))
    #expect(throws: StoreError.self) { try writer.sync() }
    writer.probe.kill()
    let next = try bench.openWriter()
    try next.put("later", forKey: "d")
    try reader.refresh()
    try expectSame(reader, next)
    for number in 0..<3 {
      try next.fill(80, from: number * 30)
      try next.merge()
      try reader.refresh()
      try expectSame(reader, next)
    }
    #expect(bench.events.damage.isEmpty)
  }

  @Test func aRecordOfAKeyspaceThatIsNewCountsInIt() throws {
    let writer = try bench.openWriter()
    try writer.put("1", forKey: "a")
    let reader = try bench.openReader()
    let space = try writer.keyspace("later")
    for number in 0..<10 { try space.put("\(number)", forKey: "\(number)") }
    try reader.refresh()
    #expect(try reader.keyspace("later").count() == 10)
    #expect(try reader.totalCount() == 11)
  }

  /// - Parameter isDurable: what the next writer wrote is durable, and the manifest says so, before the reader looks.
  @Test(arguments: [false, true]) func numbersThatARecoverySkippedAreSkipped(isDurable: Bool) throws {
    var writer = try bench.openWriter()
    try writer.put("1", forKey: "a")
    let reader = try bench.openReader()
    for round in 0..<4 {
      writer.probe.appendUnfinishedBatch(key: bytes("half"), value: bytes("half"))
      // In every other round the reader sees the half of a batch.
      if round.isMultiple(of: 2) { try reader.refresh() }
      writer.probe.kill()
      writer = try bench.openWriter()
      try writer.put("\(round)", forKey: "round")
      if isDurable {
        try writer.sync()
        _ = try writer.keyspace("\(round)")
      }
      if round != 1 {
        try reader.refresh()
        try expectSame(reader, writer, "round \(round)")
      }
    }
    #expect(bench.events.damage.isEmpty)
  }

  /// Its writer was killed while it wrote it; the next one cuts it off, and gives its number to no other.
  @Test func theNumberOfARecordThatIsHalfThereIsSkipped() throws {
    let writer = try bench.openWriter()
    try writer.put("1", forKey: "a")
    let reader = try bench.openReader()
    let (tail, start) = (try #require(writer.probe.tail), try #require(writer.probe.tailEnd))
    try writer.put("half", forKey: "half")
    tail.store(0, at: start + RecordLayout.headerLength)
    writer.probe.kill()
    let next = try bench.openWriter()
    try next.put("2", forKey: "a")
    #expect(next.lastSequence.rawValue == 3)
    try reader.refresh()
    try expectSame(reader, next)
    #expect(bench.events.damage.isEmpty)
  }

  @Test func aBatchThatNeverEndedIsForgottenWhenItsSegmentIsMergedAway() throws {
    var writer = try bench.openWriter()
    try writer.put("1", forKey: "a")
    try writer.put("1", forKey: "b")
    writer.probe.appendUnfinishedBatch(key: bytes("half"), value: bytes("half"))
    let reader = try bench.openReader()
    writer.probe.kill()
    writer = try bench.openWriter()
    try writer.put("2", forKey: "a")
    try writer.merge()
    try writer.put("3", forKey: "c")
    try reader.refresh()
    try expectSame(reader, writer)
    try writer.put("4", forKey: "c")
    try reader.refresh()
    try expectSame(reader, writer)
  }

  // MARK: False alarms

  /// A record that a call writes may show its header before its value. A crash may have left it so, and then a writer says so.
  @Test func aRecordThatIsBeingWrittenIsNoCut() throws {
    let writer = try bench.openWriter()
    try writer.put("whole", forKey: "a")
    let start = try #require(writer.probe.tailEnd)
    try writer.put("half there", forKey: "b")
    let end = try #require(writer.probe.tailEnd)
    var machine = Machine()
    machine.disk = try bench.disk.processKilled()
    var image = try DiskImage(of: machine)
    let name = FileName.segment(1)
    for offset in start + 33..<end { image.files[name]?[offset] = 0 }
    for readOnly in [true, false] {
      let log = EventLog()
      let store = try image.machine().open {
        $0.readOnly = readOnly
        $0.onEvent = { log.record($0) }
      }
      #expect(try store.contents().keys.sorted { $0.lexicographicallyPrecedes($1) } == [bytes("a")])
      #expect(log.events.contains { if case .cut = $0 { true } else { false } } == !readOnly)
      #expect(log.damage.isEmpty)
      store.probe.kill()
    }
  }

  /// A store that was closed may be opened right now, or its last edit be under way.
  @Test(arguments: [false, true])
  func aManifestThatIsBeingWrittenIsNotDamage(isClosed: Bool) throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    if isClosed { try writer.close() }
    // One copy as a write under way leaves it, then as it was.
    let (copy, lock) = try (open("manifest.a"), open(LockFile.name))
    let whole = try copy.allBytes()
    try lock.raiseEdits()
    try copy.writeAll([UInt8](repeating: 0xee, count: 64), at: 0)
    bench.before(.open, of: "manifest.b", nth: 3) {
      try copy.writeAll(whole, at: 0)
      try lock.raiseEdits()
    }
    let reader = try bench.openReader()
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(try reader.contents().count == 20)
    #expect(bench.events.events.isEmpty == false && bench.events.damage.isEmpty, "\(bench.events.events)")
  }

  /// However long it takes: the writer may have been killed in the middle of it.
  @Test func aManifestThatWasLeftHalfWrittenIsNotDamage() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    try open(LockFile.name).raiseEdits()
    try open("manifest.a").writeAll([UInt8](repeating: 0xee, count: 64), at: 0)
    let reader = try bench.openReader()
    #expect(try reader.contents().count == 20)
    #expect(bench.events.damage.isEmpty, "\(bench.events.events)")
    #expect(try reader.verify().damage.isEmpty)
  }

  @Test func aManifestThatNobodyWritesIsDamageWhenItIsTorn() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    try open("manifest.a").writeAll([UInt8](repeating: 0xee, count: 64), at: 0)
    let reader = try bench.openReader()
    #expect(try reader.contents().count == 20)
    #expect(bench.events.damage.count == 1, "\(bench.events.events)")
    #expect(try reader.verify().damage.count == 1)
  }

  /// And so does whoever was killed in the middle of one, until the next has replaced what was left.
  @Test func everyWriteOfTheManifestSaysThatItIsUnderWay() throws {
    let plan = FaultPlan()
    let (calls, silent) = (SharedCounter(), SharedCounter())
    let watched = Guarded<Set<FaultOperation>>([.write, .sync])
    let (disk, path) = (bench.disk, bench.path)
    plan.onCall { call in
      guard call.path.contains("/manifest."), watched.withLock({ $0.contains(call.operation) }) else { return }
      _ = calls.add()
      if LockFile.edits(in: path, disk).map({ $0 & 1 }) != 1 { _ = silent.add() }
    }
    var last: UInt64 = 0
    for life in 0..<3 {
      let writer = try bench.openWriter(over: plan)
      try writer.fill(20)
      let open = try #require(LockFile.edits(in: path, disk))
      #expect(open & 1 == 0 && open > last)
      try writer.close()
      last = try #require(LockFile.edits(in: path, disk))
      #expect(last & 1 == 0 && last > open)
      guard life == 1 else { continue }
      try self.open(LockFile.name).raiseEdits()
      watched.withLock { _ = $0.insert(.read) }
    }
    #expect(calls.value >= 20 && silent.value == 0)
  }

  /// A look may meet the first copy as it was, the second as it becomes: the older one says nothing then.
  @Test func anOlderManifestBesideOneThatIsBeingWrittenIsNotDamage() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    let (first, second) = try (open("manifest.a"), open("manifest.b"))
    let old = try first.allBytes()
    try writer.probe.endTail()
    let reader = try bench.openReader()
    try writer.probe.endTail()
    try writer.put("new", forKey: "new")
    let (new, whole) = try (first.allBytes(), second.allBytes())
    try first.writeAll(old, at: 0)
    try second.writeAll([UInt8](repeating: 0xee, count: 64), at: 0)
    bench.before(.open, of: "manifest.b") { try first.writeAll(new, at: 0) }
    try reader.refresh()
    #expect(bench.hasRun, "\(bench.failures)")
    try second.writeAll(whole, at: 0)
    try reader.refresh()
    try expectSame(reader, writer)
    #expect(bench.events.damage.isEmpty, "\(bench.events.events)")

    for copy in [first, second] { try copy.writeAll(old, at: 0) }
    #expect { try reader.refresh() } throws: { error in
      if case StoreError.damaged(_, let reason) = error { reason.contains("older copy") } else { false }
    }
  }

  private func open(_ name: String) throws -> any File { try bench.disk.open("\(bench.path)/\(name)", .readWrite) }

  @Test func aRecordWhoseBodyIsBeingWrittenDuringAnOpeningIsNotDamage() throws {
    let writer = try bench.openWriter()
    try writer.fill(20)
    try writer.sync()
    let path = try #require(writer.statistics.segments.first).path
    // What a call that writes a record has done halfway: the header is there, the body is not, and a later look sees all.
    let end = try #require(writer.statistics.segments.first).recordBytes
    let file = try bench.disk.open(path, .readWrite)
    try writer.put([UInt8](repeating: 9, count: 3000), forKey: "late", durability: .synced)
    try writer.put("after", forKey: "after", durability: .synced)
    let place = 64 + end + 600
    let body = try file.bytes(in: place..<place + 64)
    try file.writeAll([UInt8](repeating: 0, count: 64), at: place)
    bench.before(.fileStatus, of: ".segment", nth: 2) { try file.writeAll(body, at: place) }
    let reader = try bench.openReader()
    try reader.refresh()
    #expect(bench.hasRun, "\(bench.failures)")
    #expect(bench.events.damage.isEmpty, "\(bench.events.events)")
    try expectSame(reader, writer)
  }

  // MARK: Refusals

  @Test func aReaderWhoseStoreWasReplacedSaysSo() throws {
    let writer = try bench.openWriter()
    try writer.put("1", forKey: "a")
    let reader = try bench.openReader()
    try writer.close()
    for name in try bench.disk.list(bench.path) { try bench.disk.remove("\(bench.path)/\(name)") }
    let other = try LogStore(
      at: bench.path,
      options: bench.options(),
      host: StoreHost(platform: bench.disk.platform(clock: bench.clock, seed: 77), background: .inline)
    )
    try other.put("2", forKey: "a")
    #expect(throws: StoreError.otherStore(path: bench.path)) { try reader.refresh() }
    #expect(try reader.text("a") == "1")
  }
}

/// A flag that threads wait for.
private final class Signal: Sendable {
  private let lock = Lock()
  private let condition = Condition()
  private let isRaised = Guarded(false)

  func raise() {
    lock.withLock {
      isRaised.withLock { $0 = true }
      condition.broadcast()
    }
  }

  func wait() {
    lock.lock()
    while !isRaised.withLock({ $0 }) { condition.wait(lock) }
    lock.unlock()
  }
}

extension File {
  /// What a writer does before a write of the manifest, and after it.
  fileprivate func raiseEdits() throws {
    let number = try unsafe bytes(in: 32..<40).withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
    try writeAll(unsafe withUnsafeBytes(of: number &+ 1) { unsafe [UInt8]($0) }, at: 32)
  }
}
