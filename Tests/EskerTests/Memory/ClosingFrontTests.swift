import Esker
import EskerLog
import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

/// What becomes of memory ahead of a store when the store is closed.
@Suite struct ClosingFrontTests {
  /// A store on a disk whose calls can be made to fail.
  private struct Bench {
    let disk = SimulatedDisk()
    let plan = FaultPlan()
    let clock = FakeClock()

    func open() throws -> LogStore {
      var options = Options()
      options.segmentSize = 64 << 10
      options.clock = clock.storeClock
      let platform = Platform.simulated(fileSystem: FaultyFileSystem(disk, plan: plan), clock: clock, seed: 1)
      return try LogStore(at: "/store", options: options, host: StoreHost(platform: platform, background: .inline))
    }
  }

  private func log(_ store: LogStore) throws -> LogStorage<String, Int> {
    try LogStorage(store, "n", key: String.self, of: Int.self)
  }

  /// Whether the store is found to be closed.
  private func isRefused<R>(_ body: () throws -> R) -> Bool {
    if case .store(.closed) = failure(of: body) { true } else { false }
  }

  @Test(arguments: [true, false])
  func closedStoreIsClosedInMemoryToo(policy: Bool) throws {
    let store = try Bench().open()
    let log = try log(store)
    let hybrid = HybridStorage(log, keepsWrites: policy, remembersAbsence: true)
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 1 && hybrid.value(forKey: "b") == nil)
    try store.close()
    let late = HybridStorage(log, keepsWrites: policy)
    for front in [hybrid, late] {
      for key in ["a", "b"] {
        #expect(isRefused { try front.value(forKey: key) })
        #expect(isRefused { try front.entry(forKey: key) })
      }
      #expect(isRefused { try front.set(2, forKey: "a") })
      #expect(isRefused { try front.removeValue(forKey: "a") })
      #expect(isRefused { try front.update(forKey: "a", default: 0) { $0 += 1 } })
    }
    try store.close()
  }

  @Test(arguments: [true, false])
  func removedKeyspaceIsRemovedInMemoryToo(policy: Bool) throws {
    let store = try Bench().open()
    let log = try log(store)
    let hybrid = HybridStorage(log, keepsWrites: policy, remembersAbsence: true)
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 1 && hybrid.value(forKey: "b") == nil)
    try store.removeKeyspace("n")
    let late = HybridStorage(log, keepsWrites: policy)
    for front in [hybrid, late] {
      for key in ["a", "b"] {
        guard case .store(.keyspaceRemoved("n")) = failure(of: { try front.value(forKey: key) }) else {
          Issue.record("\(key) is found")
          return
        }
      }
      #expect(front.statistics.count == 0)
    }
    try store.close()
    #expect(isRefused { try hybrid.value(forKey: "a") })
    #expect(isRefused { try late.value(forKey: "a") })
  }

  @Test func setsBesideACloseAreWrittenOrRefused() throws {
    var random = SeededGenerator(announcedFor: "setsBesideACloseAreWrittenOrRefused")
    for _ in 0..<30 {
      let bench = Bench()
      let store = try bench.open()
      let hybrid = HybridStorage(try log(store))
      let pause = UInt32.random(in: 0..<400, using: &random)
      let accepted = Collected<String>()
      let failures = Collected<String>()
      onThreads(3) { thread in
        if thread == 0 {
          usleep(pause)
          do { try store.close() } catch { failures.add("close: \(error)") }
          return
        }
        for number in 0..<100_000 {
          do {
            try hybrid.set(number, forKey: "\(thread) \(number)")
            accepted.add("\(thread) \(number)")
          } catch {
            if case .store(.closed) = error as? StorageError { return }
            return failures.add("\(error)")
          }
        }
      }
      #expect(failures.all == [])
      let reopened = try bench.open()
      let found = Set(try log(reopened).keys())
      #expect(accepted.all.allSatisfy { found.contains($0) })
      try reopened.close()
    }
  }
}
