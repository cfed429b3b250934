import Esker
import EskerTestSupport
import Foundation
import Testing

/// Calls of typed storages that the list of operations does not show whole: expired values, batches, and what is not written.
@Suite struct TypedCallTests {
  private let clock = FakeClock()

  private func inAStore(_ body: (LogStore) throws -> Void) throws {
    let path = temporaryPath()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Options()
    options.clock = clock.storeClock
    let store = try LogStore(at: path, options: options)
    try body(store)
    try store.close()
  }

  @Test(arguments: [false, true]) func expiredValuesAreShownWhereAskedFor(inMemory: Bool) throws {
    try inAStore { store in
      let log = try store.storage("n", of: Int.self, memory: inMemory ? MemoryLimits(count: 10) : nil)
      try log.set(1, forKey: "a", expiry: .after(.seconds(1)))
      #expect(try log.value(forKey: "a") == 1 && !log.isExpired(forKey: "a"))
      clock.advance(milliseconds: 1000)
      #expect(try log.value(forKey: "a") == nil && log.isExpired(forKey: "a"))
      let entry = try #require(try log.entry(forKey: "a", allowExpired: true))
      #expect(entry.value == 1 && entry.version != nil)
      // It is shown, and not brought back.
      #expect(try log.value(forKey: "a") == nil && !log.contains("a"))
      try log.removeExpired()
      #expect(try log.entry(forKey: "a", allowExpired: true) == nil && !log.isExpired(forKey: "a"))
      #expect(try log.entry(forKey: "never", allowExpired: true) == nil)
    }
  }

  @Test(arguments: [false, true]) func aSlidingReadExtendsTheLifeAndIsNotAlwaysAWrite(inMemory: Bool) throws {
    try inAStore { store in
      let log = try store.storage("n", of: Int.self, memory: inMemory ? MemoryLimits(count: 10) : nil)
      try log.set(1, forKey: "a", expiry: .after(.seconds(8)))
      let written = store.lastSequence
      #expect(try log.value(forKey: "a", extendingBy: .seconds(8)) == 1)
      #expect(store.lastSequence == written)
      clock.advance(milliseconds: 4000)
      #expect(try log.value(forKey: "a", extendingBy: .seconds(8)) == 1)
      #expect(store.lastSequence > written)
      clock.advance(milliseconds: 7000)
      #expect(try log.value(forKey: "a") == 1)
      clock.advance(milliseconds: 1000)
      #expect(try log.value(forKey: "a", extendingBy: .seconds(8)) == nil)
      try log.set(2, forKey: "b")
      #expect(try log.value(forKey: "b", extendingBy: .seconds(8)) == 2)
      #expect(try log.entry(forKey: "b")?.expiry == .never)
    }
  }

  @Test func memoryExtendsTheLifeAsWell() throws {
    let memory = MemoryStorage<String, Int>(clock: clock.storeClock)
    try memory.set(1, forKey: "a", expiry: .after(.seconds(8)))
    clock.advance(milliseconds: 4000)
    #expect(try memory.value(forKey: "a", extendingBy: .seconds(8)) == 1)
    clock.advance(milliseconds: 7000)
    #expect(try memory.value(forKey: "a") == 1 && memory.count() == 1)
    clock.advance(milliseconds: 1000)
    #expect(try memory.entry(forKey: "a", allowExpired: true)?.value == 1)
    #expect(try memory.value(forKey: "a") == nil && memory.count() == 0 && memory.keys() == [])
  }

