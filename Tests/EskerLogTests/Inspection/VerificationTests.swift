import EskerPlatform
import EskerTestSupport
import EskerTools
import Testing

@testable import EskerLog

@Suite struct VerificationTests {
  @Test(arguments: [false, true])
  func entryThatLeadsBesideARecordIsFound(isPacked: Bool) throws {
    let packed = try PackedStore(200)
    let store = packed.store
    let key: String
    if isPacked {
      key = String(decoding: try #require(packed.expected[""]?.keys.first), as: UTF8.self)
    } else {
      key = "raw"
      try store.put([UInt8](repeating: 7, count: 500), forKey: key)
    }
    #expect(try store.verify().isClean)
    // Where a value stands, or the place of a cell that belongs to no record.
    #expect(store.probe.misdirect(bytes(key)))
    let report = try store.verify()
    #expect(report.damage.map(\.reason) == ["the index points to a record that does not exist"])
    #expect(report.damage.first?.location.offset.map { $0 % 8 } == 0)
    store.probe.kill()
  }

  @Test func manyThreadsFindWhatOneFinds() throws {
    let machine = Machine()
    let store = try machine.open()
    for number in 0..<1_500 {
      try store.put([UInt8](repeating: UInt8(number & 255), count: 300), forKey: "key \(number)")
    }
    try store.close()
    var image = try DiskImage(of: machine)
    let segments = image.names.filter { $0.hasSuffix(".segment") }
    #expect(segments.count >= 5)
    for (position, name) in segments.enumerated() {
      image = image.flipping(name, 128 + 336 * (2 + position) + (position % 2 == 0 ? 9 : 100), bit: position % 8)
    }
    var reports: [Report.Verification] = []
    for background in [StoreHost.Background.inline, .threads, .threads] {
      var machine = try image.machine()
      machine.background = background
      let store = try machine.open { $0.readOnly = true }
      var shares: [Double] = []
      let report = try store.verify { share in
        shares.append(share)
        return true
      }
      reports.append(report)
      #expect(shares == shares.sorted() && shares.last == 1)
      try store.close()
    }
    #expect(reports[0].damage.count >= segments.count)
    #expect(Set(reports[0].damage.map(\.location.path)).count == segments.count)
    #expect(reports.allSatisfy { $0 == reports[0] })
  }

  @Test func aReaderFindsNoDamageWhereTheLogEndsInASealedSegment() throws {
    let machine = Machine()
    let writer = try machine.open()
    for number in 0..<400 { try writer.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    // Only the last segment of the log has something dead. It is given up; the one before it was sealed long ago.
    try writer.put("brief", forKey: "brief")
    try writer.remove("brief")
    #expect(try writer.merge().segmentsRemoved == 1)
    try writer.close()
    let reader = try machine.open { $0.readOnly = true }
    let last = try #require(reader.probe.segments.last { $0.kind == .log })
    #expect(last.footerLength > 0)
    #expect(try reader.verify().damage == [])
    try reader.close()
  }

  @Test(arguments: [StoreHost.Background.inline, .threads])
  func whoeverWaitsCanStopTheCheck(background: StoreHost.Background) throws {
    var machine = Machine()
    machine.background = background
    let store = try machine.open()
    for number in 0..<400 { try store.put([UInt8](repeating: 1, count: 300), forKey: "key \(number)") }
    #expect(throws: StoreError.cancelled) { try store.verify { _ in false } }
    #expect(throws: StoreError.cancelled) { try store.usage { _ in false } }
    let inspection = try StoreInspection(at: machine.path, host: machine.host)
    #expect(throws: StoreError.cancelled) { try inspection.versions(of: bytes("key 1")) { _ in false } }
    #expect(try store.verify().isClean)
    try store.close()
  }

  @Test func theWriterDoesNotWaitForItself() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("v", forKey: "k")
    try bench.change("manifest.a", at: 200)
    let looks = Guarded(0)
    bench.plan.onCall { call in
      if call.operation == .open, call.path.hasSuffix("/manifest.a") { looks.withLock { $0 += 1 } }
    }
    #expect(try store.verify().damage.map(\.location.path) == ["/store/manifest.a"])
    #expect(looks.withLock { $0 } == 1)
    bench.plan.onCall(nil)
    store.probe.kill()
  }

  @Test func entriesThatMoveDuringTheLookAtTheIndexAreSeen() throws {
    let store = try Machine().open()
    func write(_ range: Range<Int>) throws {
      for number in range { try store.put("v", forKey: "key \(number)") }
    }
    try write(0..<18_000)
    let snapshot = try store.snapshot()
    let buckets = store.probe.bucketCount
    let places = store.probe.placesFound(of: snapshot) {
      #expect(throws: Never.self) { try write(18_000..<30_000) }
    }
    #expect(store.probe.bucketCount > buckets)
    #expect(places == 18_000)
    try store.close()
  }

  @Test func anEntryThatMovesDuringTheLookAtTheIndexIsReportedOnce() throws {
    let store = try Machine().open { $0.merge.isAutomatic = false }
    func write(_ range: Range<Int>) throws {
      for number in range { try store.put("v", forKey: "key \(number)") }
    }
    try write(0..<18_000)
    for number in 0..<40 { #expect(store.probe.misdirect(bytes("key \(number * 400)"))) }
    var steps = 0
    let report = try store.verify { _ in
      steps += 1
      // Half of the buckets have been looked at.
      if steps == 9 { #expect(throws: Never.self) { try write(18_000..<30_000) } }
      return true
    }
    #expect(report.damage.count == 40)
    #expect(report.damage.allSatisfy { $0.reason == IndexTargets.reason })
    store.probe.kill()
  }
}
