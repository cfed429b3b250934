import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Synchronization
import Testing

/// Tags over real servers, between clients that share nothing.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct TagTests {
  @Test func whatOneClientInvalidatesTheOtherServesNoLonger() async throws {
    let server = try TestServer()
    let (one, two) = (try await Processes.tiers(server), try await Processes.tiers(server))
    let mine: RemoteStorage<Int, String> = try one.storage("texts")
    let theirs: RemoteStorage<Int, String> = try two.storage("texts")
    for key in 0..<10 { try await mine.tagged(key % 2 == 0 ? "even" : "odd").async.set("\(key)", forKey: key) }
    for key in 0..<10 {
      try await Processes.until("\(key) is kept") {
        let found = try #require(try await theirs.find(key))
        #expect(found.value == "\(key)")
        return found.tier == .memory
      }
    }
    try await one.invalidate(tag: "even")
    for key in 0..<10 {
      let rest = key % 2 == 0 ? nil : "\(key)"
      // Who invalidated knows at once, others when they are told.
      #expect(try await mine.async.value(forKey: key) == rest)
      try await Processes.until("told of \(key)") { try await theirs.async.value(forKey: key) == rest }
    }
    // A tag that the server has lost, or that somebody removed.
    _ = server.cli("DEL", "t:#tag:odd")
    for storage in [mine, theirs] {
      try await Processes.until("odd is gone") { try await storage.async.value(forKey: 1) == nil }
    }
    try await theirs.tagged("odd").async.set("again", forKey: 1)
    try await Processes.until("told of the value") { try await mine.async.value(forKey: 1) == "again" }
    for storage in [mine, theirs] { #expect(try await storage.async.value(forKey: 3) == nil) }
    #expect(try await mine.tagged("odd").async.setIfAbsent("three", forKey: 3))
    await one.stop()
    await two.stop()
  }

  @Test func copiesInTheLogAreNotServedOnceATagHasChanged() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path + "/copies")
    let first = try await Processes.tiers(server)
    let texts: RemoteStorage<Int, String> = try first.storage("texts", log: log)
    for key in 0..<100 { try await texts.tagged(key < 50 ? "a" : "b").async.set("\(key)", forKey: key) }
    let keyspace = try log.keyspace("tests/t:texts")
    try await Processes.until("all are in the log") { try keyspace.count() == 100 }
    await first.stop()
    try log.close()
    let other = try await Processes.tiers(server)
    try await other.invalidate(tag: "a")
    let reopened = try LogStore(at: directory.path + "/copies")
    let second = try await Processes.tiers(server)
    let again: RemoteStorage<Int, String> = try second.storage("texts", log: reopened)
    for key in 0..<100 {
      let found = try await again.find(key)
      #expect(found?.value == (key < 50 ? nil : "\(key)"))
      if key >= 50 { #expect(found?.tier == .log) }
    }
    #expect(second.statistics.same == 100)
    await second.stop()
    await other.stop()
    try reopened.close()
  }

  /// Two clients of a cluster produce what a source has, which changes all the time; each change invalidates the tag.
  @Test func noReadIsOlderThanAnInvalidationByTheSameClient() async throws {
    let cluster = try TestCluster()
    let tally = Tally()
    let parties = [try await Processes.tiers(cluster), try await Processes.tiers(cluster)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for party in parties {
        let floor = Floor()
        let storage: RemoteStorage<Int, Int> = try party.storage("numbers")
        for reader in 0..<3 {
          group.addTask {
            let tagged = try storage.tagged("source")
            var key = reader
            while !tally.isOver.load(ordering: .acquiring) {
              key += 1
              let least = floor.value.load(ordering: .acquiring)
              let value = try await tagged.async.value(forKey: key % 20) {
                tally.produced.wrappingAdd(1, ordering: .relaxed)
                let value = tally.source.load(ordering: .acquiring)
                await Task.yield()
                return value
              }
              if value < least { Issue.record("read \(value) after \(least)") }
              if key % 64 == 0 { await Task.yield() }
            }
          }
        }
        group.addTask {
          for _ in 0..<200 {
            let number = tally.source.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            try await party.invalidate(tag: "source")
            floor.value.store(number, ordering: .releasing)
            try await Task.sleep(for: .milliseconds(2))
          }
          tally.isOver.store(true, ordering: .releasing)
        }
      }
      try await group.waitForAll()
    }
    print("produced \(tally.produced.load(ordering: .relaxed)) times")
    // In the end all agree, and nothing old is left.
    try await parties[0].invalidate(tag: "source")
    let number = tally.source.wrappingAdd(1, ordering: .relaxed).newValue
    for key in 0..<20 {
      for party in parties {
        let storage: RemoteStorage<Int, Int> = try party.storage("numbers")
        try await Processes.until("\(key) is the last") {
          try await storage.tagged("source").async.value(forKey: key) { number } == number
        }
      }
    }
    for party in parties { await party.stop() }
  }

  private final class Tally: Sendable {
    let source = Atomic(0)
    let isOver = Atomic(false)
    let produced = Atomic(0)
  }

  /// What the source had when the client's last invalidation was complete.
  private final class Floor: Sendable {
    let value = Atomic(0)
  }
}
