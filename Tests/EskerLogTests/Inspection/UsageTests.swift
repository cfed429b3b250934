import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct UsageTests {
  private func total(_ usage: Statistics.Usage, _ part: KeyPath<Statistics.Usage.Figures, Statistics.Usage.Amount>)
    -> Int
  {
    usage.segments.values.reduce(0) { $0 + $1[keyPath: part].bytes }
  }

  @Test(arguments: [false, true])
  func everyByteOfEachSegmentIsCountedOnce(isPacked: Bool) throws {
    let machine = isPacked ? try PackedStore(600).machine : Machine()
    let store = try machine.open {
      $0.compression = isPacked ? .lz4 : .off; $0.readOnly = isPacked
    }
    if !isPacked {
      for number in 0..<300 {
        try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number % 170)")
        if number % 4 == 0 { try store.remove("key \(number / 3)") }
        if number % 3 == 0 { try store.put("brief", forKey: "b \(number)", expiry: .after(.seconds(number))) }
      }
    }
    machine.clock.advance(milliseconds: 100_000)
    let usage = try store.usage()
    for segment in store.statistics.segments {
      let figures = try #require(usage.segments[segment.id])
      let live = figures.liveBytes + figures.expired.bytes
      #expect(live == segment.liveBytes)
      if !isPacked { #expect(live + figures.tombstones.bytes + figures.dead.bytes == segment.recordBytes) }
    }
    let keyspaces = usage.keyspaces.values.reduce(0) { $0 + $1.liveRecords }
    #expect(keyspaces == Array(try store.snapshot()).count)
    try store.close()
  }

  @Test func mergeGivesUpWhatIsReclaimable() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    for number in 0..<400 {
      try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number % 90)")
      if number % 2 == 0 { try store.put("brief", forKey: "b \(number)", expiry: .after(.seconds(1))) }
      if number % 9 == 0 { try store.remove("key \(number % 50)") }
    }
    machine.clock.advance(milliseconds: 10_000)
    let before = try store.usage()
    #expect(total(before, \.expired) > 0 && total(before, \.dead) > 0 && total(before, \.tombstones) > 0)
    try store.merge()
    let after = try store.usage()
    #expect(after.segments.values.allSatisfy { $0.reclaimableBytes == 0 })
    #expect(total(after, \.lasting) == total(before, \.lasting))
    try store.close()
  }

  @Test func keyspacesAreCountedApart() throws {
    let machine = Machine()
    let store = try machine.open()
    let other = try store.keyspace("other")
    try store.put("a", forKey: "a")
    try other.put("a", forKey: "a")
    try other.put("b", forKey: "b")
    let usage = try store.usage()
    #expect(usage.keyspaces.mapValues(\.liveRecords) == ["": 1, "other": 2])
    try other.removeAll()
    let emptied = try store.usage()
    #expect(emptied.keyspaces["other"]?.liveRecords == 0)
    #expect(emptied.keyspaces["other"]?.dead.records == 2)
    try store.close()
  }

  @Test func whatIsWrittenMeanwhileIsNotCounted() throws {
    let machine = Machine()
    let store = try machine.open { $0.merge.isAutomatic = false }
    func write(_ range: Range<Int>) throws {
      for number in range { try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    }
    try write(0..<300)
    let expected = try store.usage()
    let tail = try #require(expected.segments.keys.max())
    var isFirst = true
    let usage = try store.usage { _ in
      // The segment that is written is sealed before it is looked at, and its footer lists what has come meanwhile.
      if isFirst { #expect(throws: Never.self) { try write(0..<300) } }
      isFirst = false
      return true
    }
    let segment = try #require(store.probe.segments.first { $0.id == tail })
    #expect(segment.footerLength > 0)
    #expect(usage == expected)
    try store.close()
  }

  @Test func usageIsText() throws {
    let store = try Machine().open()
    let users = try store.keyspace("users")
    try users.put("1", forKey: "a")
    try users.put("2", forKey: "b")
    let usage = try store.usage()
    let figures = try #require(usage.keyspaces["users"])
    #expect("\(figures)" == "lasting: 2 records, \(figures.lasting.bytes) bytes")
    #expect("\(figures.dead)" == "0 records, 0 bytes")
    #expect("\(usage)".split(separator: "\n").contains("keyspace users: \(figures)"))
  }
}
