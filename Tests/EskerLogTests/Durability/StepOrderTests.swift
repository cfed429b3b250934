import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Steps whose order, or whose being there at all, shows only when something goes wrong right between them.
@Suite struct StepOrderTests {
  /// The name of a checkpoint is durable before the manifest lists it, or a power cut makes the next opening read all of the
  /// log.
  @Test(arguments: [true, false]) func aCheckpointThatIsListedIsThereAfterAPowerCut(isClosing: Bool) throws {
    let bench = FaultBench()
    let store = try bench.open()
    for number in 0..<200 { try store.put("value \(number)", forKey: "key \(number)") }
    try store.sync()
    if isClosing { try store.close() } else { store.probe.writeCheckpoint() }
    #expect(try bench.names.contains { $0.hasSuffix(".checkpoint") })
    try bench.cutPower()
    store.probe.kill()
    let reopened = try bench.open(seed: 2)
    let report = bench.reported.compactMap { if case .opened(let report) = $0 { report } else { nil } }.last
    #expect(report?.indexSource == (isClosing ? .checkpoint : .checkpointAndReplay))
    #expect(bench.damage.isEmpty)
    #expect(try reopened.count() == 200)
    try reopened.close()
  }

  @Test func whatACheckpointHoldsIsDurableBeforeItIsListed() throws {
    let bench = FaultBench()
    let store = try bench.open()
    for number in 0..<200 { try store.put("v", forKey: "key \(number)") }
    store.probe.writeCheckpoint()
    try #require(store.probe.checkpointID != 0)
    store.probe.kill()
    try bench.cutPower(.drop)
    let reopened = try bench.open(seed: 2)
    #expect(bench.damage.isEmpty)
    #expect(try reopened.contents().count == 200)
    try reopened.close()
  }

  /// Store time is kept before what it condemned goes: when it cannot be, the call takes no effect.
  @Test func whatExpiredStaysUntilTheTimeThatCondemnedItIsKept() throws {
    let bench = FaultBench()
    let store = try bench.open()
    for number in 0..<20 {
      try store.put("v", forKey: "key \(number)", expiry: number < 15 ? .after(.seconds(1)) : .never)
    }
    try store.sync()
    bench.clock.advance(milliseconds: 2_000)
    bench.plan.fail(.write, on: .prefix("manifest"), sticky: true, .error(PlatformError.noSpace))
    #expect(throws: StoreError.self) { try store.removeAllExpired() }
    #expect(store.statistics.keys == 20)
    bench.plan.heal()
    // Nor are they gone when the call is seen from within: at each of its calls to the disk all are still there.
    let counts = Guarded<[Int]>([])
    bench.plan.onCall { _ in counts.withLock { $0.append(store.core.count) } }
    #expect(try store.removeAllExpired() == 15)
    bench.plan.onCall(nil)
    #expect(counts.withLock { $0.contains(20) && $0.allSatisfy { $0 == 20 } })
    #expect(store.statistics.keys == 5)
    try store.close()
  }

  /// What was stored to a page that is gone is lost, and the system's sync of the file succeeds all the same.
  @Test(arguments: [false, true]) func aSyncFailsOnceAPageCouldNotBeHad(isClosing: Bool) throws {
    let directory = try TemporaryDirectory()
    let path = directory.appending("store")
    var options = Options()
    options.segmentSize = 64 << 10
    let store = try LogStore(at: path, options: options, host: StoreHost(platform: .system, background: .inline))
    try store.put("durable", forKey: "first", durability: .synced)
    let tail = try #require(store.probe.tail)
    let file = try OSFileSystem().open(tail.path, .readWrite)
    try store.put([UInt8](repeating: 7, count: 20_000), forKey: "second")
    try file.truncate(4096)
    // Nobody writes between this and the sync: a reader looked.
    #expect(tail.word(at: 8_192) == 0)
    #expect(tail.isFaulted)
    #expect(throws: StoreError.self) { if isClosing { try store.close() } else { try store.sync() } }
    if !isClosing {
      // And stays so: what was lost is lost.
      #expect(throws: StoreError.self) { try store.sync() }
      #expect(throws: StoreError.self) { try store.put("v", forKey: "third") }
      #expect(throws: StoreError.self) { try store.close() }
    }
  }
}
