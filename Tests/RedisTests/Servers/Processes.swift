import Esker
import EskerRedis
import EskerRemote

/// The tiers that a process of its own would have: each with a client and memory.
enum Processes {
  static func tiers(_ store: RedisStore) async throws -> RemoteTiers {
    let tiers = RemoteTiers(store, named: "tests", prefix: "t:")
    try await tiers.start()
    return tiers
  }

  static func tiers(_ server: TestServer) async throws -> RemoteTiers {
    try await tiers(RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)))
  }

  static func tiers(_ cluster: TestCluster) async throws -> RemoteTiers {
    let seeds = cluster.members.map { RedisConfiguration.Address("127.0.0.1", port: $0.proxy.port) }
    return try await tiers(RedisCluster(RedisConfiguration(seeds, logger: TestClient.logger)))
  }

  static func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TestFailure("not within a minute: \(what)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

/// A text under another type, for a second view of the same keys.
struct Substitute: Sendable {
  var text: String

  static let transformer = Transformer<Substitute>(id: "test.substitute") {
    try Transformer<String>.standard.encode($0.text)
  } decode: { bytes throws in
    Substitute(text: try Transformer<String>.standard.decode(bytes))
  }
}
