import Esker
import EskerUI
import Foundation
import Observation
import Testing

@Suite @MainActor struct ObservedTests {
  private func withStore(_ body: (LogStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try LogStore(at: directory)
    try await body(store)
    try store.close()
  }

  /// Waits until the main actor has seen it.
  private func comes(_ isSo: () -> Bool) async {
    while !isSo() { await Task.yield() }
  }

  @Test func aValueIsShownAndFollowed() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      let score = ObservedValue(scores, forKey: "a")
      #expect(!score.isLoaded)
      await comes { score.value == 1 }
      try scores.set(2, forKey: "a")
      try scores.set(9, forKey: "b")
      await comes { score.value == 2 }
      try scores.removeAll()
      await comes { score.value == nil }
      #expect(score.isLoaded && score.error == nil)
    }
  }

  @Test func whatMemoryHasIsShownAtOnce() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self, memory: MemoryLimits(count: 10))
      try scores.set(1, forKey: "a")
      #expect(ObservedValue(scores, forKey: "a").value == 1)
    }
  }

  @Test func viewsAreToldOfAChange() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let score = ObservedValue(scores, forKey: "a")
      await comes { score.isLoaded }
      await withCheckedContinuation { told in
        withObservationTracking {
          _ = score.value
        } onChange: {
          told.resume()
        }
        try? scores.set(1, forKey: "a")
      }
      await comes { score.value == 1 }
    }
  }

  @Test func entriesAreShownAndFollowed() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      let all = ObservedEntries(scores)
      await comes { all.isLoaded }
      try scores.set(2, forKey: "b")
      try scores.removeValue(forKey: "a")
      await comes { all.values == ["b": 2] }
      #expect(all["b"] == 2 && all.keys == ["b"])
      try scores.removeAll()
      await comes { all.values.isEmpty }
    }
  }

  @Test func aClosedStoreIsAnError() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try LogStore(at: directory)
    let scores = try store.storage("scores", of: Int.self)
    let score = ObservedValue(scores, forKey: "a")
    await comes { score.isLoaded }
    try store.close()
    await comes { score.error != nil }
    guard case .store(.closed) = score.error else {
      Issue.record("another error")
      return
    }
    #expect(ObservedValue(scores, forKey: "a").error != nil)
  }

  @Test func aRemovedKeyspaceIsAnError() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      let score = ObservedValue(scores, forKey: "a")
      let all = ObservedEntries(scores)
      await comes { score.isLoaded && all.isLoaded }
      try store.removeKeyspace("scores")
      await comes { score.error != nil && all.error != nil }
      for error in [score.error, all.error] {
        guard case .store(.keyspaceRemoved("scores")) = error else {
          Issue.record("another error: \(String(describing: error))")
          return
        }
      }
    }
  }

  /// Whoever is shown no more keeps nothing alive.
  @Test func anObserverThatIsLetGoEnds() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      var score: ObservedValue<Int>? = ObservedValue(scores, forKey: "a")
      weak let gone = score
      await comes { score?.isLoaded == true }
      score = nil
      await comes { gone == nil }
      #expect(gone == nil)
    }
  }
}
