import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Damage to a record that was synced, in a killed store: that one is lost and reported, and nothing that stands behind it.
@Suite struct FrontDamageTests {
  private static func value(_ number: Int) -> [UInt8] {
    bytes("value \(1_000_000 + number)") + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 80)
  }

  /// Where the records behind the synced one have replaced each other, their numbers do not tell that they are all there.
  @Test func whatReplacedOthersBehindItStays() throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open()
    for number in 0..<3 { try store.put(Self.value(number), forKey: "first \(number)") }
    try store.sync()
    let place = SegmentHeader.length + 8
    var expected: [[UInt8]: [UInt8]] = [:]
    for number in 0..<3 { expected[bytes("first \(number)")] = Self.value(number) }
    var round = 0
    while store.probe.recordsReplaced < 20 {
      expected[bytes("key \(round % 4)")] = Self.value(round)
      try store.put(Self.value(round), forKey: bytes("key \(round % 4)"))
      round += 1
    }
    let path = try #require(store.probe.tail?.path)
    machine.disk = try machine.disk.processKilled()
    try machine.disk.open(path, .readWrite).writeAll([0xff], at: place + 1)
    expected[bytes("first 0")] = nil
    for readOnly in [true, false] {
      let log = EventLog()
      let again = try machine.open {
        $0.readOnly = readOnly
        $0.onEvent = { log.record($0) }
      }
      #expect(log.damage.count == 1)
      for (key, value) in expected { #expect((try? again.get(key)) == value, "\(readOnly)") }
      try again.close()
    }
    withExtendedLifetime(store) {}
  }

  /// A second kill after the opening that has reported it, too. A segment with no other record is not empty because that cannot be read:
  /// its bytes stay for whoever repairs the store.
  @Test(arguments: [(1, 0), (1, 5), (3, 0), (3, 5)])
  func theFirstRecordOfASegmentTakesNoOtherWithIt(synced: Int, later: Int) throws {
    var machine = Machine()
    let store = try machine.open()
    store.probe.stopBackground()
    try store.put("before", forKey: "before")
    try store.probe.rotate()
    for number in 0..<synced { try store.put("v", forKey: "synced \(number)") }
    try store.sync()
    let path = try #require(store.probe.tail?.path)
    for number in 0..<later { try store.put("v", forKey: "later \(number)") }
    try store.probe.rotate()
    try store.put("v", forKey: "last")
    var expected = try store.contents()
    expected[bytes("synced 0")] = nil
    machine.disk = try machine.disk.processKilled()
    try machine.disk.open(path, .readWrite).writeAll([0xff], at: SegmentHeader.length + 9)
    for opening in 0..<3 {
      let log = EventLog()
      let again = try machine.open { $0.onEvent = { log.record($0) } }
      again.probe.stopBackground()
      #expect(!log.events.contains { if case .cut = $0 { true } else { false } }, "opening \(opening)")
      #expect(log.damage.count == 1, "opening \(opening): \(log.events)")
      for (key, value) in expected { #expect((try? again.get(key)) == value, "opening \(opening), \(key)") }
      #expect(try machine.disk.status(path) != nil, "opening \(opening)")
      try again.put("v", forKey: "opening \(opening)")
      expected[bytes("opening \(opening)")] = bytes("v")
      try again.probe.writeManifest()
      machine.disk = try machine.disk.processKilled()
      withExtendedLifetime(again) {}
    }
    withExtendedLifetime(store) {}
  }

  /// Nothing in front of a mark that a sync has made durable has a higher number than is called durable: damage to it would pass for
  /// the end of the log, and hide what is.
  @Test func allInFrontOfAMarkIsDurableOnceItIsSynced() throws {
    var machine = Machine()
    machine.reusesSpace = true
    let store = try machine.open { $0.segmentSize = 32 << 20 }
    let isDone = SharedFlag()
    let written = SharedCounter()
    let writer = try WorkerThread(name: "writer") {
      while !isDone.isRaised {
        let number = written.add()
        _ = try? store.put(Self.value(number), forKey: bytes("key \(number % 4)"))
      }
    }
    defer {
      isDone.raise()
      writer.join()
    }
    for _ in 0..<300 {
      let count = written.value
      while written.value < count + 20 { Platform.yieldThread() }
      try store.sync()
      // Marks are written by syncs alone here.
      let durable = store.durableSequence.rawValue
      let mark = store.probe.tailRecords.last { $0.header.isMark }
      #expect(mark.map { $0.header.sequence <= durable } ?? true)
    }
  }
}
