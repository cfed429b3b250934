import EskerTestSupport
import Foundation
import Testing

@testable import Esker

/// Who lets go of a sequence of changes, and when it ends.
@Suite(.timeLimit(.minutes(60))) struct StreamTests {
  /// Opens the store at a path, which fails as long as anything keeps one that was opened there before.
  private func isFree(_ path: String) -> Bool {
    guard let store = try? LogStore(at: path) else { return false }
    return (try? store.close()) != nil
  }

  private func withPath(_ body: (String) async throws -> Void) async throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    try await body(path)
  }

  @Test func aSequenceThatIsDroppedLetsGoOfTheStore() async throws {
    try await withPath { path in
      do {
        let storage = try LogStore(at: path).storage("s", of: Int.self)
        _ = try storage.changes()
        _ = try storage.changes(forKey: "k")
        try storage.set(1, forKey: "k")
      }
      #expect(try await eventually { isFree(path) })
    }
  }

  @Test(arguments: [false, true]) func aLoopThatWasLeftLetsGoOfTheStore(ofOneKey: Bool) async throws {
    try await withPath { path in
      do {
        let storage = try LogStore(at: path).storage("s", of: Int.self)
        if ofOneKey {
          let changes = try storage.changes(forKey: "k")
          try storage.set(1, forKey: "k")
          for await _ in changes { break }
        } else {
          let changes = try storage.mapValues(to: Int.self, { $0 }, from: { $0 }).changes()
          try storage.set(1, forKey: "k")
          for await _ in changes { break }
        }
      }
      #expect(try await eventually { isFree(path) })
    }
  }

  @Test func aTaskThatIsCancelledEndsTheObservationAtOnce() async throws {
    let storage = MemoryStorage<String, Int>()
    let changes = try storage.changes()
    let task = Task { for await _ in changes {} }
    task.cancel()
    await task.value
    #expect(try await eventually { !storage.changes.isObserved })
    withExtendedLifetime(changes) {}
  }

  @Test func sequencesEndBehindTheLastChangeWhenTheStoreCloses() async throws {
    try await withTemporaryStore { (store) async throws in
      let storage = try store.storage("s", of: Int.self)
      let whole = try storage.changes()
      let mapped = try storage.mapValues(to: Int.self, { -$0 }, from: { -$0 }).changes(forKey: "k")
      let front = try HybridStorage(try LogStorage(store, "s", key: String.self, of: Int.self)).changes()
      for number in 0..<10 { try storage.set(number, forKey: "k") }
      try store.close()
      var heard: [Int] = []
      for await change in whole { if case .set(_, _, let after) = change { heard.append(after) } }
      #expect(heard == Array(0..<10))
      heard = []
      for await change in mapped { if case .set(_, _, let after) = change { heard.append(after) } }
      #expect(heard == (0..<10).map { -$0 })
      heard = []
      for await change in front { if case .set(_, _, let after) = change { heard.append(after) } }
      #expect(heard == Array(0..<10))
    }
  }

  @Test func whatASequenceHadNoRoomForIsToldBeforeItEnds() async throws {
    try await withTemporaryStore { store in
      let storage = try store.storage("s", of: Int.self)
      let changes = try storage.changes(buffer: 4)
      for number in 0..<100 { try storage.set(number, forKey: "k") }
      try store.close()
      var (told, missed) = (0, 0)
      for await change in changes {
        if case .missed(let count) = change { missed += count } else { told += 1 }
      }
      #expect(told + missed == 100 && missed > 0)
    }
  }

  @Test func whatASequenceHadNoRoomForIsToldWithoutAFurtherChange() async throws {
    try await withTemporaryStore { (store) async throws in
      let storage = try store.storage("s", of: Int.self)
      let changes = try storage.changes(buffer: 4)
      let written = Collected<StorageChange<String, Int>>()
      let observation = try storage.observe { written.add($0) }
      for number in 0..<10 { try storage.set(number, forKey: "k") }
      #expect(try await eventually { written.count == 10 })
      let heard = Collected<StorageChange<String, Int>>()
      let reader = Task { for await change in changes { heard.add(change) } }
      #expect(try await eventually { heard.count == 5 })
      #expect(heard.all.last == .missed(6))
      // What comes next is not missed.
      for number in 10..<12 { try storage.set(number, forKey: "k") }
      #expect(try await eventually { heard.count == 7 })
      #expect(heard.all.last == .set(key: "k", before: 10, after: 11))
      reader.cancel()
      observation.cancel()
    }
  }

  /// The reader sleeps and wakes while changes come: it always learns that there was something else.
  @Test func aReaderBesideAFastWriterKnowsOfEveryChange() async throws {
    let storage = MemoryStorage<String, Int>()
    let changes = try storage.changes(buffer: 2)
    let count = 20_000
    let reader = Task {
      var told = 0
      for await change in changes {
        if case .missed(let missed) = change { told += missed } else { told += 1 }
        if told >= count { break }
      }
      return told
    }
    for number in 0..<count { try storage.set(number, forKey: "k") }
    #expect(await reader.value == count)
  }

  @Test func observersAreToldThatTheStoreWasClosed() throws {
    try withTemporaryStore { store in
      let storage = try store.storage("s", of: Int.self)
      let heard = Collected<StorageChange<String, Int>>()
      let tokens = [try storage.observe { heard.add($0) }, try storage.observe("other") { heard.add($0) }]
      try storage.set(1, forKey: "k")
      try store.close()
      #expect(heard.reach(3))
      #expect(heard.all == [.set(key: "k", before: nil, after: 1), .closed, .closed])
      tokens.forEach { $0.cancel() }
    }
  }

  @Test func observersAreToldThatTheKeyspaceWasRemoved() async throws {
    try await withTemporaryStore { store in
      let storage = try store.storage("s", of: Int.self)
      let heard = Collected<StorageChange<String, Int>>()
      let token = try storage.observe { heard.add($0) }
      let changes = try storage.changes()
      try storage.set(1, forKey: "k")
      try store.removeKeyspace("s")
      // It ends while the store is open.
      var told: [StorageChange<String, Int>] = []
      for await change in changes { told.append(change) }
      #expect(told == [.set(key: "k", before: nil, after: 1), .removedAll])
      #expect(heard.reach(3))
      #expect(heard.all == [.set(key: "k", before: nil, after: 1), .removedAll, .closed])
      for attempt in [{ _ = try storage.observe { _ in } }, { _ = try storage.changes() }] as [() throws -> Void] {
        guard case .store(.keyspaceRemoved("s")) = failure(of: attempt) else {
          Issue.record("it was taken")
          return
        }
      }
      token.cancel()
      // The next keyspace of that name is another one.
      let again = try store.storage("s", of: Int.self)
      let next = try again.changes()
      try again.set(2, forKey: "k")
      var iterator = next.makeAsyncIterator()
      #expect(try await iterator.next() == .set(key: "k", before: nil, after: 2))
    }
  }

  @Test func aClosedStoreTakesNoObservers() throws {
    try withTemporaryStore { store in
      let storage = try store.storage("s", of: Int.self)
      let token = try storage.observe { _ in }
      try store.close()
      for attempt in [
        { _ = try storage.observe { _ in } }, { _ = try storage.observe("k") { _ in } }, { _ = try storage.changes() },
        { _ = try storage.changes(forKey: "k") },
      ] as [() throws -> Void] {
        guard case .store(.closed) = failure(of: attempt) else {
          Issue.record("it was taken")
          return
        }
      }
      token.cancel()
    }
  }
}
