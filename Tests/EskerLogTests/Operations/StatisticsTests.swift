import EskerTestSupport
import Testing

@testable import EskerLog

@Suite struct StatisticsTests {
  @Test func figuresWaitForNoCheckpointAndNoLookAtTheManifest() throws {
    let machine = Machine()
    let writer = try machine.open()
    try writer.put("value", forKey: "key")
    let reader = try machine.open { $0.readOnly = true }
    func expectFigures(_ store: LogStore) throws {
      #expect(try store.statistics.keys == 1 && store.count() == 1 && store.totalCount() == 1)
      #expect(store.statistics.segments.map(\.recordBytes) == writer.statistics.segments.map(\.recordBytes))
    }
    // As long as a checkpoint is written, and a merge lists what it wrote.
    try writer.probe.holding(.images) {
      try writer.probe.holding(.manifest) {
        try expectFigures(writer)
        #expect((try? writer.snapshot())?.count == 1)
      }
    }
    // As long as a reader opens what a merge wrote.
    try reader.probe.holding(.following) { try expectFigures(reader) }
    try reader.close()
    try writer.close()
  }

  @Test func liveAndDeadBytesAddUpAndEqualARecount() throws {
    let machine = Machine()
    // Everything that was written stays where it was.
    var store = try machine.open { $0.merge.isAutomatic = false }
    let other = try store.keyspace("other")
    for number in 0..<600 {
      try store.put([UInt8](repeating: 1, count: number), forKey: "key \(number % 100)")
      if number % 3 == 0 { try other.put("x", forKey: "k\(number)", expiry: .after(.seconds(100))) }
      if number % 7 == 0 { try store.remove("key \(number % 50)") }
    }
    try store.write { (batch) throws(StoreError) in
      for number in 0..<20 { try batch.put("batch", forKey: "key \(number)") }
      try batch.remove("key 3")
    }
    func check(_ store: LogStore, _ what: String) throws {
      let figures = try store.expectConsistentFigures()
      #expect(figures.live == figures.recount, "\(what)")
      #expect(figures.live + figures.dead == figures.logged, "\(what)")
    }
    try check(store, "written")
    let before = store.statistics
    #expect(try before.keys == store.totalCount())
    #expect(try before.keyspaces.mapValues(\.keys) == ["": store.count(), "other": 200])
    #expect(before.segments.count > 2)
    #expect(before.segments.dropLast().count { !$0.isSealed } == 0)
    #expect(before.recordsWritten == Int(store.lastSequence.rawValue))
    #expect(before.bytesLogged == before.segments.reduce(0) { $0 + $1.recordBytes })
    #expect(before.bytesWritten >= before.bytesLogged)
    #expect(before.bytesOnDisk >= before.bytesLogged)
    #expect(before.indexBytes > 0)
    #expect(before.indexLoad > 0 && before.indexLoad < 2)
    for (one, next) in zip(before.segments, before.segments.dropFirst()) {
      let last = try #require(one.sequences?.upperBound)
      #expect(next.sequences?.lowerBound == last + 1)
    }
    try store.close()
    store = try machine.open { $0.merge.isAutomatic = false }
    try check(store, "from the checkpoint")
    #expect(store.statistics.liveBytes == before.liveBytes)
    try store.close()
    try machine.deleteCheckpoint()
    store = try machine.open { $0.merge.isAutomatic = false }
    try check(store, "rebuilt")
    #expect(store.statistics.liveBytes == before.liveBytes)
    #expect(store.statistics.deadBytes == before.deadBytes)
  }

