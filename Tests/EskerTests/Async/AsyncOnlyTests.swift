import Esker
import EskerTestSupport
import Testing

/// Storages that only tasks can use, such as one on another machine: what is there of them, alone and composed.
@Suite struct AsyncOnlyTests {
  /// Has no call that blocks.
  private struct Remote: AsyncReadableStorage, AsyncWritableStorage {
    typealias Key = String
    typealias Value = Int

    let kept: DictionaryStorage<String, Int>
    var name: String { "remote" }

    func identity(of key: String) throws(StorageError) -> StorageRequest.Identity { try kept.identity(of: key) }

    nonisolated(nonsending) func asyncRead(
      _ key: String,
      _ call: StorageRequest.Read
    ) async throws(StorageError) -> Entry<Int>? {
      await Task.yield()
      return try kept.read(key, call)
    }

    nonisolated(nonsending) func asyncWrite(
      _ key: String,
      _ call: StorageRequest.Write<Int>
    ) async throws(StorageError) -> StorageRequest.Receipt {
      await Task.yield()
      return try kept.write(key, call)
    }
  }

  @Test func severalKeysAreReadAndAskedFor() async throws {
    let remote = Remote(kept: DictionaryStorage(["a": 1, "b": 2]))
    #expect(try await remote.async.values(forKeys: ["b", "c", "a"]) == [2, nil, 1])
    #expect(try await remote.async.contains("a"))
    #expect(try await !remote.async.contains("c"))
  }

  @Test func memoryInFrontKeepsWhatWasRead() async throws {
    let remote = Remote(kept: DictionaryStorage(["a": 1]))
    let front = remote.cached(remembersAbsence: true)
    for _ in 0..<3 {
      #expect(try await front.async.value(forKey: "a") == 1)
      #expect(try await front.async.value(forKey: "b") == nil)
    }
    #expect(remote.kept.reads == 2)
    try await front.async.set(5, forKey: "a")
    #expect(try await front.async.value(forKey: "a") == 5 && remote.kept.all["a"] == 5)
    #expect(try await front.async.removeValue(forKey: "a"))
    #expect(try await !front.async.contains("a"))
  }

  @Test func aLogInFrontIsFilledAndFollowsWrites() async throws {
    try await withTemporaryStore { store in
      let remote = Remote(kept: DictionaryStorage(["a": 1]))
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let both = log.combined(with: remote)
      #expect(try await both.async.values(forKeys: ["a", "b"]) == [1, nil])
      #expect(try log.value(forKey: "a") == 1)
      try await both.async.set(2, forKey: "a")
      #expect(try log.value(forKey: "a") == 2 && remote.kept.all["a"] == 2)
      #expect(try await both.async.removeValue(forKey: "a"))
      #expect(try log.value(forKey: "a") == nil && remote.kept.all["a"] == nil)
    }
  }

  @Test func oneProducerRunsForItsMissingValues() async throws {
    let remote = Remote(kept: DictionaryStorage())
    let front = remote.cached()
    let runs = Collected<Int>()
    let values = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await front.async.value(forKey: "a") {
            runs.add(number)
            for _ in 0..<20 { await Task.yield() }
            return 7
          }
        }
      }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(values == [7] && remote.kept.all["a"] == 7)
    #expect(runs.count >= 1)
  }
}
