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
}
