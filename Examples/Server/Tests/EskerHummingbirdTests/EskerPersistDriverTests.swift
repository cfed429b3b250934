import Esker
import EskerHummingbird
import Foundation
import Hummingbird
import Testing

/// What Hummingbird asks of a driver, over a log, with memory in front of one, and in memory alone.
struct EskerPersistDriverTests {
  struct Session: Codable, Equatable, Sendable {
    var user: String
    var visits = 0
  }

  enum Kind: CaseIterable {
    case log, hybrid, memory
  }

  private let time = TestClock()

  private func driver(_ kind: Kind) throws -> EskerPersistDriver<Storage<String, [UInt8]>> {
    var options = Options()
    options.clock = time.clock
    switch kind {
    case .log:
      return EskerPersistDriver(try LogStore.inMemory(options: options).storage("persist", transformer: .bytes))
    case .hybrid:
      let limits = MemoryLimits(count: 100)
      return EskerPersistDriver(
        try LogStore.inMemory(options: options).storage("persist", transformer: .bytes, memory: limits)
      )
    case .memory:
      return EskerPersistDriver(Storage(MemoryStorage<String, [UInt8]>(clock: time.clock)))
    }
  }

  @Test(arguments: Kind.allCases)
  func keepsValuesOfAnyType(_ kind: Kind) async throws {
    let persist = try driver(kind)
    #expect(try await persist.get(key: "anna", as: Session.self) == nil)
    try await persist.set(key: "anna", value: Session(user: "Anna"))
    try await persist.set(key: "count", value: 7)
    try await persist.set(key: "name", value: "Anna")
    #expect(try await persist.get(key: "anna", as: Session.self) == Session(user: "Anna"))
    #expect(try await persist.get(key: "count", as: Int.self) == 7)
    #expect(try await persist.get(key: "name", as: String.self) == "Anna")
    try await persist.set(key: "anna", value: Session(user: "Anna", visits: 1))
    #expect(try await persist.get(key: "anna", as: Session.self)?.visits == 1)
  }

  @Test(arguments: Kind.allCases)
  func createsOnce(_ kind: Kind) async throws {
    let persist = try driver(kind)
    try await persist.create(key: "anna", value: 1)
    await #expect(throws: PersistError.duplicate) { try await persist.create(key: "anna", value: 2) }
    #expect(try await persist.get(key: "anna", as: Int.self) == 1)
  }

  @Test(arguments: Kind.allCases)
  func whatHasExpiredIsNotThere(_ kind: Kind) async throws {
    let persist = try driver(kind)
    try await persist.create(key: "anna", value: 1, expires: .seconds(60))
    try await persist.set(key: "at once", value: 1, expires: .zero)
    #expect(try await persist.get(key: "at once", as: Int.self) == nil)
    time.advance(bySeconds: 59)
    #expect(try await persist.get(key: "anna", as: Int.self) == 1)
    time.advance(bySeconds: 1)
    #expect(try await persist.get(key: "anna", as: Int.self) == nil)
    try await persist.create(key: "anna", value: 2)
    #expect(try await persist.get(key: "anna", as: Int.self) == 2)
  }

  @Test(arguments: Kind.allCases)
  func setWithoutExpiryKeepsTheOneThatIsThere(_ kind: Kind) async throws {
    let persist = try driver(kind)
    try await persist.set(key: "anna", value: 1, expires: .seconds(60))
    time.advance(bySeconds: 20)
    try await persist.set(key: "anna", value: 2)
    let kept = try #require(try await persist.getWithTTL(key: "anna", as: Int.self))
    #expect(kept.object == 2 && kept.ttl == .seconds(40))
    try await persist.set(key: "anna", value: 3, expires: .seconds(90))
    #expect(try await persist.getWithTTL(key: "anna", as: Int.self)?.ttl == .seconds(90))
    try await persist.set(key: "bert", value: 1)
    let bert = try #require(try await persist.getWithTTL(key: "bert", as: Int.self))
    #expect(bert.ttl == nil)
  }

  @Test(arguments: Kind.allCases)
  func aValueOfAnotherTypeIsRefused(_ kind: Kind) async throws {
    let persist = try driver(kind)
    try await persist.set(key: "anna", value: Session(user: "Anna"))
    await #expect(throws: PersistError.invalidConversion) { try await persist.get(key: "anna", as: String.self) }
    try await persist.set(key: "number", value: "12345678")
    await #expect(throws: PersistError.invalidConversion) { try await persist.get(key: "number", as: Int.self) }
  }

  @Test(arguments: Kind.allCases)
  func removes(_ kind: Kind) async throws {
    let persist = try driver(kind)
    try await persist.set(key: "anna", value: 1)
    try await persist.remove(key: "anna")
    try await persist.remove(key: "anna")
    #expect(try await persist.get(key: "anna", as: Int.self) == nil)
  }

  @Test
  func outlivesTheProcess() async throws {
    let directory = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    for round in 0..<2 {
      let store = try LogStore(at: directory)
      let persist = EskerPersistDriver(try store.storage("persist", transformer: .bytes))
      if round == 0 { try await persist.set(key: "anna", value: Session(user: "Anna"), expires: .seconds(3600)) }
      let found = try #require(try await persist.getWithTTL(key: "anna", as: Session.self))
      #expect(found.object == Session(user: "Anna"))
      #expect(try #require(found.ttl) <= .seconds(3600))
      try store.close()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func removesWhatHasExpiredWhileItRuns() async throws {
    var options = Options()
    options.clock = time.clock
    let store = try LogStore.inMemory(options: options)
    let storage = try store.storage("persist", transformer: Transformer<[UInt8]>.bytes)
    let persist = EskerPersistDriver(storage, removingExpiredEvery: .milliseconds(1))
    try await persist.set(key: "anna", value: 1, expires: .seconds(60))
    try await persist.set(key: "bert", value: 1)
    time.advance(bySeconds: 60)
    #expect(try storage.isExpired(forKey: "anna"))
    let service = Task { try await persist.run() }
    while try storage.isExpired(forKey: "anna") { try await Task.sleep(for: .milliseconds(1)) }
    service.cancel()
    try await service.value
    #expect(try await persist.get(key: "bert", as: Int.self) == 1)
  }
}
