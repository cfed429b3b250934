import EskerFormat
import EskerTestSupport
import Testing

@testable import EskerLog

/// A manifest's row of a segment that calls itself settled is a claim as long as the segment was not synced: a power failure can leave
/// the file as it was a moment before.
@Suite struct ClaimedEndTests {
  private static func value(_ number: Int) -> [UInt8] {
    bytes("value \(1_000_000 + number)") + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 80)
  }

  /// Whoever opens it, for reading or writing, finds nothing wrong, and the same.
  private func expectSound(_ machine: Machine, _ expected: [[UInt8]: [UInt8]], isWhole: Bool = true) throws {
    for readOnly in [true, false] {
      let log = EventLog()
      let store = try machine.open {
        $0.readOnly = readOnly
        $0.onEvent = { log.record($0) }
      }
      #expect(log.damage.isEmpty, "\(readOnly)")
      #expect(log.events.contains { if case .cut = $0 { true } else { false } } == !isWhole)
      #expect(try store.contents() == expected)
      #expect(try store.verify().isClean)
      let snapshot = try store.snapshot()
      let verified = try store.probe.verifySegments(of: snapshot)
      #expect(verified.isClean)
      let copy = "/copy \(readOnly)"
      try store.backup(to: copy)
      try store.close()
    }
  }

  /// What is lost with the mark at the end of a segment, which the opening after a kill took for settled, is no record.
  @Test func aMarkThatIsLostIsNoRecord() throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    store.probe.stopBackground()
    var (round, expected) = (0, [[UInt8]: [UInt8]]())
    while store.probe.recordsReplaced < 100 || round % 4 != 0 {
      let key = bytes("key \(round % 4)")
      expected[key] = Self.value(round)
      try store.put(Self.value(round), forKey: key)
      round += 1
    }
    // Writes a mark behind the last record.
    let end = try #require(store.probe.tailEnd)
    let snapshot = try store.snapshot()
    let path = try #require(store.probe.tail?.path)
    try #require(try #require(store.probe.tailEnd) > end)
    try store.probe.rotate()
    try store.put("later", forKey: "later")
    expected[bytes("later")] = bytes("later")
    let again = try machine.reopenAfterKill()
    again.probe.stopBackground()
    try again.probe.writeManifest()
    machine.disk = try machine.disk.processKilled()
    let file = try machine.disk.open(path, .readWrite)
    try file.writeAll([UInt8](repeating: 0, count: 64), at: end)
    file.close()
    try expectSound(machine, expected)
    withExtendedLifetime((store, snapshot, again)) {}
  }

  /// What stands behind the end of history is not looked at by whoever only reads, as whoever writes drops it.
  ///
  /// - Parameters:
  ///   - kept: How many records of the first segment reached the disk.
  ///   - isAllLost: Whether none of a later one did: then nothing tells that there were more.
  @Test(arguments: [0, 1, 10], [false, true])
  func whatIsBehindTheEndOfHistoryIsLeftOut(kept: Int, isAllLost: Bool) throws {
    var machine = Machine()
    let store = try machine.open()
    store.probe.stopBackground()
    var (expected, ends, paths) = ([[UInt8]: [UInt8]](), [Int](), [String]())
    for segment in 0..<3 {
      for number in 0..<20 {
        let key = bytes("key \(segment) \(number)")
        if segment == 0, number < kept { expected[key] = Self.value(number) }
        if segment == 0, number == kept { ends.append(store.probe.tailEnd ?? SegmentHeader.length) }
        try store.put(Self.value(number), forKey: key)
      }
      ends.append(try #require(store.probe.tailEnd))
      paths.append(try #require(store.probe.tail?.path))
      try store.probe.rotate()
    }
    try store.put("later", forKey: "later")
    let last = try #require(store.probe.tail?.path)
    let again = try machine.reopenAfterKill()
    again.probe.stopBackground()
    try again.probe.writeManifest()
    machine.disk = try machine.disk.processKilled()
    // The end of the first segment did not reach the disk, nor did the beginning of the second.
    var lost = [(paths[0], ends[0]..<ends[1]), (paths[1], SegmentHeader.length..<ends[2] - 400)]
    if isAllLost {
      lost = [(paths[0], ends[0]..<8_000)] + (paths[1...] + [last]).map { ($0, SegmentHeader.length..<8_000) }
    }
    for (path, range) in lost {
      let file = try machine.disk.open(path, .readWrite)
      let length = min(range.upperBound, try file.status().size)
      try file.writeAll([UInt8](repeating: 0, count: max(0, length - range.lowerBound)), at: range.lowerBound)
      file.close()
    }
    // Whoever has read that far goes on behind the writer that comes next.
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.contents() == expected)
    try expectSound(machine, expected, isWhole: isAllLost)
    let writer = try machine.open()
    for number in 0..<100 {
      try writer.put(Self.value(number), forKey: "new \(number % 30)")
      expected[bytes("new \(number % 30)")] = Self.value(number)
    }
    try reader.refresh()
    #expect(reader.lastSequence == writer.lastSequence)
    #expect(try reader.contents() == expected)
    try writer.merge()
    try reader.refresh()
    #expect(try reader.contents() == expected)
    #expect(try reader.verify().isClean)
    withExtendedLifetime((store, again, reader)) {}
  }

  /// A seal with records behind it is a forgery: an error, and no end of the process.
  @Test func aSealAmidTheRecordsIsDamage() throws {
    let log = EventLog()
    let store = try Machine().open { $0.onEvent = { log.record($0) } }
    try store.put("first", forKey: "first")
    store.probe.append([(RecordHeader(sequence: 0, kind: .seal, keyHash: 0, keyLength: 0, valueLength: 0), [], [])])
    try store.put("second", forKey: "second")
    try store.probe.rotate()
    store.probe.sealFinished()
    // Each call delivers what was told before.
    #expect(try store.get("second") == bytes("second"))
    try store.put("third", forKey: "third")
    #expect(log.events.contains { if case .backgroundFailure(_, .damaged) = $0 { true } else { false } })
    #expect(try !store.verify().isClean)
  }

  /// Also in the tail of a store that was closed, whose durable number is behind the seal.
  @Test func aSealInAClosedTailIsDamage() throws {
    var machine = Machine()
    machine.leavesCheckpoints = false
    let store = try machine.open()
    try store.put("first", forKey: "first")
    store.probe.append([(RecordHeader(sequence: 0, kind: .seal, keyHash: 0, keyLength: 0, valueLength: 0), [], [])])
    try store.put("second", forKey: "second")
    try store.close()
    try machine.deleteCheckpoint()
    for readOnly in [true, false] {
      let log = EventLog()
      let again = try machine.open {
        $0.readOnly = readOnly
        $0.onEvent = { log.record($0) }
      }
      #expect(log.damage.count == 1, "\(readOnly): \(log.events)")
      #expect(try again.get("second") == bytes("second"))
      #expect(try !again.verify().isClean)
      try again.close()
    }
  }
}
