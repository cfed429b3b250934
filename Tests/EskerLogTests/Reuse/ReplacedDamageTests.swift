import EskerFormat
import EskerTestSupport
import Testing

@testable import EskerLog

/// Damage to the last record in front of a mark, while the last number stands further in front, in the room of a dead record: no number
/// is missing, and only what stands behind the damage says that it was synced.
@Suite struct ReplacedDamageTests {
  enum Harm: CaseIterable {
    case flippedByte, zeroedRecord, flippedMark
    /// As a page is lost on which both stand.
    case zeroedRecordAndMark
  }

  private static let recordLength = 136

  /// A store with such a tail; its mark is not yet written.
  private struct Tail {
    var machine = Machine()
    var store: LogStore
    var expected: [[UInt8]: [UInt8]] = [:]
    /// Where the last record stands.
    var place = 0
    var path = ""

    init(hasCheckpoint: Bool) throws {
      machine.reusesSpace = true
      store = try machine.open()
      var round = 0
      var last: [UInt64] = []
      var before = store.probe.recordsReplaced
      repeat {
        if hasCheckpoint, round == 50 { store.probe.writeCheckpoint() }
        before = store.probe.recordsReplaced
        store.probe.collect()
        let key = bytes("key \(round % 4)")
        let value =
          bytes("value \(1_000_000 + round)") + [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 80)
        try store.put(value, forKey: key)
        expected[key] = value
        round += 1
        place = try #require(store.probe.tailEnd) - ReplacedDamageTests.recordLength
        last = try store.probe.tailBytes(in: place + 8..<place + 15).reversed().map { UInt64($0) }
      } while round < 100
        || round < 10_000
          && (store.probe.recordsReplaced == before || last.reduce(0) { $0 << 8 | $1 } == store.lastSequence.rawValue)
      try #require(store.probe.recordsReplaced > before)
      path = try #require(store.probe.tail?.path)
    }

    /// Kills the process and damages what stands around the mark.
    mutating func damage(_ harm: Harm) throws {
      machine.disk = try machine.disk.processKilled()
      let file = try machine.disk.open(path, .readWrite)
      defer { file.close() }
      let mark = place + ReplacedDamageTests.recordLength
      switch harm {
      case .flippedByte: try file.writeAll([0xff], at: place + 9)
      case .zeroedRecord: try file.writeAll([UInt8](repeating: 0, count: mark - place), at: place)
      case .flippedMark: try file.writeAll([0xff], at: mark + 9)
      case .zeroedRecordAndMark: try file.writeAll([UInt8](repeating: 0, count: mark + 32 - place), at: place)
      }
    }
  }

