import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Segments are sealed in the order of the log, whatever the order in which they were created.
@Suite struct SealingOrderTests {
  @Test func aSegmentThatWasCreatedEarlierAndFilledLaterIsSealedLater() throws {
    let bench = FaultBench()
    let store = try bench.open()
    // The empty tail is too small for the batch, which gets a segment of its own, and is the next tail.
    try store.probe.endTail()
    try store.put("v", forKey: "first")
    try store.probe.endTail()
    let unused = try #require(store.probe.tail)
    try store.write { (batch) throws(StoreError) in
      for key in 0..<10 { try batch.put([UInt8](repeating: 1, count: 9_000), forKey: "key \(key)") }
    }
    let large = try #require(store.probe.tail)
    #expect(large.id > unused.id)
    // It cannot be sealed, while what comes behind it is filled and dies.
    let footer = FileMatch { path in path == large.path && large.isSealed }
    bench.plan.fail(.write, on: footer, sticky: true, .error(PlatformError.inputOutput))
    for round in 0..<3 {
      for key in 0..<50 { try store.put([UInt8](repeating: UInt8(round), count: 2_000), forKey: "small \(key)") }
    }
    #expect(unused.firstSequence > large.lastSequence)
    #expect(unused.isSealed)
    try store.merge(segments: store.statistics.segments.map(\.id).filter { $0 != large.id })
    try store.sync()
    let contents = try store.contents()
    store.probe.kill()
    try bench.killProcess()
    let reopened = try bench.open(seed: 2)
    #expect(try reopened.contents() == contents)
    #expect(bench.damage.isEmpty, "\(bench.damage)")
    #expect(try reopened.verify().isClean)
    try reopened.close()
  }
}
