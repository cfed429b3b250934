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
      machine.reusesRoom = true
      store = try machine.open()
      var round = 0
      var last: [UInt64] = []
      var before = store.probe.recordsReplaced
      repeat {
        if hasCheckpoint, round == 50 { store.probe.writeCheckpoint() }
        before = store.probe.recordsReplaced
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
