import EskerTestSupport
import Testing

@testable import Esker

/// What a version promises: a write on the condition that it is still there changes what was read, and nothing else.
@Suite struct VersionTests {
  @Test func readDuringAWriteHasNoVersionThatHolds() throws {
    let content = DictionaryStorage(["a": 1])
    let own = Collected<CustomStorage<String, Int>>()
    let seen = Collected<Entry<Int>?>()
    let storage = CustomStorage<String, Int>(
      name: "c",
      get: { try content.value(forKey: $0) },
      set: { value, key in
        seen.add(try own.all.first?.entry(forKey: key))
        try content.set(value ?? 0, forKey: key)
      }
    )
    own.add(storage)
    try storage.set(10, forKey: "a")
    let before = try #require(seen.all.first ?? nil)
    #expect(before.value == 1)
    #expect(try storage.compareAndSet(99, forKey: "a", ifVersion: before.version) == nil)
    #expect(content.all == ["a": 10])
    // What the write answered with is the version of what it stored.
    let version = try storage.entry(forKey: "a")?.version
    let next = try #require(try storage.compareAndSet(11, forKey: "a", ifVersion: version))
    #expect(try storage.entry(forKey: "a")?.version == next)
  }

  @Test func removalByAnUpdateTakesPlaceWhereMemoryHasNoVersion() async throws {
    // Of the test's storage, what is there from the beginning has the version 0.
    let zero = DictionaryStorage(["a": 1, "b": 2])
    let cached = zero.cached()
    #expect(try cached.values(forKeys: ["a", "b"]) == [1, 2])
    try cached.update(forKey: "a") { $0 = nil }
    try await cached.async.update(forKey: "b") { $0 = nil }
    #expect(zero.all.isEmpty)
    let front = MemoryStorage<String, Int>()
    let back = MemoryStorage<String, Int>()
    let both = front.combined(with: back)
    let all = both.cached()
    for key in ["a", "b"] {
      try both.set(1, forKey: key)
      // From the front, which has no versions of the back.
      #expect(try all.value(forKey: key) == 1)
      #expect(try all.entry(forKey: key)?.version == back.entry(forKey: key)?.version)
    }
    try all.update(forKey: "a") { $0 = nil }
    try await all.async.update(forKey: "b") { $0 = nil }
    #expect(try back.count() == 0 && front.count() == 0)
    #expect(try all.value(forKey: "a") == nil)
  }

  @Test func everyEntryOfWhatCanBeUpdatedHasItsVersion() async throws {
    let back = MemoryStorage<String, Int>()
    let both = MemoryStorage<String, Int>().combined(with: back)
    try both.set(1, forKey: "a")
    let version = try #require(try back.entry(forKey: "a")?.version)
    #expect(try both.entry(forKey: "a")?.version == version)
    #expect(try await both.async.entry(forKey: "a")?.version == version)
    #expect(try both.singleKey("a").entry()?.version == version)
    #expect(try await both.async.compareAndSet(2, forKey: "a", ifVersion: version) != nil)
  }

  @Test func extensionOfALifeIsReckonedAtAnyTime() async {
    await #expect(processExitsWith: .success) {
      let action = StorageRequest.Write<Int>.Action.extend
      precondition(!action.changes(5, to: 10, .min))
      precondition(!action.changes(.min, to: .max, 0))
      precondition(action.changes(5, to: 100, 0) && !action.changes(95, to: 100, 0))
    }
  }
}
