import Esker
import EskerTestSupport
import Foundation
import Testing

/// Whoever stores a value knows what time it is: compositions and productions ask, and do not look at the machine's clock.
@Suite struct TierTimeTests {
  private let clock = FakeClock()
  private let stale = StorageRequest.Read(allowsExpired: true)

  private func memory(_ value: Int? = nil, expires seconds: Int = 0) throws -> MemoryStorage<String, Int> {
    let memory = MemoryStorage<String, Int>(clock: clock.storeClock)
    if let value { try memory.set(value, forKey: "a", expiry: .after(.seconds(seconds))) }
    return memory
  }

  @Test func aTwoTierReadPrefersWhatIsFreshByTheirClock() async throws {
    let first = try memory(1, expires: 1)
    let second = try memory(2, expires: 60)
    let storages: [PartialStorage<String, Int>] = [
      PartialStorage(first.fallback(with: second)),
      PartialStorage(first.combined(with: second)),
      PartialStorage(first.backed(by: second)),
    ]
    clock.advance(milliseconds: 2000)
    for storage in storages {
      #expect(try storage.read("a", stale)?.value == 2)
      #expect(try await storage.async.base.asyncRead("a", stale)?.value == 2)
      #expect(try await storage.async.entry(forKey: "a", allowExpired: true)?.value == 2)
    }
    // Both have expired: what is in front is as good.
    clock.advance(milliseconds: 60_000)
    for storage in storages { #expect(try storage.read("a", stale)?.value == 1) }
  }

  @Test func whatIsFreshByTheClockIsNotTakenForStale() async throws {
    // The machine's clock is years ahead.
    let both = try memory(1, expires: 60).fallback(with: memory(2))
    #expect(try both.read("a", stale)?.value == 1)
    #expect(try await both.async.entry(forKey: "a", allowExpired: true)?.value == 1)
  }

  @Test func aProductionGoesByTheStoragesClock() async throws {
    let log = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: log) }
    var options = Options()
    options.clock = clock.storeClock
    let store = try LogStore(at: log, options: options)
    let storage = try store.storage("s", of: Int.self)
    let other = try memory()
    let storages: [PartialStorage<String, Int>] = [
      PartialStorage(storage), PartialStorage(other), PartialStorage(storage.mapKeys { "m" + $0 }),
      PartialStorage(try memory().combined(with: memory())), PartialStorage(try memory().fallback(with: other)),
      PartialStorage(try memory().cached()),
      PartialStorage(try LogStorage(store, "h", key: String.self, of: Int.self).cached()),
    ]
    let production = StorageRequest.Production(lifetime: .seconds(60), serveStale: .seconds(3600))
    for storage in storages {
      #expect(try await storage.async.value(forKey: "k", production) { 1 } == 1)
      #expect(try await storage.async.value(forKey: "k", production) { 2 } == 1)
    }
    clock.advance(milliseconds: 120_000)
    for storage in storages { #expect(try await storage.async.value(forKey: "k", production) { 3 } == 3) }
    try store.close()
  }
}
