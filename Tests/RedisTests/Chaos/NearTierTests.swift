import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Testing

/// What servers do to keys by themselves, with copies in memory and in a log.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct NearTierTests {
  private struct Process {
    let tiers: RemoteTiers
    let log: LogStore
    let values: RemoteStorage<String, String>

    init(_ server: TestServer, _ directory: String) async throws {
      tiers = RemoteTiers(
        try RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)),
        named: "tests",
        prefix: "t:"
      )
      try await tiers.start()
      log = try LogStore(at: directory)
      values = try tiers.storage(
        "values",
        of: String.self,
        memory: MemoryLimits(count: 500),
        log: log
      )
    }

    func stop() async throws {
      await tiers.stop()
      try log.close()
    }
  }

  private static func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TestFailure("not within a minute: \(what)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  @Test func aFlushEmptiesAllTiers() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let (one, two) = (
      try await Process(server, directory.appending("one")), try await Process(server, directory.appending("two"))
    )
    for _ in 0..<chaosRounds {
      for key in 0..<1_000 { try await one.values.async.set("\(key)", forKey: "\(key)") }
      for key in 0..<1_000 { #expect(try await two.values.async.value(forKey: "\(key)") == "\(key)") }
      server.cli("FLUSHALL")
      for process in [one, two] {
        try await Self.until("the flush is told") { try await process.values.async.value(forKey: "0") == nil }
        for key in 0..<1_000 { #expect(try await process.values.async.value(forKey: "\(key)") == nil, "key \(key)") }
      }
    }
    try await one.stop()
    try await two.stop()
  }

  @Test func evictedKeysAreGoneFromAllTiers() async throws {
    let server = try TestServer(["--maxmemory", "4mb", "--maxmemory-policy", "allkeys-random"])
    let directory = try TemporaryDirectory()
    let (one, two) = (
      try await Process(server, directory.appending("one")), try await Process(server, directory.appending("two"))
    )
    let filling = String(repeating: "x", count: 4_000)
    for round in 0..<chaosRounds {
      for key in 0..<300 { try await one.values.async.set("\(round)" + filling, forKey: "\(key)") }
      for key in 0..<300 { _ = try await two.values.async.value(forKey: "\(key)") }
      for key in 1_000..<1_800 { try await one.values.async.set(filling, forKey: "\(key)") }
      server.cli("CONFIG", "SET", "maxmemory", "0")
      // All changes before this one have been told when it is seen.
      try await one.values.async.set("\(round)", forKey: "9999")
      try await Self.until("the last change is told") { try await two.values.async.value(forKey: "9999") == "\(round)" }
      var evicted = 0
      for key in 0..<300 {
        // Reading evicts nothing.
        let isThere = !server.cli("EXISTS", "t:values:\(key)").contains("0")
        if !isThere { evicted += 1 }
        for process in [one, two] {
          let value = try await process.values.async.value(forKey: "\(key)")
          #expect((value != nil) == isThere, "key \(key): \(value?.prefix(10) ?? "nil")")
        }
      }
      server.cli("CONFIG", "SET", "maxmemory", "4mb")
      print("\(evicted) of 300 evicted")
      #expect(evicted > 0)
    }
    try await one.stop()
    try await two.stop()
  }

  @Test func expiredValuesAreServedByNoTier() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let one = try await Process(server, directory.appending("one"))
    var two = try await Process(server, directory.appending("two"))
    for _ in 0..<chaosRounds {
      // The server does not remove what has expired, nor tell it.
      server.cli("DEBUG", "SET-ACTIVE-EXPIRE", "0")
      for key in 0..<200 { try await one.values.async.set("short", forKey: "\(key)", expiry: .after(.seconds(2))) }
      let end = ContinuousClock.now + .seconds(2)
      for key in 0..<200 { _ = try await two.values.async.value(forKey: "\(key)") }
      try await Task.sleep(until: end + .milliseconds(5))
      for process in [one, two] {
        for key in 0..<200 { #expect(try await process.values.async.value(forKey: "\(key)") == nil) }
      }
      try await two.stop()
      two = try await Process(server, directory.appending("two"))
      for key in 0..<200 { #expect(try await two.values.async.value(forKey: "\(key)") == nil) }
      server.cli("DEBUG", "SET-ACTIVE-EXPIRE", "1")
    }
    try await one.stop()
    try await two.stop()
  }
}
