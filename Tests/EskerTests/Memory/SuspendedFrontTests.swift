import Esker
import EskerPlatform
import EskerTestSupport
import Testing

/// What stands on a store goes on when others have written to it meanwhile.
@Suite struct SuspendedFrontTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func users(of store: LogStore) throws -> Storage<String, String> {
    try store.storage("users", memory: MemoryLimits(count: 100))
  }

  @Test func aFrontShowsWhatOthersWrote() throws {
    let store = try LogStore(at: path)
    let users = try users(of: store)
    for name in ["anna", "ben", "carla"] { try users.set("first", forKey: name) }
    #expect(try users.entry(forKey: "anna")?.origin == .memory)
    try store.suspend()
    let other = try LogStore(at: path)
    let theirs = try self.users(of: other)
    try theirs.set("second", forKey: "anna")
    try theirs.removeValue(forKey: "ben")
    try store.refresh()
    #expect(try users.value(forKey: "anna") == "second")
    #expect(try users.value(forKey: "ben") == nil)
    // Nothing is kept meanwhile, as the next one to be told of it could be the other process.
    #expect(try users.entry(forKey: "anna")?.origin == .log)
    try theirs.set("third", forKey: "anna")
    try other.close()
    #expect {
      try users.set("mine", forKey: "carla")
    } throws: { error in
      if case StorageError.store(.suspended(path)) = error { true } else { false }
    }
    try store.resume()
    #expect(try users.value(forKey: "anna") == "third")
    #expect(try users.entry(forKey: "anna")?.origin == .memory)
    try users.set("mine", forKey: "carla")
    #expect(try users.entry(forKey: "carla")?.origin == .memory)
  }

  /// Tasks that write wait for the store to be resumed, more of them than there are threads for tasks.
  @Test func tasksWaitForTheStoreToBeResumed() async throws {
    let store = try LogStore(at: path)
    let users = try users(of: store)
    try store.suspend(patience: .seconds(86_400))
    let tasks = (0..<100).map { number in Task { try await users.async.set("\(number)", forKey: "user \(number)") } }
    for _ in 0..<100 { await Task.yield() }
    #expect(try await users.async.value(forKey: "user 0") == nil)
    try store.resume()
    for task in tasks { try await task.value }
    #expect(try users.count() == 100)
    try store.close()
  }

  /// An update that changes nothing needs no turn of its own, but what it looks at does.
  @Test func updatesThatChangeNothingEnd() throws {
    var options = Options()
    options.sharing = .inTurn()
    let stores = try (0..<2).map { _ in try LogStore(at: path, options: options) }
    let all = try stores.map { try users(of: $0) }
    try all[0].set("first", forKey: "anna")
    try all[1].update(forKey: "anna") { _ in }
    try all[0].set("second", forKey: "anna")
    // Whatever this one has read last.
    try all[1].update(forKey: "anna") { if $0 != "second" { $0 = "lost" } }
    try stores[0].refresh()
    #expect(try all[0].value(forKey: "anna") == "second")
    for store in stores { try store.close() }
  }

  @Test func frontsOfStoresThatWriteInTurnAgree() throws {
    var options = Options()
    options.sharing = .inTurn()
    let stores = try (0..<3).map { _ in try LogStore(at: path, options: options) }
    let all = try stores.map { try users(of: $0) }
    for round in 0..<60 {
      let writer = round % 3
      try all[writer].set("\(round)", forKey: "anna")
      // Twice, so that memory would have it.
      for _ in 0..<2 {
        for (store, users) in zip(stores, all) {
          try store.refresh()
          #expect(try users.value(forKey: "anna") == "\(round)")
        }
      }
      try all[(round + 1) % 3].update(forKey: "count") { $0 = "\((Int($0 ?? "0") ?? 0) + 1)" }
    }
    for (store, users) in zip(stores, all) {
      try store.refresh()
      #expect(try users.value(forKey: "count") == "60")
    }
    for store in stores { try store.close() }
  }

  @Test func observersHearOfWhatOthersWrote() throws {
    let store = try LogStore(at: path)
    let users = try store.storage("users", of: String.self)
    try users.set("first", forKey: "anna")
    let heard = Heard()
    let token = try users.observe { heard.add("\($0)") }
    defer { token.cancel() }
    try store.suspend()
    let other = try LogStore(at: path)
    try other.storage("users", of: String.self).set("second", forKey: "anna")
    try other.close()
    try store.resume()
    try users.set("third", forKey: "anna")
    #expect(eventually { heard.count == 2 })
  }

  private final class Heard: Sendable {
    private let list = Guarded<[String]>([])

    var count: Int { list.withLock { $0.count } }

    func add(_ text: String) { list.withLock { $0.append(text) } }
  }
}
