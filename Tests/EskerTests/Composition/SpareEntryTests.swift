import Esker
import EskerTestSupport
import Testing

/// `entry(forKey:)` has the version, and so asks what has versions; what answers `value(forKey:)` then answers it too, without one.
@Suite struct SpareEntryTests {
  private let back = DictionaryStorage(["k": 1], name: "back")

  private func entries<S: UpdatableStorage<String, Int>>(
    of storage: S,
    allowExpired: Bool = false
  ) async throws -> [Entry<Int>?] {
    [
      try storage.entry(forKey: "k", allowExpired: allowExpired),
      try await storage.async.entry(forKey: "k", allowExpired: allowExpired),
    ]
  }

  /// That an update does not begin with what has no version, nor store it.
  private func expectNoUpdate(of storage: some UpdatableStorage<String, Int>) async {
    #expect(throws: StorageError.self) { try storage.update(forKey: "k") { $0 = 9 } }
    await #expect(throws: StorageError.self) { try await storage.async.update(forKey: "k") { $0 = 9 } }
  }

  @Test func theFrontAnswersWhereTheBackFails() async throws {
    let tiers: [PartialStorage<String, Int>] = [
      PartialStorage(MemoryStorage<String, Int>().combined(with: back)),
      PartialStorage(MemoryStorage<String, Int>().combined(with: back, setStrategy: .frontFirst)),
      PartialStorage(MemoryStorage<String, Int>().combined(with: back).mapKeys { $0 }),
    ]
    for storage in tiers {
      #expect(try storage.value(forKey: "k") == 1)
      for entry in try await entries(of: storage) { #expect(entry?.version == SequenceNumber(rawValue: 0)) }
    }
    back.refuse(reads: true)
    for storage in tiers {
      #expect(try storage.value(forKey: "k") == 1)
      for entry in try await entries(of: storage) {
        #expect(entry?.value == 1 && entry?.origin == .memory && entry?.version == nil)
      }
      await expectNoUpdate(of: storage)
      #expect(throws: StorageError.self) { try storage.entry(forKey: "other") }
    }
  }

  @Test func memoryAnswersWhereWhatIsBehindFails() async throws {
    let tiers = MemoryStorage<String, Int>().combined(with: back)
    let cached = tiers.cached()
    #expect(try tiers.value(forKey: "k") == 1)
    // From the front of the tiers, which has no version.
    #expect(try cached.value(forKey: "k") == 1)
    tiers.front.trim(toCount: 0)
    back.refuse(reads: true)
    for entry in try await entries(of: cached) {
      #expect(entry?.value == 1 && entry?.origin == .memory && entry?.version == nil)
    }
    await expectNoUpdate(of: cached)
  }

  @Test func theFrontAnswersWhereTheBackHasNothing() async throws {
    let both = MemoryStorage<String, Int>().combined(with: back)
    #expect(try both.value(forKey: "k") == 1)
    try back.removeAll()
    #expect(try both.value(forKey: "k") == 1)
    for entry in try await entries(of: both) { #expect(entry?.value == 1 && entry?.version == nil) }
    // For a write on a condition there is nothing.
    #expect(try both.compareAndSet(2, forKey: "k", ifVersion: nil) != nil)
  }

  @Test func whatHasExpiredInFrontIsServedWhereItIsWanted() async throws {
    let clock = FakeClock()
    let front = MemoryStorage<String, Int>(clock: clock.storeClock)
    let both = front.combined(with: back)
    try front.set(1, forKey: "k", expiry: .after(.seconds(1)))
    try back.removeAll()
    clock.advance(milliseconds: 2000)
    for entry in try await entries(of: both, allowExpired: true) {
      #expect(entry?.value == 1 && entry?.isExpired(at: both.time) == true)
    }
    back.refuse(reads: true)
    for entry in try await entries(of: both, allowExpired: true) { #expect(entry?.value == 1) }
    // Of the two that have expired, the back's can be changed.
    back.refuse()
    try back.set(2, forKey: "k", expiry: .at(WallTime(millisecondsSince1970: 1)))
    for entry in try await entries(of: both, allowExpired: true) { #expect(entry?.value == 2 && entry?.version != nil) }
  }

  @Test func aFallbackAndADefaultAnswerAsTheyDoForAValue() async throws {
    let other = DictionaryStorage(["k": 2], name: "other")
    let storages = [
      PartialStorage(back.fallback(with: other)), PartialStorage(back.fallback { _, _ in 2 }),
      PartialStorage(back.fallback(with: other).cached()),
    ]
    back.refuse(reads: true)
    for storage in storages {
      #expect(try storage.value(forKey: "k") == 2)
      for entry in try await entries(of: storage) { #expect(entry?.value == 2 && entry?.version == nil) }
      await expectNoUpdate(of: storage)
    }
  }
}
