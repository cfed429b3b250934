import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// An empty tail is skipped if a record is too large for it. The manifest still says of that segment at which number the log goes on, and
/// nothing of the one that the log really goes on in.
@Suite struct SkippedTailTests {
  private let large = [UInt8](repeating: 7, count: 100_000)

  /// Skips the tail, and uses it for the record after that; the process ends before the manifest says so. Returns what is there then.
  private func skipTail(_ store: LogStore, _ bench: FaultBench) throws -> [[UInt8]: [UInt8]] {
    let skipped = try #require(store.probe.listed.last { $0.kind == .log })
    #expect(skipped.state == .active && skipped.firstSequence > store.lastSequence.rawValue)
    try store.put(large, forKey: "large")
    let used = try #require(store.probe.tail?.id)
    bench.killProcess(before: .write, of: FileName.segment(used))
    try store.put(large.prefix(30_000), forKey: "last")
    #expect(used != skipped.id && store.probe.tail?.id == skipped.id)
    defer { store.probe.kill() }
    try bench.takeKilled()
    return try store.contents()
  }

  /// Once the manifest says of both where they begin, the other segment stands in front of the one at which the checkpoint says that reading
  /// goes on.
  @Test func whatStandsInFrontOfWhereACheckpointSaysIsRead() throws {
    let bench = FaultBench()
    let store = try bench.open { $0.merge.isAutomatic = false }
    for number in 0..<5 { try store.put([UInt8(number)], forKey: "key \(number)") }
    try store.probe.endTail()
    store.probe.writeCheckpoint()
    let skipped = try #require(store.probe.listed.last { $0.kind == .log })
    try #require(skipped.firstSequence > store.lastSequence.rawValue && store.probe.checkpointID != 0)
    try store.put(large, forKey: "large")
    try store.put(large.prefix(30_000), forKey: "last")
    try #require(store.probe.tail?.id == skipped.id)
    try store.probe.writeManifest()
    let listed = store.probe.listed.filter { $0.firstSequence > 5 }.sorted { $0.firstSequence < $1.firstSequence }
    try #require(listed.count == 2 && listed[1].id == skipped.id && store.probe.checkpointID != 0)
    let contents = try store.contents()
    store.probe.kill()
    try bench.killProcess()
    try expectAll(contents, bench)
  }

  private func expectAll(_ contents: [[UInt8]: [UInt8]], _ bench: FaultBench) throws {
    bench.forgetEvents()
    let reader = try bench.open(seed: 8) { $0.readOnly = true }
    #expect(try reader.contents() == contents)
    try reader.close()
    let store = try bench.open(seed: 9)
    #expect(try store.contents() == contents)
    let report = try store.verify()
    #expect(report.isClean, "\(report.damage)")
    #expect(bench.damage.isEmpty, "\(bench.damage)")
    #expect(!bench.reported.contains { if case .cut = $0 { true } else { false } })
  }

  @Test(arguments: [false, true]) func whatWasMergedAwayBeforeItIsNotMissing(hasCheckpoint: Bool) throws {
    let bench = FaultBench()
    let store = try bench.open { $0.merge.isAutomatic = false }
    for segment in 0..<2 {
      for number in 0..<5 { try store.put([UInt8(number)], forKey: "key \(segment) \(number)") }
      try store.probe.endTail()
    }
    try store.merge(segments: [2])
    // Then the log is read on from the tail that is skipped.
    if hasCheckpoint { store.probe.writeCheckpoint() }
    #expect((store.probe.checkpointID != 0) == hasCheckpoint)
    try expectAll(try skipTail(store, bench), bench)
  }

  /// Nothing behind the cut was synced, so no later number shows that what was cut off is not missing.
  @Test func whatIsBehindACutIsNotCutOffToo() throws {
    let bench = FaultBench()
    let first = try bench.open()
    var offsets: [Int] = []
    for number in 0..<20 {
      offsets.append(first.probe.tailEnd ?? SegmentHeader.length)
      try first.put([UInt8](repeating: 1, count: 900), forKey: "key \(number)")
      if number == 0 { try first.sync() }
    }
    first.probe.kill()
    try bench.killProcess()
    let name = FileName.segment(1)
    var bytes = try bench.bytes(name)
    bytes.replaceSubrange(offsets[10]..<offsets[12], with: repeatElement(0, count: offsets[12] - offsets[10]))
    try bench.write(bytes, to: name)
    let store = try bench.open(seed: 2)
    #expect(store.lastSequence.rawValue == 10)
    // Whoever has had the tail made need not be the first to write.
    #expect(try store.compareAndSet("unwritten", forKey: "key 1", ifVersion: nil) == nil)
    let contents = try skipTail(store, bench)
    #expect(contents.count == 12)
    try expectAll(contents, bench)
  }
}
