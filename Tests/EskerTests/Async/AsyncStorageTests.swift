import Esker
import EskerTestSupport
import Foundation
import Testing

@Suite struct AsyncStorageTests {
  @Test func everyOperationHasItsTwin() async throws {
    try await withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self).async
      try await scores.set(1, forKey: "a", expiry: .after(.seconds(86_400)))
      #expect(try await scores.value(forKey: "a") == 1)
      #expect(try await scores.entry(forKey: "a")?.origin == .log)
      #expect(try await scores.contains("a"))
      #expect(try await scores.update(forKey: "a", default: 0) { $0 += 1 } == 2)
      #expect(try await scores.update(forKey: "a") { $0.map { $0 * 2 } } == 4)
      #expect(try await scores.count() == 1)
      #expect(try await scores.keys() == ["a"])
      #expect(try await scores.values() == [2])
      #expect(try await scores.entries().count == 1)
      #expect(try await scores.removeValue(forKey: "a"))
      try await scores.set(1, forKey: "b", expiry: .after(.zero))
      #expect(try await scores.removeExpired() == 1)
      try await scores.removeAll()
      let motto = try store.storage("settings", of: String.self).singleKey("motto").async
      try await motto.set("x")
      #expect(try await motto.value() == "x")
      try await store.storage("settings", of: String.self).writeOnly().async.set("y", forKey: "motto")
      #expect(try await motto.value() == "y")
    }
  }

  @Test func twentyThousandSyncAndAsyncSetsMixedGiveFortyThousandKeys() async throws {
    try await withTemporaryStore { store in
      let scores = try store.storage("scores", key: Int.self, of: Int.self)
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<20 {
          group.addTask {
            for number in 0..<1000 {
              let key = task * 2000 + number * 2
              try? await scores.async.set(key, forKey: key)
              try? scores.set(key, forKey: key + 1)
            }
          }
        }
      }
      #expect(try scores.count() == 40_000)
      #expect(try await scores.async.value(forKey: 39_999) == 39_998)
    }
  }

  @Test func asyncUpdatesOfOneKeyLoseNothing() async throws {
    try await withTemporaryStore { store in
      let scores = try store.storage("scores", of: Int.self)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2000 {
          group.addTask { _ = try? await scores.async.update(forKey: "a", default: 0) { $0 += 1 } }
        }
      }
      #expect(try scores.value(forKey: "a") == 2000)
    }
  }

  @Test func cancelledTaskThatHasNotBegunDoesNothing() async throws {
    let base = DictionaryStorage<String, Int>(mayBlock: true)
    for storage in [PartialStorage(base), PartialStorage(DictionaryStorage<String, Int>())] {
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        try await storage.async.set(1, forKey: "a")
      }
      task.cancel()
      await #expect(throws: StorageError.self) { try await task.value }
    }
    #expect(base.all.isEmpty)
  }

  @Test func operationThatHasBegunEndsAndItsOutcomeIsReturned() async throws {
    let began = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let hooked = HookedStorage(DictionaryStorage<String, Int>(mayBlock: true))
    hooked.onceBeforeSet {
      began.signal()
      goOn.wait()
    }
    let task = Task { try await hooked.async.update(forKey: "a", default: 0) { $0 += 1 } }
    await onADispatchThread { began.wait() }
    task.cancel()
    goOn.signal()
    #expect(try await task.value == 1)
    #expect(hooked.base.all == ["a": 1])
  }

  @Test func updateThatIsCancelledBeforeItsWriteChangesNothing() async throws {
    let base = DictionaryStorage<String, Int>(mayBlock: true)
    let task = Task {
      try await base.async.update(forKey: "a") { (value: inout Int?) throws(StorageError) in
        withUnsafeCurrentTask { $0?.cancel() }
        value = 1
      }
    }
    await #expect(throws: StorageError.self) { try await task.value }
    #expect(base.all.isEmpty)
  }

  @Test func manyStuckCallsDoNotKeepOthersFromRunning() async throws {
    let base = DictionaryStorage<Int, Int>(mayBlock: true)
    let blocking = BlockingStorage()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<40 { group.addTask { _ = try? await blocking.async.value(forKey: number) } }
      // Far more than there are threads as long as none is stuck.
      let allHave = try? await eventually { blocking.entered.count == 40 }
      #expect(allHave == true)
      try? await base.async.set(1, forKey: 1)
      #expect(base.all == [1: 1])
      for _ in 0..<40 { blocking.gate.signal() }
    }
  }

  @Test func cooperativeThreadsAreNotBlocked() async throws {
    let blocking = BlockingStorage()
    async let first = blocking.async.value(forKey: 0)
    let others = (1..<20).map { number in Task { try await blocking.async.value(forKey: number) } }
    // Runs although twenty calls stand still.
    let ran = await Task { 1 }.value
    #expect(ran == 1)
    for _ in 0..<20 { blocking.gate.signal() }
    #expect(try await first == 0)
    for task in others { _ = try await task.value }
  }
}

/// Answers only when it is let.
final class BlockingStorage: ReadableStorage {
  typealias Key = Int
  typealias Value = Int
  let name = "blocking"
  let gate = DispatchSemaphore(value: 0)
  let entered = Collected<Int>()

  func identity(of key: Int) throws(StorageError) -> StorageRequest.Identity {
    StorageRequest.Identity(storage: 0, key: [UInt8(truncatingIfNeeded: key)])
  }

  func read(_ key: Int, _ call: StorageRequest.Read) throws(StorageError) -> Entry<Int>? {
    entered.add(key)
    gate.wait()
    return Entry(key, origin: .back)
  }
}

/// Runs what blocks where it may.
func onADispatchThread(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      body()
      continuation.resume()
    }
  }
}
