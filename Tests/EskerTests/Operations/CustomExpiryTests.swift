import Esker
import EskerTestSupport
import Foundation
import Testing

/// A back of the caller's own that keeps expiries is told instants: what counts from a write, it could not keep.
@Suite struct CustomExpiryTests {
  private let told = Collected<Expiry>()
  private let clock = FakeClock()
  private let start: Int64 = 1_700_000_000_000

  /// A server that keeps the entry that it is given.
  private func remote(_ name: String = "remote") -> CustomStorage<String, Int> {
    let kept = DictionaryStorage<String, Int>()
    return CustomStorage(name: name, clock: clock.storeClock) { key in
      try kept.entry(forKey: key)
    } write: { [told] key, value, expiry in
      told.add(expiry)
      guard let value else { return _ = try kept.removeValue(forKey: key) }
      try kept.set(value, forKey: key, expiry: expiry)
    }
  }

  private func after(_ seconds: Int64) -> Expiry { .at(WallTime(millisecondsSince1970: start + seconds * 1000)) }

  @Test func itIsToldWhenAValueExpires() async throws {
    let remote = remote()
    let second = Expiry.after(.seconds(1))
    try remote.set(1, forKey: "a", expiry: second)
    try remote.update(forKey: "a", expiry: .after(.seconds(2))) { $0 = 2 }
    try remote.touch("a", expiry: .after(.seconds(3)))
    _ = try remote.value(forKey: "a", extendingBy: .seconds(4))
    try remote.setIfAbsent(1, forKey: "b", expiry: second)
    try await remote.async.set(1, forKey: "a", expiry: second)
    try await remote.async.update(forKey: "a", expiry: .after(.seconds(2))) { $0 = 3 }
    _ = try await remote.async.value(forKey: "c", expiry: second) { 5 }
    #expect(told.all == [1, 2, 3, 4, 1, 1, 2, 1].map(after))
    #expect(try remote.entry(forKey: "a")?.expiry == after(2))
    // What a write answers with goes to the tiers in front.
    let receipt = try remote.write("a", StorageRequest.Write(.set(1), expiry: second))
    #expect(receipt.expiry == after(1))
  }

  @Test func soItIsInEachComposition() throws {
    let minute = Expiry.after(.seconds(60))
    let memory = MemoryStorage<String, Int>(clock: clock.storeClock)
    let storages: [PartialStorage<String, Int>] = [
      PartialStorage(remote().cached()),
      PartialStorage(memory.combined(with: remote())),
      PartialStorage(memory.combined(with: remote(), setStrategy: .frontFirst)),
      PartialStorage(memory.combined(with: remote(), setStrategy: .backOnly)),
      PartialStorage(memory.pushing(to: remote())),
      PartialStorage(remote().backed(by: memory)),
      PartialStorage(remote().fallback(with: memory)),
      PartialStorage(
        remote().mapValues {
          $0
        } from: {
          $0
        }
      ),
    ]
    for storage in storages {
      try storage.set(1, forKey: "a", expiry: minute)
      try storage.touch("a", expiry: .after(.seconds(90)))
    }
    let pair = zip(remote(), remote())
    try pair.set((1, 2), forKey: "a", expiry: minute)
    #expect(told.all == storages.flatMap { _ in [after(60), after(90)] } + [after(60), after(60)])
  }

  @Test func aValueThatExpiresThereExpiresInFrontOfIt() throws {
    let cached = remote().cached()
    try cached.set(1, forKey: "a", expiry: .after(.seconds(1)))
    #expect(try cached.value(forKey: "a") == 1)
    #expect(try cached.entry(forKey: "a")?.origin == .memory)
    clock.advance(milliseconds: 2000)
    // The server says what it has; memory no longer answers for it.
    #expect(try cached.entry(forKey: "a")?.origin == .back)
    #expect(try cached.entry(forKey: "a")?.isExpired(at: cached.time) == true)
  }
}
