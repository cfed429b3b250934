import Esker
import EskerLog
import EskerPlatform
import EskerTestSupport
import Foundation
import Testing

/// What becomes of memory ahead of a store, and of what waits there, when the store is closed.
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
      return try LogStore(at: "/store", options: options, host: Host(platform: platform, background: .inline))
    }

    /// Every call fails from now on.
    func fail() { plan.fail(nil, sticky: true, .error(5)) }
  }

  private func log(_ store: LogStore) throws -> LogStorage<String, Int> {
    try LogStorage(store, "n", key: String.self, of: Int.self)
  }

  /// Whether the store is found to be closed.
  private func isRefused<R>(_ body: () throws -> R) -> Bool {
    if case .store(.closed) = failure(of: body) { true } else { false }
  }

  @Test(arguments: 0..<20)
  func whatWaitsIsWrittenWhenTheStoreIsClosed(round: Int) throws {
    let bench = Bench()
    let store = try bench.open()
    let hybrid = HybridStorage(try log(store), writing: .back(window: 1000))
    let doubled = hybrid.transform(to: Transformer<Int>.standard.map(to: { $0 * 2 }, from: { $0 / 2 }))
    for number in 0..<50 * round { try (number % 3 == 0 ? doubled : hybrid).set(number, forKey: "\(number)") }
    try store.close()
    let reopened = try log(try bench.open())
    #expect(try reopened.count() == 50 * round)
    for number in 0..<50 * round {
      #expect(try reopened.value(forKey: "\(number)") == (number % 3 == 0 ? number / 2 : number))
    }
  }

  @Test func whatCannotBeWrittenAtCloseIsSaidByIt() throws {
    let bench = Bench()
    let store = try bench.open()
    let hybrid = HybridStorage(try log(store), writing: .back(window: 1000))
    bench.fail()
    try hybrid.set(1, forKey: "a")
    guard case .failed = #expect(throws: StoreError.self, performing: { try store.close() }) else {
      Issue.record("not told why")
      return
    }
    bench.plan.heal()
    #expect(isRefused { try hybrid.value(forKey: "a") })
    try hybrid.flush()
    let reopened = try bench.open()
    #expect(try log(reopened).value(forKey: "a") == nil)
    try reopened.close()
  }

  @Test func whatFailedBeforeIsTriedAgainAtClose() throws {
    let bench = Bench()
    let store = try bench.open()
    let hybrid = HybridStorage(try log(store), writing: .back(window: 1000))
    let calls = bench.plan.callCount
    bench.fail()
    try hybrid.set(1, forKey: "a")
    #expect(eventually { bench.plan.callCount > calls })
    bench.plan.heal()
    try store.close()
    #expect(try log(try bench.open()).value(forKey: "a") == 1)
  }

  @Test func valueThatCanNeverBeWrittenDoesNotKeepTheOthersFromBeingWritten() throws {
    // Encodes when it is asked whether that can be done, and not once it is to be written.
    let bench = Bench()
    let store = try bench.open()
    let calls = Collected<Int>()
    let gate = DispatchSemaphore(value: 0)
    let fickle = Transformer<Int>(id: "fickle") { (value: Int) throws -> [UInt8] in
      calls.add(value)
      let isWritten = calls.all.count { $0 == value } > 1
      // Nothing is written before all are set.
      if value == 1, isWritten { gate.wait() }
      if value == 13, isWritten { throw CocoaError(.coderInvalidValue) }
      return [UInt8(value)]
    } decode: { bytes in
      Int(bytes.unsafeLoadUnaligned(as: UInt8.self))
    }
    let hybrid = HybridStorage(
      try LogStorage(store, "n", key: Int.self, transformer: fickle),
      writing: .back(window: 1000)
    )
    for key in [1, 13, 2, 3] { try hybrid.set(key, forKey: key) }
    gate.signal()
    guard case .failed(let operation, _, _) = #expect(throws: StoreError.self, performing: { try store.close() }) else {
      Issue.record("not told why")
      return
    }
    #expect(operation.contains("CocoaError") || operation.contains("NSCocoaErrorDomain"))
    let reopened = try LogStorage(try bench.open(), "n", key: Int.self, transformer: fickle)
    #expect(try reopened.keys().sorted() == [1, 2, 3])
  }

  @Test(arguments: [WritePolicy.through, .around, .back(window: 4)])
  func closedStoreIsClosedInMemoryToo(policy: WritePolicy) throws {
    let store = try Bench().open()
    let log = try log(store)
    let hybrid = HybridStorage(log, writing: policy, remembersAbsence: true)
    try hybrid.set(1, forKey: "a")
    #expect(try hybrid.value(forKey: "a") == 1 && hybrid.value(forKey: "b") == nil)
    try store.close()
    let late = HybridStorage(log, writing: policy)
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

  @Test func setsBesideACloseAreWrittenOrRefused() throws {
    var random = SeededGenerator(announcedFor: "setsBesideACloseAreWrittenOrRefused")
    for _ in 0..<30 {
      let bench = Bench()
      let store = try bench.open()
      let hybrid = HybridStorage(try log(store), writing: .back(window: 8))
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
