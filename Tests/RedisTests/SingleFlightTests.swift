import Esker
import EskerRedis
import EskerRemote
import Foundation
import Synchronization
import Testing

/// Processes that agree on who produces a value, over real servers.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct SingleFlightTests {
  static func options(life: Duration = .seconds(10)) -> RemoteOptions {
    var options = RemoteOptions()
    options.singleFlight = RemoteSingleFlight()
    options.singleFlight?.lockLifetime = life
    return options
  }

  /// How often each key was produced.
  private final class Tally: Sendable {
    private let counts = Mutex([Int: Int]())
    private let isOpen = Atomic(false)

    var all: [Int: Int] { counts.withLock { $0 } }
    var total: Int { all.values.reduce(0, +) }

    func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }

    func make(_ key: Int, after delay: Duration) async throws -> String {
      let count = counts.withLock { counts in
        counts[key, default: 0] += 1
        return counts[key, default: 0]
      }
      try await Task.sleep(for: delay)
      return "\(key) made \(count)"
    }

    /// As the above, once it is let go.
    func makeWhenOpen(_ key: Int) async throws -> String {
      let value = try await make(key, after: .zero)
      while !isOpen.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
      return value
    }
  }

  @Test func eachKeyIsProducedOnceByTwoHundredTasksOfFourClients() async throws {
    let cluster = try TestCluster()
    var options = Self.options(life: .seconds(60))
    // However slow the machine is, no value is produced without a lock.
    options.singleFlight?.lockTimeout = .seconds(60)
    options.hardTimeout = .seconds(60)
    var tiers: [RemoteTiers] = []
    for _ in 0..<4 { tiers.append(try await Processes.tiers(cluster)) }
    let keys = 0..<60
    let tally = Tally()
    let begin = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        let texts: RemoteStorage<Int, String> = try tiers[number % 4].storage("texts", options: options)
        group.addTask {
          var random = SystemRandomNumberGenerator()
          for key in keys.shuffled(using: &random) {
            let value = try await texts.async.value(forKey: key) { try await tally.make(key, after: .milliseconds(30)) }
            #expect(value == "\(key) made 1")
          }
        }
      }
      try await group.waitForAll()
    }
    let statistics = tiers.map(\.statistics)
    let awaited = statistics.reduce(0) { $0 + $1.awaited }
    print(
      "\(tally.total) productions of \(keys.count) keys for 12,000 calls in \(ContinuousClock.now - begin);",
      "by each process \(statistics.map(\.productions)), awaited \(awaited)"
    )
    #expect(tally.all == Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }))
    #expect(statistics.reduce(0) { $0 + $1.productions } == UInt64(keys.count))
    try await Processes.until("all locks are gone") {
      cluster.members.allSatisfy { !$0.server.cli("KEYS", "*#lock*").contains("#lock") }
    }
    for one in tiers { await one.stop() }
  }

  /// Two processes on one server, each by a proxy of its own; the first produces and the second waits.
  private func run(
    life: Duration,
    _ cut: (Proxy, RemoteStorage<Int, String>, Tally) async throws -> Void
  ) async throws -> (first: Result<String, any Error>, second: String, tally: Tally) {
    let server = try TestServer()
    let proxies = try (0..<2).map { _ in try Proxy(to: server.port) }
    var tiers: [RemoteTiers] = []
    for proxy in proxies {
      tiers.append(
        try await Processes.tiers(
          RedisServer(RedisConfiguration([.init("127.0.0.1", port: proxy.port)], logger: TestClient.logger))
        )
      )
    }
    let texts: [RemoteStorage<Int, String>] = try tiers.map {
      try $0.storage("texts", options: Self.options(life: life))
    }
    let tally = Tally()
    let first = Task { try await texts[0].async.value(forKey: 1) { try await tally.makeWhenOpen(1) } }
    try await Processes.until("it produces") { tally.total == 1 }
    let second = Task { try await texts[1].async.value(forKey: 1) { try await tally.makeWhenOpen(1) } }
    try await Processes.until("the other one has asked for the lock") {
      server.cli("INFO", "commandstats").contains("cmdstat_getrange")
    }
    try await cut(proxies[0], texts[0], tally)
    let value = try await second.value
    let result = await first.result
    proxies[0].heal()
    try await Processes.until("both have the value") {
      (try? await texts[0].async.value(forKey: 1)) == value
    }
    try await Processes.until("no lock is left") { !server.cli("KEYS", "*#lock*").contains("#lock") }
    for one in tiers { await one.stop() }
    return (result, value, tally)
  }

  @Test func aProducerWhoseConnectionIsCutStoresAllTheSame() async throws {
    let (first, second, tally) = try await run(life: .seconds(60)) { proxy, texts, tally in
      proxy.cut()
      try await Processes.until("it notices") { (try? await texts.async.contains(2)) == nil }
      proxy.heal()
      try await Processes.until("it is connected again") { (try? await texts.async.contains(2)) != nil }
      tally.open()
    }
    #expect(try first.get() == "1 made 1" && second == "1 made 1" && tally.total == 1)
  }

  @Test func whereTheProducerStaysCutOffAnotherTakesOver() async throws {
    let begin = ContinuousClock.now
    let (first, second, tally) = try await run(life: .seconds(1)) { proxy, _, tally in
      proxy.cut()
      try await Processes.until("another produces") { tally.total == 2 }
      print("another produced after \(ContinuousClock.now - begin)")
      tally.open()
    }
    #expect(second == "1 made 2" && tally.total == 2)
    #expect(throws: (any Error).self) { try first.get() }
  }
}