  @Test func aBatchChangesSeveralTypesOrNone() throws {
    struct Refused: Error {}
    try inAStore { store in
      let users = try store.storage("users", of: String.self, memory: MemoryLimits(count: 10))
      let scores = try store.storage("scores", key: Int.self, of: Double.self)
      try users.set("old", forKey: "anna")
      #expect(throws: Refused.self) {
        try store.write { batch in
          try batch.set("new", forKey: "anna", in: users)
          try batch.set(1.5, forKey: 7, in: scores)
          throw Refused()
        }
      }
      #expect(try users.value(forKey: "anna") == "old" && scores.value(forKey: 7) == nil)
      try store.write { batch in
        try batch.set("new", forKey: "anna", in: users)
        try batch.set(1.5, forKey: 7, in: scores, expiry: .after(.seconds(1)))
      }
      // Memory ahead of the one was told.
      #expect(try users.value(forKey: "anna") == "new" && scores.value(forKey: 7) == 1.5)
      guard
        case .unsupported = failure(of: {
          try store.write { batch in try batch.set(1, forKey: "a", in: MemoryStorage<String, Int>()) }
        })
      else {
        Issue.record("memory was written in a batch")
        return
      }
    }
  }

  @Test(arguments: [false, true]) func anUpdateThatChangesNothingWritesNothing(inMemory: Bool) throws {
    try inAStore { store in
      let log = try store.storage("n", of: Int.self, memory: inMemory ? MemoryLimits(count: 10) : nil)
      try log.set(1, forKey: "a")
      let written = store.lastSequence
      try log.update(forKey: "a") { _ in }
      #expect(store.lastSequence == written)
      try log.update(forKey: "b") { _ in }
      #expect(store.lastSequence == written)
      try log.update(forKey: "a") { $0 = nil }
      #expect(try store.lastSequence > written && log.value(forKey: "a") == nil)
    }
  }

  /// A hit has the version of what is behind, so that it can be made a condition.
  @Test func memoryKeepsVersions() throws {
    try inAStore { store in
      let log = try LogStorage(store, "n", key: String.self, of: Int.self)
      let front = HybridStorage(log)
      try front.set(1, forKey: "a")
      let entry = try #require(try front.entry(forKey: "a"))
      #expect(try entry.origin == .memory && entry.version == log.entry(forKey: "a")?.version)
      try log.set(2, forKey: "a")
      #expect(try front.compareAndSet(3, forKey: "a", ifVersion: entry.version) == nil)
      #expect(try front.value(forKey: "a") == 2)
      #expect(try front.compareAndSet(3, forKey: "a", ifVersion: front.entry(forKey: "a")?.version) != nil)
    }
  }

  @Test func storagesAreFoundByContext() throws {
    try inAStore { store in
      let byContext: Storage<Int, String> = try store.storage("boards")
      let byContextToo: Storage<Int, String> = try store.storage("boards", of: String.self)
      let byKey = try store.storage("boards", key: Int.self, of: String.self)
      let texts: Storage<String, Int> = try store.storage("scores")
      let byTransformer: Storage<Int, String> = try store.storage("boards", transformer: .utf8)
      #expect(try byTransformer.value(forKey: 1) == nil)
      try byContext.set("x", forKey: 1)
      #expect(try byContextToo.value(forKey: 1) == "x" && byKey.value(forKey: 1) == "x")
      #expect(try texts.count() == 0)
    }
  }

  @Test func aBackThatKeepsExpiriesIsGivenThemAndOneThatDoesNotRefuses() throws {
    let kept = Collected<(String, Int?, Expiry)>()
    let server = CustomStorage<String, Int>(
      name: "server",
      read: { key in
        kept.all.last { $0.0 == key }.flatMap { found in found.1.map { Entry($0, origin: .back, expiry: found.2) } }
      },
      write: { key, value, expiry in kept.add((key, value, expiry)) }
    )
    let end = Expiry.at(WallTime(millisecondsSince1970: 9_000_000_000_000))
    try server.set(1, forKey: "a", expiry: end)
    #expect(try server.entry(forKey: "a")?.expiry == end)
    #expect(try server.touch("a", expiry: .never) && server.entry(forKey: "a")?.expiry == .never)
    let plain = CustomStorage<String, Int>(name: "plain", get: { _ in nil }, set: { _, _ in })
    guard case .unsupported("keep an expiry", "plain") = failure(of: { try plain.set(1, forKey: "a", expiry: end) })
    else {
      Issue.record("an expiry was dropped")
      return
    }
  }
}
