import EskerFormat
import EskerTestSupport
import Testing

@testable import EskerLog

/// Records that take the room of dead ones.
@Suite struct ReuseTests {
  private func machine() -> Machine {
    var machine = Machine()
    machine.reusesSpace = true
    return machine
  }

  /// Overwrites a few keys; each value is unlike any other. Returns what is there then.
  ///
  /// Waits each time until nobody reads what is to make room, unless the caller does: else the segment would fill up while threads of
  /// other tests are kept from ending their reads.
  @discardableResult
  private func overwrite(_ store: LogStore, _ rounds: Range<Int>, keys: Int = 4) throws -> [[UInt8]: [UInt8]] {
    var expected: [[UInt8]: [UInt8]] = [:]
    for round in rounds {
      if !store.probe.epochs.isPinned { store.probe.collect() }
      let (key, value) = (bytes("key \(round % keys)"), Self.value(round))
      try store.put(value, forKey: key)
      expected[key] = value
    }
    return expected
  }

  /// Overwrites until that many records have been replaced.
  private func overwrite(_ store: LogStore, from start: Int, untilReplaced count: Int) throws -> (
    end: Int, contents: [[UInt8]: [UInt8]]
  ) {
    let wanted = store.probe.recordsReplaced + count
    var (end, contents) = (start, [[UInt8]: [UInt8]]())
    while store.probe.recordsReplaced < wanted || end - start < 4 {
      contents.merge(try overwrite(store, end..<end + 1)) { $1 }
      end += 1
    }
    return (end, contents)
  }