  @Test(arguments: Harm.allCases, [false, true])
  func damageInFrontOfAMarkLosesOneRecord(harm: Harm, isLaterElsewhere: Bool) throws {
    for hasCheckpoint in [false, true] {
      var tail = try Tail(hasCheckpoint: hasCheckpoint)
      let store = tail.store
      try store.sync()
      // Without a footer, from which the segment would be read.
      store.probe.stopBackground()
      if isLaterElsewhere { try store.probe.rotate() }
      for number in 0..<3 { try store.put("later", forKey: "later \(number)") }
      try tail.damage(harm)
      // What reads only comes to the same end, and finds the same damage.
      let reads = EventLog()
      let reader = try tail.machine.open {
        $0.readOnly = true
        $0.onEvent = { reads.record($0) }
      }
      let hidden = tail.expected.count { (try? reader.get($0.key)) != $0.value }
      try reader.close()
      let log = EventLog()
      let again = try tail.machine.open { $0.onEvent = { log.record($0) } }
      let lost = tail.expected.count { (try? again.get($0.key)) != $0.value }
      #expect(lost <= (harm == .flippedMark ? 0 : 1))
      #expect(hidden == lost)
      #expect(reads.damage.map(\.offset) == log.damage.map(\.offset))
      for number in 0..<3 { #expect(try again.get("later \(number)") == bytes("later")) }
      #expect(!log.events.contains { if case .cut = $0 { true } else { false } })
      let place = harm == .flippedMark ? tail.place + Self.recordLength : tail.place
      #expect(log.damage.map(\.offset) == [place])
      #expect(log.damage.map(\.path) == [tail.path])
      withExtendedLifetime(store) {}
    }
  }

  /// No number is missing, and no mark is behind it, in a segment that was synced as a whole by the opening after a kill.
  @Test(arguments: [Harm.flippedByte, .zeroedRecord]) func damageAtTheEndOfAClosedSegmentIsReported(harm: Harm) throws {
    var tail = try Tail(hasCheckpoint: false)
    tail.machine.leavesCheckpoints = false
    let store = tail.store
    tail.machine.disk = try tail.machine.disk.processKilled()
    let opened = try tail.machine.open()
    opened.probe.stopBackground()
    try opened.put("later", forKey: "later")
    try opened.sync()
    opened.probe.stopBackground()
    try opened.probe.writeManifest()
    try tail.damage(harm)
    for readOnly in [true, false] {
      let log = EventLog()
      let again = try tail.machine.open {
        $0.readOnly = readOnly
        $0.onEvent = { log.record($0) }
      }
      let lost = tail.expected.count { (try? again.get($0.key)) != $0.value }
      #expect(lost <= 1)
      #expect(log.damage.map(\.offset) == [tail.place], "\(readOnly): \(log.events)")
      try again.close()
    }
    withExtendedLifetime((store, opened)) {}
  }

  /// A removal stands in the room of a dead record, in front of what it removed: damage in front of both brings nothing back.
  @Test func damageBringsNothingBack() throws {
    var seeds = SeededGenerator(announcedFor: "damageBringsNothingBack")
    var tried = 0
    for _ in 0..<40 {
      var generator = SeededGenerator(seed: seeds.next() >> 32)
      var machine = Machine()
      machine.reusesSpace = true
      let store = try machine.open()
      try store.put("", forKey: "a")
      var before = 0
      var round = 0
      repeat {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          try store.put("", forKey: generator.oneIn(3) ? "c" : "b")
        }
        try store.put("", forKey: "b")
        before = store.probe.recordsReplaced
        store.probe.collect()
        try store.remove("b")
        round += 1
      } while store.probe.recordsReplaced == before && round < 10_000
      try #require(store.probe.recordsReplaced > before)
      let records = store.probe.tailRecords.filter { !$0.header.isMark }
      let place = try #require(records.firstIndex { $0.header.sequence == store.lastSequence.rawValue })
      guard place > 0 else { continue }
      tried += 1
      try store.sync()
      // So that it is known to be durable.
      try store.probe.writeManifest()
      let path = try #require(store.probe.tail?.path)
      machine.disk = try machine.disk.processKilled()
      try machine.disk.open(path, .readWrite).writeAll([0xff], at: records[place - 1].offset + 9)
      for readOnly in [true, false] {
        let again = try machine.open { $0.readOnly = readOnly }
        #expect(try again.get("b") == nil, "\(generator.seed) \(readOnly)")
        try again.close()
      }
      withExtendedLifetime(store) {}
    }
    #expect(tried > 5)
  }

  /// A mark says nothing of what was not synced behind it: that may be missing after a power failure, and is no damage.
  @Test(arguments: Harm.allCases) func whatWasNotSyncedIsCutOff(harm: Harm) throws {
    var tail = try Tail(hasCheckpoint: true)
    let store = tail.store
    // Writes a mark.
    let snapshot = try store.snapshot()
    try store.put("later", forKey: "later")
    try tail.damage(harm)
    let log = EventLog()
    let again = try tail.machine.open { $0.onEvent = { log.record($0) } }
    #expect(log.damage.isEmpty)
    #expect(log.events.contains { if case .cut = $0 { true } else { false } })
    #expect(try again.get("later") == nil)
    withExtendedLifetime((store, snapshot)) {}
  }
}
