import Esker
import Foundation
import Testing

/// Asynchronous writes to a store whose writes are synced.
@Suite(.timeLimit(.minutes(60))) struct SyncedWriteTests {
  private let slow: SlowStore

  init() throws {
    slow = try SlowStore()
  }

  private func scores() throws -> LogStorage<String, Int> { try LogStorage(slow.store, "scores") }

  @Test func tasksThatWaitForASyncHoldNoThread() async throws {
    let storage = try slow.store.storage("scores", key: Int.self, of: Int.self)
    // Before this many threads would wait, there would be no more.
    let tasks = 400
    slow.hold()
    let writes = (0..<tasks).map { number in
      Task { try await storage.async.set(number, forKey: number) }
    }
    // All are written while the disk stands still.
    while try storage.count() < tasks { await Task.yield() }
    #expect(!slow.isDurable)
    // And there are threads left to read with.
    #expect(try await storage.async.value(forKey: 7) == 7)
    slow.letGo()
    for write in writes { try await write.value }
    #expect(slow.isDurable)
    try slow.store.close()
  }

  @Test func everyWriteIsDurableWhenItReturns() async throws {
    let log = try scores()
    let hybrid = HybridStorage(log)
    let combined = MemoryStorage<String, Int>().combined(with: log)
    let views: [PartialStorage<String, Int>] = [
      PartialStorage(log), PartialStorage(hybrid), PartialStorage(combined), PartialStorage(Storage(log)),
      PartialStorage(
        log.mapValues(to: Int.self) {
          $0 + 1
        } from: {
          $0 - 1
        }.mapKeys { (key: String) in "x" + key }
      ),
    ]
    for view in views {
      try await view.async.set(1, forKey: "a")
      #expect(slow.isDurable)
      #expect(try await view.async.update(forKey: "a", default: 0) { $0 += 1 } == 2)
      #expect(slow.isDurable)
      #expect(try await view.async.removeValue(forKey: "a"))
      #expect(slow.isDurable)
      _ = try await view.async.value(forKey: "b") { 3 }
      #expect(slow.isDurable)
    }
    try await Storage(log).async.removeAll()
    #expect(slow.isDurable)
    try slow.store.close()
  }

  @Test func writesOfTheCallersOwnCodeAreDurableWhereTheyReturn() async throws {
    let log = try scores()
    let other = try slow.store.storage("other", of: Int.self)
    let slow = slow
    let wasDurable = Collected<Bool>()
    try await log.async.update(forKey: "a") { (value: inout Int?) throws(StorageError) in
      try other.set(1, forKey: "b")
      wasDurable.add(slow.isDurable)
      value = 1
    }
    let custom = CustomStorage<String, Int>(name: "custom", get: { _ in nil }) { value, key in
      if let value { try other.set(value, forKey: key) }
      wasDurable.add(slow.isDurable)
    }
    try await custom.async.set(2, forKey: "c")
    let naming = Transformer<Int>(id: "naming") { value in
      try slow.store.put("1", forKey: "named", durability: .synced)
      wasDurable.add(slow.isDurable)
      return [UInt8(value)]
    } decode: { _ in
      0
    }
    try await slow.store.storage("naming", transformer: naming).async.set(1, forKey: "a")
    #expect(wasDurable.all == [true, true, true])
    try slow.store.close()
  }

  @Test func taskThatIsCancelledWhileItWaitsGetsTheOutcome() async throws {
    let log = try scores()
    slow.hold()
    let write = Task { try await log.async.set(1, forKey: "a") }
    // It has begun when it can be read. Syncs that are held need not be its own.
    while try log.value(forKey: "a") == nil { await Task.yield() }
    write.cancel()
    #expect(try await log.async.value(forKey: "a") == 1)
    #expect(!slow.isDurable)
    slow.letGo()
    try await write.value
    #expect(slow.isDurable)
    try slow.store.close()
  }

  @Test func failedSyncIsTheErrorOfAllWhoWait() async throws {
    let log = try scores()
    slow.hold()
    let writes = (0..<20).map { number in Task { try await log.async.set(number, forKey: "\(number)") } }
    while try log.count() < 20 { await Task.yield() }
    slow.failSyncs()
    slow.letGo()
    for write in writes {
      let result = await write.result
      guard case .failure(let error) = result, case .store(.outcomeUnknown) = error as? StorageError else {
        Issue.record("\(result)")
        continue
      }
    }
    #expect(throws: StoreError.self) { try slow.store.close() }
  }

  @Test func writeThatMeetsTheClosingOfTheStoreIsToldItsOutcome() async throws {
    let scores = try scores()
    slow.hold()
    let write = Task { try await scores.async.set(1, forKey: "a") }
    while slow.heldSyncs == 0 { await Task.yield() }
    // It is logged, and its task waits for the disk, while the store is being closed.
    let closed = Task { await onThreadsOfTheirOwn(1) { [slow] _ in try? slow.store.close() } }
    while (try? slow.store.get("first")) != nil { await Task.yield() }
    slow.letGo()
    try await write.value
    await closed.value
  }

  @Test func bufferedWritesWaitForNoDisk() async throws {
    try await withTemporaryStore { store in
      let storage = try store.storage("scores", of: Int.self)
      try await storage.async.set(0, forKey: "a")
      let before = store.statistics.syncs.count
      for number in 0..<100 { try await storage.async.set(number, forKey: "a") }
      #expect(store.statistics.syncs.count == before)
    }
  }
}
