import EskerFormat
import EskerIndex
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// The index is built anew from the log, with and without footers.
@Suite struct ReplayTests {
  @Test(arguments: [false, true])
  func theNewestRecordOfEachKeyWinsAndLiveBytesAreCountedAnew(emptying: Bool) throws {
    var generator = SeededGenerator(announcedFor: "ReplayTests")
    var machine = Machine()
    let store = try machine.open()
    var expected: [String: [String: [UInt8]]] = ["": [:], "one": [:], "two": [:]]
    for number in 0..<6_000 {
      let space = ["", "one", "two"][Int.random(in: 0..<3, using: &generator)]
      // Few keys, so that records of the same key often stand close together.
      let key = "key \(Int.random(in: 0..<20, using: &generator))"
      let keyspace = try store.keyspace(space)
      switch Int.random(in: 0..<200, using: &generator) {
      case 0 where emptying:
        try keyspace.removeAll()
        expected[space] = [:]
      case 0..<60:
        try keyspace.remove(key)
        expected[space]?[key] = nil
      default:
        let value = bytes("value \(number) " + String(repeating: "-", count: number % 50))
        try keyspace.put(value, forKey: key)
        expected[space]?[key] = value
      }
    }
    let live = Self.live(of: store)
    try machine.deleteCheckpoint()
    let reopened = try machine.reopenAfterKill()
    // What was emptied counts as live until it has been swept.
    if !emptying { #expect(Self.live(of: reopened) == live) }
    for (space, keys) in expected {
      let keyspace = try reopened.keyspace(space)
      #expect(try keyspace.count() == keys.count)
      for number in 0..<20 { #expect(try keyspace.get("key \(number)") == keys["key \(number)"]) }
    }
    #expect(reopened.probe.indexProblems == [])
    try reopened.close()
  }

  private static func live(of store: LogStore) -> [UInt64: Int] {
    // A segment that holds nothing yet is let go by an opening.
    let segments = store.probe.segments.filter { $0.liveRecords > 0 }
    return Dictionary(uniqueKeysWithValues: segments.map { ($0.id, $0.liveBytes) })
  }

  @Test func aKeyWrittenOftenMakesTheIndexNoLarger() throws {
    var machine = Machine()
    let store = try machine.open()
    for number in 0..<60_000 { try store.put("", forKey: "\(number % 1_000)") }
    try machine.deleteCheckpoint()
    let reopened = try machine.reopenAfterKill()
    #expect(try reopened.count() == 1_000)
    #expect(reopened.probe.bucketCount == Geometry.minimumBucketCount)
    try reopened.close()
  }

  @Test(arguments: [60_000, 200_000])
  func theIndexIsAsLargeAfterARebuildAsBefore(keys: Int) throws {
    var machine = Machine()
    let store = try machine.open()
    for number in 0..<keys { try store.put("", forKey: "\(number)") }
    let grown = store.probe.bucketCount
    try machine.deleteCheckpoint()
    let reopened = try machine.reopenAfterKill()
    #expect(try reopened.count() == keys)
    #expect((grown...grown + grown / 50).contains(reopened.probe.bucketCount))
    #expect(reopened.probe.indexProblems == [])
    try reopened.close()
  }

  @Test func whatStandsBehindALongHoleInTheFileIsFound() throws {
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    let store = try LogStore(at: path)
    for number in 0..<6_000 { try store.put([UInt8](repeating: 1, count: 1_000), forKey: "key \(number)") }
    try store.sync()
    // Says that those before it are durable.
    try store.put("last", forKey: "last")
    store.probe.kill()
    let files = OSFileSystem()
    for name in try files.list(path) where name.hasSuffix(".checkpoint") { try files.remove("\(path)/\(name)") }

    // The first segment, but for five megabytes that were never written.
    let segment = try #require(try files.list(path).filter { $0.hasSuffix(".segment") }.min())
    let whole = try files.open("\(path)/\(segment)", .read)
    let copy = try files.open(directory.appending("copy"), .create)
    try copy.writeAll(whole.bytes(in: 0..<1 << 19), at: 0)
    try copy.writeAll(whole.bytes(in: 11 << 19..<13 << 19), at: 11 << 19)
    whole.close()
    copy.close()
    try files.rename(directory.appending("copy"), to: "\(path)/\(segment)")

    let log = EventLog()
    var options = Options()
    options.onEvent = { log.record($0) }
    let reopened = try LogStore(at: path, options: options)
    #expect(log.damage.count == 1)
    #expect(try reopened.get("last") == bytes("last"))
    #expect(try reopened.get("key 5999") != nil)
    #expect(try reopened.get("key 3000") == nil)
    try reopened.close()
  }

  @Test func aFooterThatContradictsItselfIsReportedAndTheRecordsAreRead() throws {
    var machine = Machine()
    let store = try machine.open()
    for number in 0..<3_000 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.sync()
    let sealed = try #require(store.probe.segments.first)
    try #require(sealed.footerOffset > 0)
    try machine.deleteCheckpoint()
    machine.disk = try machine.disk.processKilled()

    // The kind of an entry in the middle becomes none, and both checksums are made right.
    let file = try machine.disk.open(sealed.path, .readWrite)
    var footer = try file.bytes(in: sealed.footerOffset..<sealed.footerOffset + sealed.footerLength)
    let trailer = footer.count - SegmentFooter.trailerLength
    let streamLength = footer.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: trailer + 32, as: UInt64.self)) }
    let entryCount = footer.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: trailer + 24, as: UInt64.self)) }
    // All entries of these records but those of the shortest have the same length.
    let last = streamLength - streamLength / entryCount
    footer[last + 8] &= ~3
    Self.storeChecksum(of: 0..<streamLength, in: &footer, at: trailer + 88)
    Self.storeChecksum(of: trailer..<trailer + 92, in: &footer, at: trailer + 92)
    try file.writeAll(footer, at: sealed.footerOffset)
    file.close()

    let log = EventLog()
    let reopened = try machine.open { $0.onEvent = { log.record($0) } }
    #expect(log.damage.count == 1)
    #expect(try reopened.count() == 3_000)
    for number in 0..<3_000 { #expect(try reopened.get("key \(number)") == bytes("value \(number)")) }
    try reopened.close()
  }

  private static func storeChecksum(of range: Range<Int>, in bytes: inout [UInt8], at offset: Int) {
    let covered = Array(bytes[range])
    let checksum = CRC32C.checksum(of: ContiguousArray(covered).span.bytes)
    for position in 0..<4 { bytes[offset + position] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(position))) }
  }

  @Test func aTailPassedOverForALargeRecordIsNotTakenForAHole() throws {
    var machine = Machine()
    let store = try machine.open()
    // Begins a segment and writes nothing to it.
    #expect(try store.compareAndSet("v", forKey: "k", ifVersion: SequenceNumber(rawValue: 7)) == nil)
    var expected: [[UInt8]: [UInt8]] = [:]
    for number in 0..<60 {
      let (key, value) = (bytes("\(number)"), [UInt8](repeating: UInt8(number), count: number == 0 ? 100_000 : 400))
      expected[key] = value
      // Not through the store, which would let the background list the segments anew.
      let sequence = try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { value in
          try store.core.put(value, key, nil, .always, .buffered)
        }
      }
      #expect(sequence == UInt64(number + 1))
    }
    let again = try machine.reopenAfterKill()
    #expect(try again.snapshot().contents() == expected)
  }
}
