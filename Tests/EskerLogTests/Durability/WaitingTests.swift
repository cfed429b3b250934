import Dispatch
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// Waiting for a sync that takes its time.
@Suite(.timeLimit(.minutes(60))) struct WaitingTests {
  /// Holds every sync of the log until it is let go.
  private final class SlowDisk: Sendable {
    let bench = FaultBench()
    private let gate = DispatchSemaphore(value: 0)
    private let syncs = Guarded(0)

    func hold() {
      bench.plan.onCall { [self] call in
        guard call.operation == .sync, call.path.hasSuffix(".segment") else { return }
        syncs.withLock { $0 += 1 }
        gate.wait()
      }
    }

    var heldSyncs: Int { syncs.withLock { $0 } }

    func letGo() {
      bench.plan.onCall(nil)
      for _ in 0..<heldSyncs { gate.signal() }
    }
  }

  @Test func aCancelledTaskWaitsNoLongerAndItsWriteStays() async throws {
    let disk = SlowDisk()
    let store = try disk.bench.open()
    try store.put("0", forKey: "first", durability: .synced)
    disk.hold()
    func write(_ key: String) -> Task<Result<SequenceNumber, StoreError>, Never> {
      Task {
        do throws(StoreError) {
          return .success(try await store.async.put("1", forKey: key, durability: .synced))
        } catch {
          return .failure(error)
        }
      }
    }
    // One whom the sync under way serves, and one who waits for the next.
    let served = write("served")
    while disk.heldSyncs == 0 { await Task.yield() }
    let waiting = write("waiting")
    while store.lastSequence.rawValue < 3 { await Task.yield() }
    served.cancel()
    #expect(await served.value == .failure(.cancelled))
    waiting.cancel()
    #expect(await waiting.value == .failure(.cancelled))
    #expect(store.durableSequence.rawValue == 1)
    disk.letGo()
    try store.sync()
    #expect(try store.get("served") == bytes("1"))
    #expect(try store.get("waiting") == bytes("1"))
    try store.close()
  }

  @Test func aTaskThatWasCancelledBeforeItWaitsDoesNotWait() async throws {
    let disk = SlowDisk()
    let store = try disk.bench.open()
    try store.put("0", forKey: "first", durability: .synced)
    disk.hold()
    await #expect(throws: StoreError.cancelled) {
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.async.put("1", forKey: "key", durability: .synced)
    }
    disk.letGo()
    #expect(try store.get("key") == bytes("1"))
    try store.close()
  }

  @Test func aSyncBesideOneThatFailsMakesNothingDurable() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("0", forKey: "first", durability: .synced)
    let probe = store.probe
    bench.plan.onCall { call in
      if call.operation == .sync, call.path.hasSuffix(".segment") { probe.failSync(28) }
    }
    #expect(throws: StoreError.outcomeUnknown(errno: 28)) { try store.put("1", forKey: "key", durability: .synced) }
    #expect(store.durableSequence.rawValue == 1)
    #expect(throws: StoreError.syncFailed(errno: 28)) { try store.sync() }
    bench.plan.onCall(nil)
    try? store.close()
  }

  @Test func everyThreadThatWaitsHearsOfAFailure() throws {
    let disk = SlowDisk()
    let store = try disk.bench.open()
    try store.put("0", forKey: "first", durability: .synced)
    disk.hold()
    let failures = Guarded(0)
    let threads = try (0..<6).map { number in
      try WorkerThread(name: "wait") {
        do throws(StoreError) { try store.put("1", forKey: "\(number)", durability: .synced) } catch {
          if error == .outcomeUnknown(errno: 5) { failures.withLock { $0 += 1 } }
        }
      }
    }
    while store.lastSequence.rawValue < 7 { Platform.system.pause() }
    disk.bench.plan.fail(.sync, on: .suffix(".segment"), .error(5))
    disk.letGo()
    for thread in threads { thread.join() }
    let count = failures.withLock { $0 }
    #expect(count == 6)
    #expect(store.durableSequence.rawValue == 1)
    try? store.close()
  }

  /// Nobody else comes to lead that sync.
  @Test func whoeverWaitsForTheNextSyncLeadsIt() throws {
    // In some of the rounds they are asleep in time.
    for _ in 0..<20 {
      let disk = SlowDisk()
      let store = try disk.bench.open()
      try store.put("0", forKey: "first", durability: .synced)
      disk.hold()
      func write(_ key: String) throws -> WorkerThread {
        try WorkerThread(name: key) { _ = try? store.put("1", forKey: key, durability: .synced) }
      }
      let served = try write("served")
      while disk.heldSyncs == 0 { Platform.system.pause() }
      let waiting = try (0..<3).map { try write("waiting \($0)") }
      while store.lastSequence.rawValue < 5 { Platform.system.pause() }
      Platform.system.pause()
      disk.letGo()
      for thread in [served] + waiting { thread.join() }
      #expect(store.durableSequence.rawValue == 5)
      try store.close()
    }
  }

  @Test func closingAfterAFailedSyncThrowsItsCauseOnce() throws {
    let bench = FaultBench()
    let store = try bench.open()
    try store.put("0", forKey: "first")
    bench.plan.fail(.sync, on: .suffix(".segment"), .error(28))
    #expect(throws: StoreError.syncFailed(errno: 28)) { try store.sync() }
    #expect(throws: StoreError.syncFailed(errno: 28)) { try store.close() }
    try store.close()
    #expect(throws: StoreError.closed) { try store.get("first") }
  }
}
