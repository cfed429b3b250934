import Esker
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerRemote

/// What is served while the remote store cannot be read.
@Suite struct FailSafeTests {
  let server = TinyServer()
  let options: RemoteOptions = {
    var options = RemoteOptions()
    options.serveStale = .seconds(3_600)
    return options
  }()

  private func asked(_ store: TinyStore) -> Int { store.count("get") + store.count("check") }

  @Test func aKeyThatFailedIsTriedOnceASecond() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", options: options)
    for key in 1...2 { try await texts.async.set("\(key)", forKey: key) }
    store.raise()
    store.trust(for: .seconds(1_000))
    store.setFailure(.notExecuted("LOADING"))
    for second in 1...3 {
      for _ in 0..<20 { #expect(try await texts.find(1)?.isStale == true) }
      #expect(asked(store) == second)
      server.clock.advance(milliseconds: 1_000)
    }
    // One key says nothing of another, and what has no stale value is tried each time.
    #expect(try await texts.find(2)?.isStale == true)
    #expect(asked(store) == 4)
    for _ in 0..<2 { await #expect(throws: StorageError.self) { try await texts.find(3) } }
    #expect(asked(store) == 6)
    // It answers again: after the pause, what is there is served.
    store.setFailure(nil)
    #expect(try await texts.find(2)?.isStale == true)
    server.clock.advance(milliseconds: 1_000)
    for key in 1...2 { #expect(try await texts.find(key)?.isStale == false) }
  }

  @Test func whileAReadTakesTooLongOthersDoNotWait() async throws {
    let (tiers, store) = try await server.makeTiers()
    var options = options
    options.softTimeout = .milliseconds(20)
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", options: options)
    try await texts.async.set("a", forKey: 1)
    store.raise()
    store.trust(for: .seconds(1_000))
    server.setSilent(true)
    #expect(try await texts.find(1)?.isStale == true)
    // Not even the soft timeout: with it, these would take a quarter of an hour.
    for _ in 0..<50_000 { #expect(try await texts.find(1)?.isStale == true) }
    #expect(asked(store) == 1)
    server.setSilent(false)
    server.clock.advance(milliseconds: 1_000)
    #expect(try await texts.find(1)?.isStale == false)
  }

  @Test func copiesInTheLogAreServedAtOnceWhereThereIsNoLease() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    do {
      let (tiers, _) = try await server.makeTiers()
      let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log, options: options)
      for key in 0..<10 { try await texts.async.set("\(key)", forKey: key) }
      let keyspace = try log.keyspace("test/p:texts")
      #expect(try await eventually { try keyspace.count() == 10 })
      // Known to be current until the lease ends, though memory has lost it.
      server.clock.advance(milliseconds: 100_000)
      texts.removeAllInMemory()
      tiers.core.suspended(0..<1)
      server.clock.advance(milliseconds: 7_000)
      let found = try #require(try await texts.find(1))
      #expect(found.tier == .log && found.isStale && found.age == .seconds(7))
      await tiers.stop()
    }
    let (tiers, store) = try await server.makeTiers(isLeased: false)
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log, options: options)
    for key in 0..<10 {
      let found = try #require(try await texts.find(key))
      // All that is known after a restart is when it was written.
      #expect(found.value == "\(key)" && found.tier == .log && found.isStale && found.age == .seconds(107))
    }
    #expect(asked(store) == 0)
    server.clock.advance(milliseconds: 3_600_000)
    store.setFailure(.unavailable(until: nil))
    await #expect(throws: StorageError.self) { try await texts.find(1) }
    await tiers.stop()
    try log.close()
  }

  @Test func afterARestartNothingIsYoungerThanTheLastLease() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let begin = server.clock.wallMilliseconds()
    let leases = try LogStorage(log, "test/p:#lease", key: String.self, transformer: Transformer<Int64>.littleEndian)
    do {
      let (tiers, store) = try await server.makeTiers()
      let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: options)
      // A writer whose clock is half a minute ahead.
      let version = RemoteVersion(time: UInt64(begin + 30_000), count: 0, writer: 1)
      let value = try Transformer<String>.standard.encode("a").withBytes {
        RemoteValue(RemoteEnvelope(version: version), payload: $0)
      }
      server.put(value, "texts:1")
      #expect(try await texts.async.value(forKey: "1") != nil)
      let keyspace = try log.keyspace("test/p:texts")
      #expect(try await eventually { try keyspace.count() == 1 })
      // Leases are noted, at most one a second.
      for _ in 0..<40 {
        store.trust(for: .seconds(1_000_000))
        server.clock.advance(milliseconds: 100)
      }
      #expect(try await eventually { try leases.value(forKey: "lease") == begin + 3_000 })
      await tiers.stop()
    }
    server.clock.advance(milliseconds: 10_000)
    let (tiers, _) = try await server.makeTiers(isLeased: false)
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: options)
    let found = try #require(try await texts.find("1"))
    #expect(found.isStale && found.age == .seconds(11))
    await tiers.stop()
    try log.close()
  }
}
