import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Whether a close writes a checkpoint, or leaves the one that is there and a little to replay behind it.
@Suite struct ClosingCheckpointTests {
  private static let keys = 20_000
  let machine: Machine

  /// A closed store with a checkpoint.
  init() throws {
    var machine = Machine()
    machine.leavesCheckpoints = false
    self.machine = machine
    try session { store in
      for number in 0..<Self.keys { try store.put([UInt8](repeating: 1, count: 60), forKey: "key \(number)") }
    }
    try #expect(checkpoint == "/store/0000000000000001.checkpoint")
  }

  private var checkpoint: String? { get throws { try machine.files(".checkpoint").first } }

  /// Opens the store, does something, closes it, and returns how it was found.
  @discardableResult private func session(_ body: (LogStore) throws -> Void = { _ in }) throws -> Report.Opening {
    let log = EventLog()
    let store = try machine.open {
      $0.segmentSize = 1 << 20
      $0.onEvent = { log.record($0) }
    }
    try body(store)
    #expect(store.probe.indexProblems == [])
    try store.close()
    #expect(log.damage == [])
    return try #require(log.opening)
  }

  /// A small one is verified as a whole before it is used.
  @Test(arguments: [("the page table's checksum", true), ("a page's checksum", false)])
  func damageToItIsToldOfAndTheLogIsReadInstead(reason: String, isTable: Bool) throws {
    let name = try #require(try checkpoint)
    let file = try machine.disk.open(name, .readWrite)
    let bytes = try file.allBytes()
    let header = try CheckpointHeader(
      decoding: ContiguousArray(bytes.prefix(4096)).span.bytes,
      fileLength: UInt64(bytes.count)
    )
    let place = Int(isTable ? header.layout.pageTableOffset : header.layout.mainOffset)
    try file.writeAll([bytes[place] ^ 1], at: place)
    let log = EventLog()
    let store = try machine.open { $0.onEvent = { log.record($0) } }
    let reasons = log.events.compactMap { if case .damaged(_, let reason) = $0 { reason } else { nil } }
    #expect(reasons.count == 1 && reasons[0].contains(reason), "\(reasons)")
    #expect(log.opening?.indexSource == .segments)
    #expect(try store.count() == Self.keys)
    try store.close()
  }

  @Test func afterAFewWritesTheCheckpointStays() throws {
    let first = try checkpoint
    for number in 0..<20 {
      let report = try session { store in
        try store.put("new", forKey: "new \(number)")
        try store.remove("key \(number)")
      }
      #expect(report.wasClean)
      #expect(report.indexSource == (number == 0 ? .checkpoint : .checkpointAndReplay))
      #expect(report.replayedRecords == 2 * number)
    }
    try #expect(checkpoint == first)
    let reader = try machine.open { $0.readOnly = true }
    #expect(try reader.count() == Self.keys)
    #expect(try reader.get("new 19") == bytes("new"))
    #expect(try reader.get("key 19") == nil)
    try reader.close()
  }

  @Test(arguments: [(1_000, 1, true), (5_000, 1, false), (1, 40_000, true), (10, 40_000, false)])
  func whatWouldBeReplayedIsBounded(_ writes: Int, _ length: Int, _ stays: Bool) throws {
    let first = try checkpoint
    try session { store in
      for number in 0..<writes { try store.put([UInt8](repeating: 1, count: length), forKey: "key \(number)") }
    }
    try #expect((checkpoint == first) == stays)
    try #expect(session().indexSource == (stays ? .checkpointAndReplay : .checkpoint))
  }

  @Test func sessionsAddUp() throws {
    let first = try checkpoint
    for _ in 0..<5 { try session { store in for _ in 0..<1_000 { try store.put("v", forKey: "k") } } }
    try #expect(checkpoint != first)
  }

