import Esker
import EskerUI
import Foundation
import Observation
import Testing

/// How often something that `read` has read changes, from the beginning of its life on.
@MainActor private final class ChangeCount {
  private(set) var value = 0
  private let read: @MainActor () -> Void

  init(_ read: @escaping @MainActor () -> Void) {
    self.read = read
    track()
  }

  private func track() {
    withObservationTracking {
      read()
    } onChange: { [weak self] in
      // It changes on the main actor.
      MainActor.assumeIsolated {
        self?.value += 1
        self?.track()
      }
    }
  }
}

@Suite @MainActor struct ObservedTests {
  private func withStore(_ body: (LogStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("esker-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try LogStore(at: directory)
    try await body(store)
    try store.close()
  }

  /// Waits until the main actor has seen it; records an issue if it never does.
  private func comes(sourceLocation: SourceLocation = #_sourceLocation, _ isSo: () -> Bool) async {
    // Enough for the slowest machine under full load.
    let end = ContinuousClock.now + .seconds(1200)
    while !isSo() {
      guard ContinuousClock.now < end else {
        Issue.record("it does not come", sourceLocation: sourceLocation)
        return
      }
      await Task.yield()
    }
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

  @Test func viewsAreToldOnceOfABatch() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self)
      try scores.set(1, forKey: "a")
      let score = ObservedValue(scores, forKey: "a")
      let all = ObservedEntries(scores)
      await comes { score.isLoaded && all.isLoaded }
      let ofScore = ChangeCount { _ = score.value }
      try store.write { batch in
        for number in 2..<5 { try batch.set(number, forKey: "a", in: scores) }
      }
      await comes { score.value == 4 && all.values == ["a": 4] }
      #expect(ofScore.value == 1)
      let ofAll = ChangeCount { _ = all.values }
      try store.transaction { transaction in
        try transaction.set(5, forKey: "b", in: scores)
        try transaction.set(6, forKey: "c", in: scores)
        try transaction.removeValue(forKey: "a", in: scores)
      }
      await comes { all.values == ["b": 5, "c": 6] }
      #expect(ofAll.value == 1)
      await comes { score.value == nil }
      #expect(score.error == nil && all.error == nil)
    }
  }

  @Test func aBatchIsAppliedAndWhatWasMissedOfOneIsReadAgain() async throws {
    let storage = StagedStorage()
    storage.replace(["a": 1])
    let score = ObservedValue(storage, forKey: "a")
    let all = ObservedEntries(storage)
    await comes { score.isLoaded && all.isLoaded }
    storage.replace(["a": 2, "b": 3])
    storage.tell(StorageChange.Batch([.missed(2)]))
    await comes { score.value == 2 && all.values == ["a": 2, "b": 3] }
    storage.tell(StorageChange.Batch([.set(key: "a", before: 2, after: 4), .removed(key: "b", before: 3)]))
    await comes { all.values == ["a": 4] }
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

  /// Whoever is shown no more keeps nothing alive, and is not notified.
  @Test func anObserverThatIsReleasedEnds() async throws {
    let storage = StagedStorage()
    var score: ObservedValue<Int>? = ObservedValue(storage, forKey: "a")
    var scores: ObservedEntries<String, Int>? = ObservedEntries(storage)
    weak let goneScore = score
    weak let goneScores = scores
    await comes { score?.isLoaded == true && scores?.isLoaded == true }
    #expect(storage.isObserved)
    score = nil
    scores = nil
    await comes { goneScore == nil && goneScores == nil && !storage.isObserved }
  }

  @Test func whatWasMissedIsReadAgain() async throws {
    let storage = StagedStorage()
    storage.replace(["a": 1])
    let score = ObservedValue(storage, forKey: "a")
    let scores = ObservedEntries(storage)
    await comes { score.value == 1 && scores.values == ["a": 1] }
    storage.replace(["a": 2, "b": 3])
    storage.tell(.missed(2))
    await comes { score.value == 2 && scores.values == ["a": 2, "b": 3] }
  }

  /// More entries are written than changes are queued, while the main actor is busy.
  @Test func allOfALargeBatchIsShown() async throws {
    try await withStore { store in
      let numbers = try store.storage("numbers", of: Int.self)
      let all = ObservedEntries(numbers)
      await comes { all.isLoaded }
      try store.write { batch in
        for number in 0..<5000 { try batch.set(number, forKey: "\(number)", in: numbers) }
      }
      await comes { all.values.count == 5000 }
    }
  }

  @Test func aReadThatFailsIsAnErrorUntilOneSucceeds() async throws {
    let storage = StagedStorage()
    storage.replace(["a": 1])
    let score = ObservedValue(storage, forKey: "a")
    let scores = ObservedEntries(storage)
    await comes { score.isLoaded && scores.isLoaded }
    storage.refuse(true)
    storage.tell(.missed(1))
    await comes { score.error != nil && scores.error != nil }
    guard case .back = score.error, case .back = scores.error else {
      Issue.record("another error")
      return
    }
    #expect(score.value == nil)
    storage.refuse(false)
    storage.replace(["a": 2, "b": 3])
    storage.tell(.set(key: "a", before: 1, after: 2))
    await comes { score.value == 2 && scores.values == ["a": 2, "b": 3] }
    #expect(score.error == nil && scores.error == nil)
  }

  @Test func aValueThatCannotBeReadIsNotShownUntilThereIsAnother() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", transformer: Transformer<Int>.json)
      let raw = try store.keyspace("scores")
      try scores.set(5, forKey: "a")
      let score = ObservedValue(scores, forKey: "a")
      let all = ObservedEntries(scores)
      await comes { score.value == 5 && all["a"] == 5 }
      try raw.put("x", forKey: "a")
      await comes { score.value == nil && score.error != nil && all["a"] == nil }
      try scores.set(6, forKey: "a")
      await comes { score.value == 6 && all["a"] == 6 }
      #expect(score.error == nil && all.error == nil)
      try raw.put("x", forKey: "a")
      await comes { score.error != nil }
      try scores.removeValue(forKey: "a")
      await comes { score.error == nil }
      #expect(score.value == nil && all.values.isEmpty && all.error == nil)
    }
  }

  @Test func whatMemoryCannotShowIsAnErrorAndIsFollowed() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self, memory: MemoryLimits(count: 10))
      try scores.set(-1, forKey: "a")
      let score = ObservedValue(scores.validate { $0 > 0 }, forKey: "a")
      await comes { score.error != nil }
      #expect(score.value == nil)
      try scores.set(3, forKey: "a")
      await comes { score.value == 3 }
      #expect(score.error == nil)
    }
  }

  @Test func aDefaultIsShownWhereNothingIs() async throws {
    try await withStore { store in
      let scores = try store.storage("scores", of: Int.self).defaulting(to: 7)
      let score = ObservedValue(scores, forKey: "a")
      await comes { score.value == 7 }
      try scores.set(1, forKey: "a")
      await comes { score.value == 1 }
      try scores.removeValue(forKey: "a")
      await comes { score.value == 7 }
      try scores.set(1, forKey: "a")
      await comes { score.value == 1 }
      try scores.removeAll()
      await comes { score.value == 7 }
    }
  }
}