  @Test func removingAllAndExpiringMakeBytesDead() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<100 { try store.put("v", forKey: "key \(number)", expiry: .after(.seconds(1))) }
    let other = try store.keyspace("other")
    for number in 0..<100 { try other.put("v", forKey: "key \(number)") }
    try other.removeAll()
    machine.clock.advance(milliseconds: 1000)
    #expect(try store.countExpired() == 100)
    #expect(try store.removeExpired() == 100)
    #expect(store.statistics.liveBytes == 0)
    #expect(store.statistics.keys == 0)
    #expect(store.statistics.segments.allSatisfy { $0.liveBytes == 0 })
  }

  @Test func syncsAndSnapshotsAreCounted() throws {
    let store = try Machine().open()
    #expect(store.statistics.syncs.count == 0)
    try store.put("v", forKey: "k", durability: .synced)
    try store.put("v", forKey: "k", durability: .synced)
    #expect(store.statistics.syncs.count == 2)
    let snapshot = try store.snapshot()
    #expect(store.statistics.openSnapshots == 1)
    withExtendedLifetime(snapshot) {}
  }

  @Test func amplificationsAreQuotients() {
    var figures = Statistics()
    #expect(figures.spaceAmplification == 0)
    #expect(figures.writeAmplification == 0)
    figures.bytesOnDisk = 30
    figures.liveBytes = 10
    figures.bytesWritten = 50
    figures.bytesLogged = 20
    #expect(figures.spaceAmplification == 3)
    #expect(figures.writeAmplification == 2.5)
  }

  @Test func aHistogramKnowsCountTotalMaximumAndQuantiles() {
    var histogram = Statistics.Histogram()
    for microseconds: UInt64 in 1...1000 { histogram.record(nanoseconds: microseconds * 1000) }
    #expect(histogram.count == 1000)
    #expect(histogram.total == .microseconds(500_500))
    #expect(histogram.maximum == .microseconds(1000))
    let median = histogram.quantile(0.5)
    #expect(median >= .microseconds(500) && median <= .microseconds(625))
    #expect(histogram.quantile(1) == .microseconds(1000))
    #expect(Statistics.Histogram().quantile(0.5) == .zero)
    histogram.record(nanoseconds: .max)
    #expect(histogram.counts.last == 1)
  }

  @Test func bucketsOfAHistogramFollowEachOther() {
    for bucket in 0..<Statistics.Histogram.bucketCount - 1 {
      let range = Statistics.Histogram.range(of: bucket)
      #expect(range.upperBound == Statistics.Histogram.range(of: bucket + 1).lowerBound)
      guard let lowest = UInt64(exactly: range.lowerBound / .nanoseconds(1)) else { continue }
      #expect(Statistics.Histogram.bucket(of: lowest) == bucket)
      if lowest > 0 { #expect(Statistics.Histogram.bucket(of: lowest - 1) == bucket - 1) }
    }
    #expect(Statistics.Histogram.bucket(of: .max) == Statistics.Histogram.bucketCount - 1)
  }

  @Test func oneCallIn128IsTimed() throws {
    let store = try Machine().open()
    for number in 0..<12_800 { try store.put("v", forKey: "\(number)") }
    #expect(70...130 ~= store.statistics.puts.count)
    let puts = store.statistics.puts.count
    for number in 0..<12_800 { _ = try store.get("\(number)") }
    #expect(70...130 ~= store.statistics.gets.count)
    var buffer = [UInt8](repeating: 0, count: 1)
    for number in 0..<12_800 { _ = try buffer.withUnsafeMutableBytes { try store.get("\(number)", into: $0) } }
    #expect(140...260 ~= store.statistics.gets.count)
    #expect(store.statistics.puts.count == puts)
  }

  /// What a put may be called as.
  enum PutKind: CaseIterable { case view, viewIfAbsent, viewIfUnchanged, ifVersion, ifValue, async, asyncIfVersion }

  @Test(arguments: PutKind.allCases) func putsOfEveryKindAreTimed(_ kind: PutKind) async throws {
    let store = try Machine().open()
    let keyspace = store.default
    var version: SequenceNumber?
    for number in 0..<12_800 {
      let (key, value) = ("\(number)", Array("value \(number)".utf8))
      switch kind {
      case .view: try log(value, key, if: .always)
      case .viewIfAbsent: try log(value, key, if: .absent)
      case .viewIfUnchanged:
        let condition = version.map { ViewCondition.version($0) } ?? .absent
        version = SequenceNumber(rawValue: try log(value, "key", if: condition).sequence)
      case .ifVersion: version = try store.compareAndSet(value, forKey: "key", ifVersion: version)
      case .ifValue: try store.compareAndSet(value, forKey: key, ifValue: nil)
      case .async: try await keyspace.async.put(value, forKey: key)
      case .asyncIfVersion: version = try await keyspace.async.compareAndSet(value, forKey: "key", ifVersion: version)
      }
    }
    #expect(70...130 ~= store.statistics.puts.count)
    let puts = store.statistics.puts.count
    // Nothing is stored.
    for _ in 0..<12_800 {
      try log([1], "0", if: .version(SequenceNumber(rawValue: 9_999_999)))
      try store.compareAndSet([1], forKey: "0", ifVersion: SequenceNumber(rawValue: 9_999_999))
    }
    #expect(store.statistics.puts.count == puts)

    /// As a typed view puts.
    @discardableResult
    func log(_ value: [UInt8], _ key: String, if condition: ViewCondition) throws(StoreError) -> ViewWriteResult {
      let key = Array(key.utf8)
      let written = try keyspace.log(
        ContiguousArray(value).span.bytes,
        forKey: ContiguousArray(key).span.bytes,
        if: condition,
        expiry: nil,
        durability: nil,
        skipsUnchanged: false
      )
      try keyspace.settle(written, nil)
      return written
    }
  }

  @Test func theSizeOfTheIndexHasWhatIsMapped() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<100_000 { try store.put("v", forKey: "\(number)") }
    let size = store.statistics.indexBytes
    #expect(size > 100_000 * 9)
    try store.close()
    // Without memory of its own yet, but for what each index has.
    let reopened = try machine.open()
    #expect(reopened.statistics.indexBytes > size / 2 && reopened.statistics.indexBytes < size * 2)
    try reopened.close()
  }

  /// What a program calls in turns is measured alike: neither kind is passed over.
  @Test(arguments: [1, 2, 3, 7, 31, 63, 127]) func callsInTurnsAreTimedAlike(getsAfterPut: Int) throws {
    let store = try Machine().open()
    for number in 0..<12_800 {
      if number % (getsAfterPut + 1) == 0 { try store.put("v", forKey: "key") } else { _ = try store.get("key") }
    }
    let (puts, gets) = (store.statistics.puts.count, store.statistics.gets.count)
    #expect(70...130 ~= puts + gets)
    let expected = Double(puts + gets) / Double(getsAfterPut + 1)
    #expect(abs(Double(puts) - expected) <= 5 * expected.squareRoot())
  }

  @Test func noShareOfAHistogramIsATrap() {
    var histogram = Statistics.Histogram()
    for shares in [-Double.infinity, -1, 0, .leastNonzeroMagnitude, 0.5, 1, 2, 1e300, .infinity, .nan] {
      #expect(histogram.quantile(shares) == .zero)
    }
    histogram.record(nanoseconds: 100)
    histogram.record(nanoseconds: 1_000_000)
    for share in [1, 1.5, 1e300, .infinity, .nan] { #expect(histogram.quantile(share) == .milliseconds(1)) }
    for share in [0, -1, -Double.infinity] { #expect(histogram.quantile(share) < .microseconds(1)) }
  }
}