  private static func value(_ number: Int) -> [UInt8] {
    bytes("value \(1_000_000 + number)") + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 80)
  }

  @Test func overwritesTakeEachOthersRoom() throws {
    var machine = machine()
    let store = try machine.open()
    let (end, expected) = try overwrite(store, from: 0, untilReplaced: 2_000)
    let appended = end - store.probe.recordsReplaced
    #expect(store.statistics.segments.reduce(0) { $0 + $1.recordBytes } <= appended * 144)
    #expect(try store.contents() == expected)
    #expect(store.lastSequence.rawValue == UInt64(end))
    #expect(try store.verify().isClean)
    let figures = try store.expectConsistentFigures()
    #expect(figures.live == figures.recount)
    #expect(figures.live + figures.dead == figures.logged)
    let killed = try machine.reopenAfterKill()
    #expect(try killed.contents() == expected)
    #expect(killed.lastSequence.rawValue == UInt64(end))
    try killed.close()
    let closed = try machine.open()
    #expect(try closed.contents() == expected)
    withExtendedLifetime(store) {}
  }

  /// Where it ends, all that died in it can be had no more.
  @Test func theTailGoesOnAsLongAsRecordsTakeRoomThere() throws {
    var machine = machine()
    let store = try machine.open()
    func length() -> Int { store.statistics.segments.map(\.recordBytes).max() ?? 0 }
    // Twice as many keys as a segment has room for.
    let keys = 900
    var expected = try overwrite(store, 0..<2 * keys, keys: keys)
    #expect(store.probe.recordsReplaced == 0 && length() <= 64 << 10, "none of them was there to be replaced")
    // A few keys make room in between.
    for round in 0..<4 * keys {
      store.probe.collect()
      let number = round % 3 == 0 ? round % keys : round % 4
      let (key, value) = (bytes("key \(number)"), Self.value(round))
      try store.put(value, forKey: key)
      expected[key] = value
    }
    #expect(length() > 64 << 10, "\(length())")
    #expect(length() <= 3 * 64 << 10)
    #expect(try store.contents() == expected)
    #expect(try store.verify().isClean)
    let killed = try machine.reopenAfterKill()
    #expect(try killed.contents() == expected)
    // Without overwrites it ends at the next look.
    let before = length()
    for number in 0..<2 * keys { try killed.put(Self.value(number), forKey: "another \(number)") }
    #expect(killed.statistics.segments.map(\.recordBytes).max() ?? 0 <= max(before, 128 << 10))
    withExtendedLifetime(store) {}
  }

  @Test func aBatchTakesNoRoomAndGivesNone() throws {
    let store = try machine().open()
    var end = 0
    for _ in 0..<10 {
      end = try overwrite(store, from: end, untilReplaced: 10).end
      let (count, start) = (store.probe.recordsReplaced, try #require(store.probe.tailEnd))
      try store.write { (batch) throws(StoreError) in
        for key in 0..<4 { try batch.put(Self.value(end + key), forKey: "key \(key)") }
      }
      #expect(store.probe.recordsReplaced == count)
      let tail = try #require(store.probe.tail)
      let places = stride(from: start, to: try #require(store.probe.tailEnd), by: 8)
      #expect(places.underestimatedCount >= 4 * 128 / 8)
      let words = places.map { tail.word(at: $0) }
      end = try overwrite(store, from: end, untilReplaced: 10).end
      #expect(places.map { tail.word(at: $0) } == words)
      // So that none begins near the end of a segment.
      try store.probe.endTail()
    }
  }

  /// Writes go on while it is written.
  @Test func whatIsInFrontOfACheckpointStays() throws {
    var machine = machine()
    let plan = FaultPlan()
    machine.calls = plan
    let store = try machine.open()
    _ = try overwrite(store, from: 0, untilReplaced: 50)
    let rounds = SharedCounter()
    plan.onCall { call in
      guard call.path.contains("checkpoint") else { return }
      let round = 1_000 + rounds.add()
      _ = try? store.put(Self.value(round), forKey: "key \(round % 4)")
    }
    store.probe.writeCheckpoint()
    plan.onCall(nil)
    try #require(store.probe.checkpointID != 0 && rounds.value > 1)
    let expected = try store.contents()
    let killed = try machine.reopenAfterKill()
    #expect(try killed.contents() == expected)
    withExtendedLifetime(store) {}
  }

  /// Also if the segment was empty when its records were to stay.
  @Test func theFirstRecordOfASegmentStays() throws {
    let store = try machine().open()
    try overwrite(store, 0..<4)
    try store.probe.endTail()
    store.probe.writeCheckpoint()
    let first = store.probe.nextSequence
    let tail = try #require(store.probe.tailID)
    var round = 4
    while round < 100 || round < 400 && store.probe.recordsReplaced < 50 {
      try overwrite(store, round..<round + 1)
      round += 1
    }
    #expect(store.probe.tailID == tail)
    #expect(try store.probe.tailBytes(in: 136..<137) == [UInt8(first)])
  }

  @Test func withoutAutomaticMergesTheLogKeepsAll() throws {
    let store = try machine().open { $0.merge.isAutomatic = false }
    try overwrite(store, 0..<100)
    #expect(store.probe.recordsReplaced == 0)
  }

  /// What must stay as it is, each by itself.
  @Test(arguments: ["sync", "checkpoint", "snapshot", "batch", "feed"])
  func whatIsNeededStays(by what: String) throws {
    var machine = machine()
    // Room for as many records as pins of tests beside this one may make it take: all must be in one segment.
    let store = try machine.open { $0.segmentSize = 32 << 20 }
    let start = try overwrite(store, from: 0, untilReplaced: 20).end
    let tail = store.probe.tailID
    let before = try store.contents()
    let (end, replaced) = (try #require(store.probe.tailEnd), store.probe.recordsReplaced)
    var (snapshot, feed): (Snapshot?, LogStore.Changes?)
    switch what {
    case "sync": try store.sync()
    case "checkpoint": store.probe.writeCheckpoint()
    case "snapshot": snapshot = try store.snapshot()
    case "batch": try store.write { (batch) throws(StoreError) in try batch.put("b", forKey: "batch") }
    default: feed = store.changes(since: store.lastSequence)
    }
    let image = try store.probe.tailBytes(in: 0..<end)
    try overwrite(store, start..<start + 4)
    // Behind the mark there is no dead record yet.
    #expect(store.probe.recordsReplaced == replaced)
    let expected: [[UInt8]: [UInt8]]
    if what == "feed" {
      expected = try overwrite(store, start + 4..<start + 400)
      #expect(store.probe.recordsReplaced == replaced)
    } else {
      expected = try overwrite(store, from: start + 4, untilReplaced: 100).contents
    }
    #expect(store.probe.tailID == tail)
    // The words in the header change; no record does.
    #expect(try store.probe.tailBytes(in: 128..<end) == Array(image[128...]))
    if let snapshot { #expect(try snapshot.contents() == before) }
    var contents = try store.contents()
    contents[bytes("batch")] = nil
    #expect(contents == expected)
    contents = try machine.reopenAfterKill().contents()
    contents[bytes("batch")] = nil
    #expect(contents == expected)
    withExtendedLifetime((store, snapshot, feed)) {}
  }

  @Test func noRecordIsReplacedThatAPinMayBeReading() throws {
    let store = try machine().open()
    let start = try overwrite(store, from: 0, untilReplaced: 20).end
    let pin = store.probe.epochs.enter()
    let replaced = store.probe.recordsReplaced
    try overwrite(store, start..<start + 1_000)
    // Only what was dead before the pin.
    #expect(store.probe.recordsReplaced < replaced + 20)
    store.probe.epochs.exit(pin)
    _ = try overwrite(store, from: start + 1_000, untilReplaced: 100)
  }

  @Test func aValueThatIsLentStaysAsItIs() throws {
    let store = try machine().open()
    try overwrite(store, 0..<41)
    let isSame = try store.withValue(forKey: "key 0") { (value) -> Bool in
      let before = value.withUnsafeBytes { Array($0) }
      _ = try? self.overwrite(store, from: 41, untilReplaced: 100)
      return before == value.withUnsafeBytes { Array($0) }
    }
    #expect(isSame == true)
  }

  /// Nothing takes the room of a record that is so large.
  @Test func aLargeValueIsLentWithoutACopy() throws {
    let store = try machine().open()
    let large = [UInt8](repeating: 1, count: 64 << 10)
    func isLentTwice(_ key: String) throws -> Bool? {
      try store.withValue(forKey: key) { first in
        try store.withValue(forKey: key) { second in
          first.withUnsafeBytes { first in second.withUnsafeBytes { first.baseAddress == $0.baseAddress } }
        }
      } ?? nil
    }
    try store.put(Self.value(1), forKey: "small")
    #expect(try isLentTwice("small") == false)
    try store.put(large, forKey: "large")
    #expect(try isLentTwice("large") == true)
    let isSame = try store.withValue(forKey: "large") { (value) -> Bool in
      for round in 0..<20 { try store.put([UInt8](repeating: UInt8(round), count: 64 << 10), forKey: "large") }
      // Its segment goes, and so does the store.
      try store.merge()
      try store.close()
      return value.withUnsafeBytes { $0.elementsEqual(large) }
    }
    #expect(isSame == true)
  }

  @Test func aReaderStopsItAndSeesAll() throws {
    let machine = machine()
    let store = try machine.open()
    var (start, expected) = try overwrite(store, from: 0, untilReplaced: 100)
    start = (start + 3) / 4 * 4
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.contents() == expected)
    let replaced = store.probe.recordsReplaced
    for round in stride(from: start, to: start + 80, by: 4) {
      expected = try overwrite(store, round..<round + 4)
      #expect(try reader.contents() == expected)
    }
    #expect(store.probe.recordsReplaced == replaced)
    try reader.close()
    // The next segment shows that nobody reads any more.
    try store.probe.endTail()
    expected = try overwrite(store, from: start + 80, untilReplaced: 100).contents
    #expect(try store.contents() == expected)
    let late = try machine.open { $0.readOnly = true }
    #expect(try late.contents() == expected)
    withExtendedLifetime((store, late)) {}
  }

  @Test func aReaderOfACrashedStoreSeesAll() throws {
    var machine = machine()
    let store = try machine.open()
    let (end, expected) = try overwrite(store, from: 0, untilReplaced: 100)
    let reader = try machine.reopenAfterKill { $0.readOnly = true }
    #expect(try reader.contents() == expected)
    #expect(reader.lastSequence.rawValue == UInt64(end))
    withExtendedLifetime(store) {}
  }

  /// A tail that was closed with room for a seal alone goes on, and stays within its file.
  @Test func aFullTailOfAnEarlierOpeningOpensAgain() throws {
    var machine = Machine()
    let store = try machine.open()
    try store.put([], forKey: "first")
    // A record's header and its key take 40 bytes.
    try store.put([UInt8](repeating: 1, count: store.probe.tailRoom - 40), forKey: "second")
    try #require(store.probe.tailRoom == 0)
    try store.close()
    machine.reusesSpace = true
    for round in 0..<3 {
      let store = try machine.open()
      try store.put(Self.value(round), forKey: "third")
      #expect(try store.contents().count == 3)
      if round == 1 { store.probe.kill() } else { try store.close() }
    }
  }

  /// Numbers do not tell there what is missing, so damage must not hide what is behind it.
  @Test func damageLosesOneRecordOfThoseThatWereSynced() throws {
    var machine = machine()
    let store = try machine.open()
    let expected = try overwrite(store, from: 0, untilReplaced: 100).contents
    try store.sync()
    // Says what was durable.
    try store.put("later", forKey: "later")
    let path = try #require(try machine.files(".segment").first)
    machine.disk = try machine.disk.processKilled()
    let file = try machine.disk.open(path, .readWrite)
    // The number of the fourth record, behind a header of 128 bytes and three records of 136.
    try file.writeAll([0xff], at: 128 + 3 * 136 + 9)
    file.close()
    let log = EventLog()
    let again = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(log.damage.first?.offset == 128 + 3 * 136)
    #expect(try again.get("later") == bytes("later"))
    #expect(expected.count { (try? again.get($0.key)) == $0.value } >= expected.count - 1)
    withExtendedLifetime(store) {}
  }

  /// The numbers of the first records of the first segment.
  private func numbers(_ machine: Machine, of count: Int) throws -> [UInt64] {
    let file = try machine.disk.open(try #require(try machine.files(".segment").first), .readWrite)
    defer { file.close() }
    return try (0..<count).map { index in
      var number = UInt64(0)
      _ = try withUnsafeMutableBytes(of: &number) { bytes in
        try file.read(into: bytes, at: 128 + index * 136 + 8)
      }
      return UInt64(littleEndian: number) & (RecordLayout.sequenceLimit - 1)
    }
  }

  /// The last of the numbers stands in front of the damage, so that none seems to be missing behind it.
  @Test(arguments: [false, true]) func damageBehindTheLastNumberLosesOneRecord(isZeros: Bool) throws {
    var machine = machine()
    let store = try machine.open()
    var (end, expected) = (0, [[UInt8]: [UInt8]]())
    // Until the last number is that of one of the first three records.
    repeat {
      expected.merge(try overwrite(store, end..<end + 1)) { $1 }
      end += 1
    } while try end < 8 || end < 10_000 && !numbers(machine, of: 3).contains(store.lastSequence.rawValue)
    try #require(try numbers(machine, of: 3).contains(store.lastSequence.rawValue))
    try store.sync()
    // Says what was durable.
    try store.put("later", forKey: "later")
    let path = try #require(try machine.files(".segment").first)
    machine.disk = try machine.disk.processKilled()
    let file = try machine.disk.open(path, .readWrite)
    try file.writeAll([UInt8](repeating: isZeros ? 0 : 0xff, count: 136), at: 128 + 3 * 136)
    file.close()
    let log = EventLog()
    let again = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(log.damage.first?.offset == 128 + 3 * 136)
    #expect(expected.count { (try? again.get($0.key)) == $0.value } >= expected.count - 1)
    #expect(try again.get("later") == bytes("later"))
    withExtendedLifetime(store) {}
  }

  @Test func aFeedCannotGoBackBeforeWhatWasReplaced() async throws {
    let store = try machine().open()
    let end = try overwrite(store, from: 0, untilReplaced: 100).end
    let last = store.lastSequence
    var feed = store.changes(since: SequenceNumber(rawValue: 10), includingUnsynced: true).makeAsyncIterator()
    await #expect {
      _ = try await feed.next()
    } throws: { error in
      guard case StoreError.historyGone = error else { return false }
      return true
    }
    var later = store.changes(since: last, includingUnsynced: true).makeAsyncIterator()
    try overwrite(store, end..<end + 4)
    #expect(try await later.next()?.sequence.rawValue == UInt64(end + 1))
  }

  /// The order of removals counts, wherever they stand.
  @Test func removalsStayRemovals() throws {
    var machine = machine()
    let store = try machine.open()
    var round = 0
    while store.probe.recordsReplaced < 100 || round % 3 != 2 {
      try overwrite(store, round..<round + 1, keys: 3)
      if round % 3 == 1 { try store.remove("key \(round % 3)") }
      round += 1
    }
    let expected = try store.contents()
    #expect(try machine.reopenAfterKill().contents() == expected)
    withExtendedLifetime(store) {}
  }
}