  @Test func removedExpiryAndAMergeNeedANewOne() throws {
    let first = try checkpoint
    try session { store in try store.put("v", forKey: "short", expiry: .after(.seconds(1))) }
    try #expect(checkpoint == first)
    machine.clock.advance(milliseconds: 2_000)
    try session { store in try #expect(store.removeAllExpired() == 1) }
    let second = try checkpoint
    #expect(second != first)
    try session { store in try #expect(store.countExpired() == 0) }
    try session { store in try store.merge() }
    try #expect(checkpoint != second)
  }

  @Test func aCheckpointThatIsGoneIsWrittenAnew() throws {
    try machine.deleteCheckpoint()
    let report = try session { store in try store.put("v", forKey: "k") }
    #expect(report.indexSource == .segments)
    try #expect(session().indexSource == .checkpoint)
  }

  /// A checkpoint is written while the tail is empty. What is too large for that goes elsewhere, and the tail is written to after it.
  @Test(arguments: [false, true]) func whatOvertookAnEmptyTailIsReplayed(isClosed: Bool) throws {
    let machine = Machine()
    let value = [UInt8](repeating: 1, count: 500)
    let big = [UInt8](repeating: 2, count: 70 << 10)
    let store = try machine.open { $0.segmentSize = 64 << 10 }
    try store.put(value, forKey: "first")
    try store.probe.endTail()
    store.probe.writeCheckpoint()
    let tail = try #require(store.probe.segments.map(\.id).max())
    try store.put(big, forKey: "big")
    var count = 0
    // Until the tail has numbers behind those of the larger segment.
    while store.probe.segments.first(where: { $0.id == tail })?.firstSequence ?? 0 <= 2 {
      try store.put(value, forKey: "key \(count)")
      count += 1
    }
    if isClosed { try store.close() } else { store.probe.kill() }
    let next = try machine.open { $0.segmentSize = 64 << 10 }
    #expect(try next.get("big") == big)
    #expect(try next.count() == count + 2)
    #expect(next.probe.indexProblems == [])
    try next.close()
  }

  /// As after a record for which there was no memory: what is not found may be there, and nothing is to be built on that.
  @Test func anIndexThatLacksEntriesSaysSoAndIsNotWritten() throws {
    try machine.deleteCheckpoint()
    try session { store in
      // Something to be merged.
      for number in 0..<Self.keys { try store.put("v", forKey: "key \(number)") }
      try store.put("v", forKey: "new")
      store.engine.keydir.noteIncomplete()
      try #expect(store.get("new") != nil)
      #expect(throws: StoreError.self) { try store.get("absent") }
      #expect(throws: StoreError.self) { try store.remove("absent") }
      #expect(throws: StoreError.self) { try store.merge() }
    }
    try #expect(checkpoint == nil)
    let report = try session { store in
      try #expect(store.get("new") != nil)
      try #expect(store.get("absent") == nil)
      try #expect(store.count() == Self.keys + 1)
      try store.put("v", forKey: "another")
    }
    #expect(report.indexSource == .segments)
    try #expect(checkpoint != nil)
  }

  /// Whatever the sessions do, and whether or not they are closed.
  @Test func everySessionFindsWhatTheLastOneLeft() throws {
    var generator = SeededGenerator(announcedFor: "ClosingCheckpointTests")
    var machine = machine
    var expected: [String: [[UInt8]: [UInt8]]] = ["": [:], "a": [:], "b": [:]]
    for number in 0..<Self.keys { expected[""]?[bytes("key \(number)")] = [UInt8](repeating: 1, count: 60) }
    var kept = 0
    for _ in 0..<25 {
      let before = try machine.files(".checkpoint")
      let store = try machine.open { $0.segmentSize = 64 << 10 }
      #expect(store.probe.indexProblems == [])
      for (name, entries) in expected {
        let keyspace = try store.keyspace(name)
        #expect(try keyspace.count() == entries.count)
        #expect(try store.contents(of: keyspace) == entries)
      }
      for _ in 0..<Int.random(in: 0..<300, using: &generator) {
        let name = ["", "a", "b"][Int.random(in: 0..<3, using: &generator)]
        let keyspace = try store.keyspace(name)
        let key = bytes("key \(Int.random(in: 0..<400, using: &generator))")
        switch Int.random(in: 0..<300, using: &generator) {
        case 0 where name != "":
          try keyspace.removeAll()
          expected[name] = [:]
        case 1 where name != "":
          try store.removeKeyspace(name)
          expected[name] = [:]
        case 0..<90:
          try keyspace.remove(key)
          expected[name]?[key] = nil
        default:
          let value = [UInt8](repeating: .random(in: 0...9, using: &generator), count: 20)
          try keyspace.put(value, forKey: key)
          expected[name]?[key] = value
        }
      }
      if generator.oneIn(4) { machine.disk = try machine.disk.processKilled() } else { try store.close() }
      if try machine.files(".checkpoint") == before { kept += 1 }
    }
    #expect(kept > 8)
  }
}
