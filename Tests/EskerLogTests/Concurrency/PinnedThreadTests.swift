import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A thread is pinned while a value is lent to it. It may write meanwhile, and so wait for other threads; these must not wait for
/// its pin.
@Suite(.timeLimit(.minutes(60))) struct PinnedThreadTests {
  private let store: LogStore
  private let plan = FaultPlan()

  init() throws {
    let disk = FaultyFileSystem(SimulatedDisk(), plan: plan)
    let host = StoreHost(platform: .simulated(fileSystem: disk), background: .inline)
    var options = Options()
    options.capacity = 256 << 10
    store = try LogStore(at: "/store", options: options, host: host)
    try store.put("v", forKey: "lent")
  }

  /// Runs a body while a value of another store is lent to this thread.
  private func whileLending(_ body: () throws -> Void) throws {
    let other = try Machine().open()
    try other.put("v", forKey: "lent")
    try other.withValues(forKeys: ["lent"]) { (_, _) throws -> Void in try body() }
  }

  @Test func aWriteThatEvictsWaitsForNoPin() throws {
    var writer: WorkerThread?
    try whileLending {
      let isDone = SharedFlag()
      writer = try WorkerThread(name: "writes") { [store] in
        for number in 0..<80 { _ = try? store.put([UInt8](repeating: 1, count: 4_000), forKey: "key \(number)") }
        isDone.raise()
      }
      #expect(eventually { isDone.isRaised }, "the writer waits for the pin of a thread that may be waiting for it")
    }
    writer?.join()
    #expect(store.statistics.merged.recordsEvicted > 10)
  }

  @Test func aCloseLetsGoOfItsLocksBeforeItWaitsForPins() throws {
    let isEnding = SharedFlag()
    plan.onCall { call in
      // Right before the store is marked clean, under all locks.
      if call.operation == .write, call.path.contains("manifest") { isEnding.raise() }
    }
    var threads: [WorkerThread] = []
    try whileLending {
      threads.append(try WorkerThread(name: "closes") { [store] in try? store.close() })
      #expect(eventually { isEnding.isRaised })
      let taken = SharedCounter()
      for lock in [StoreProbe.Lock.following, .merging, .images] {
        threads.append(try WorkerThread(name: "waits") { [store] in store.probe.holding(lock) { _ = taken.add() } })
      }
      #expect(eventually { taken.value == 3 }, "a pinned thread may be waiting for the locks that the close holds")
    }
    for thread in threads { thread.join() }
  }

  /// Whoever is pinned may have found an address there.
  @Test func whatIsMergedAwayResolvesUntilThePinEnds() throws {
    let store = try Machine().open { $0.merge.isAutomatic = false }
    try store.fill(100)
    let id = try #require(store.sealedIDs.first)
    let held = try #require(store.probe.hold(id))
    func resolves() -> Bool { store.probe.canLead(to: UInt64(SegmentHeader.length) >> 3, of: held) }
    var merging: WorkerThread?
    try store.withValues(forKeys: ["fill 1"]) { (_, _) throws -> Void in
      merging = try WorkerThread(name: "merges") { _ = try? store.merge(segments: [id]) }
      #expect(eventually { !store.sealedIDs.contains(id) })
      #expect(resolves())
    }
    merging?.join()
    store.probe.collect()
    #expect(!resolves())
    try store.close()
  }
}
