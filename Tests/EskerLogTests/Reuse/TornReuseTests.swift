import EskerFormat
import EskerTestSupport
import Testing

@testable import EskerLog

/// A power failure leaves some pages of a segment as they were before. Where records have replaced others, no gap in the numbers shows it;
/// what is read then is all the same what was there after some write.
@Suite struct TornReuseTests {
  private static let recordLength = 136

  /// A store in whose tail records have replaced others, none of which was synced.
  private struct Tail {
    var machine = Machine()
    let store: LogStore
    let path: String
    /// What was there after each write.
    private(set) var history: [UInt64: [[UInt8]: [UInt8]]] = [0: [:]]
    private var contents: [[UInt8]: [UInt8]] = [:]

    init() throws {
      machine.reusesSpace = true
      store = try machine.open()
      try store.put("", forKey: "first")
      contents[bytes("first")] = []
      history[1] = contents
      path = try #require(store.probe.tail?.path)
      try overwrite(untilReplaced: 24)
    }

    mutating func overwrite(untilReplaced count: Int) throws {
      let wanted = store.probe.recordsReplaced + count
      while store.probe.recordsReplaced < wanted {
        store.probe.collect()
        let round = store.lastSequence.rawValue
        let (key, value) = (
          bytes("key \(round % 4)"), bytes("value \(1_000_000 + round)") + [UInt8](repeating: 7, count: 80)
        )
        try store.put(value, forKey: key)
        contents[key] = value
        history[store.lastSequence.rawValue] = contents
      }
    }

    /// Where the records are, and their numbers.
    var records: [(offset: Int, sequence: UInt64)] {
      store.probe.tailRecords.filter { !$0.header.isMark && $0.header.sequence > 1 }.map {
        ($0.offset, $0.header.sequence)
      }
    }

    /// What is there once the power has failed, and these bytes are not what was written last.
    func expectSomeMoment(writing bytes: [UInt8], at offset: Int) throws {
      var machine = machine
      machine.disk = try machine.disk.processKilled()
      let file = try machine.disk.open(path, .readWrite)
      try file.writeAll(bytes, at: offset)
      file.close()
      for readOnly in [true, false] {
        let again = try machine.open { $0.readOnly = readOnly }
        #expect(try again.contents() == history[again.lastSequence.rawValue], "at \(offset)")
        try again.close()
      }
    }
  }

  @Test func aRecordWhoseValueIsNotThereHidesWhatWasWrittenLater() throws {
    let tail = try Tail()
    for (offset, _) in tail.records {
      try tail.expectSomeMoment(writing: [0xff], at: offset + TornReuseTests.recordLength - 8)
    }
  }

  /// A mark stands behind it, whose sum is that of the newer record.
  @Test func anOlderRecordInThePlaceOfANewerOneHidesWhatWasWrittenLater() throws {
    var tail = try Tail()
    let older = tail.records
    let images = try older.map { try tail.store.probe.tailBytes(in: $0.offset..<$0.offset + Self.recordLength) }
    try tail.overwrite(untilReplaced: 24)
    let snapshot = try tail.store.snapshot()
    try #require(tail.store.probe.tailRecords.last?.header.isMark == true)
    let newer = Dictionary(uniqueKeysWithValues: tail.records.map { ($0.offset, $0.sequence) })
    var tried = 0
    for ((offset, sequence), image) in zip(older, images) where newer[offset] != sequence {
      try tail.expectSomeMoment(writing: image, at: offset)
      tried += 1
    }
    #expect(tried > 0)
    withExtendedLifetime(snapshot) {}
  }

  /// A removal takes the room of a dead record in front of the record that it removes.
  @Test func aRemovalInFrontOfWhatItRemovesCountsAfterIt() throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    try store.put("", forKey: "a")
    func place(_ sequence: UInt64) throws -> Int {
      try #require(store.probe.tailRecords.first { !$0.header.isMark && $0.header.sequence == sequence }?.offset)
    }
    var (put, removal, round) = (0, 0, 0)
    repeat {
      // As large as its removal.
      try store.put("", forKey: "b")
      put = try place(store.lastSequence.rawValue)
      for _ in 0...round % 4 { try store.put("", forKey: "c") }
      store.probe.collect()
      try store.remove("b")
      removal = try place(store.lastSequence.rawValue)
      round += 1
    } while removal > put && round < 1_000
    try #require(removal < put)
    let again = try machine.reopenAfterKill()
    #expect(try again.get("b") == nil)
    #expect(try again.contents().count == 2)
    withExtendedLifetime(store) {}
  }
}
