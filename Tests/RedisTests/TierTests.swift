import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Synchronization
import Testing

/// Typed storages with memory and a log in front, over real servers: what a program uses.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct TierTests {
  struct User: Codable, Hashable, Sendable {
    var name: String
    var visits = 0
  }

  @Test func whatOneProcessWritesAnotherServesFromMemoryUntilItChanges() async throws {
    let server = try TestServer()
    let (one, two) = (try await Processes.tiers(server), try await Processes.tiers(server))
    let mine = try one.storage("users", of: User.self)
    let theirs = try two.storage("users", of: User.self)
    try await mine.async.set(User(name: "Anna"), forKey: "anna")
    #expect(try await theirs.find("anna")?.tier == .remote)
    // The write may be told after the read that found it.
    try await Processes.until("it is served from memory") {
      let copy = try #require(try await theirs.find("anna"))
      #expect(!copy.isStale && copy.value == User(name: "Anna"))
      return copy.tier == .memory
    }
    try await mine.async.update(forKey: "anna") { $0?.visits += 1 }
    #expect(try await mine.find("anna")?.value.visits == 1)
    try await Processes.until("the change is told") { try await theirs.async.value(forKey: "anna")?.visits == 1 }
    try await theirs.async.removeValue(forKey: "anna")
    #expect(try await theirs.async.value(forKey: "anna") == nil)
    try await Processes.until("the removal is told") { try await mine.async.value(forKey: "anna") == nil }
    #expect(one.statistics.rolledBack == 0 && two.statistics.rolledBack == 0)
    await one.stop()
    await two.stop()
  }

  @Test func copiesInTheLogAreCheckedAfterARestartAndNoneIsStale() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path + "/copies")
    let writer = try await Processes.tiers(server)
    let written = try writer.storage("users", of: User.self)
    let first = try await Processes.tiers(server)
    let users = try first.storage("users", of: User.self, log: log)
    for number in 0..<200 { try await written.async.set(User(name: "\(number)"), forKey: "\(number)") }
    for number in 0..<200 {
      try await Processes.until("\(number) is kept") {
        let found = try #require(try await users.find("\(number)"))
        #expect(found.value.name == "\(number)")
        return found.tier == .memory
      }
    }
    await first.stop()
    try log.close()
    for number in 0..<20 { try await written.async.set(User(name: "changed"), forKey: "\(number * 10)") }
    let reopened = try LogStore(at: directory.path + "/copies")
    let second = try await Processes.tiers(server)
    let again = try second.storage("users", of: User.self, log: reopened)
    for number in 0..<200 {
      let found = try #require(try await again.find("\(number)"))
      let isChanged = number % 10 == 0
      #expect(found.value.name == (isChanged ? "changed" : "\(number)") && !found.isStale)
      #expect(found.tier == (isChanged ? .remote : .log), "\(number)")
    }
    #expect(second.statistics.same == 180)
    await second.stop()
    await writer.stop()
    try reopened.close()
  }

  private final class Tally: Sendable {
    let isOver = Atomic(false)
    let reads = Atomic(0)
    /// The last number of each key that was acknowledged.
    let acknowledged: Mutex<[Int]>

    init(_ count: Int) { acknowledged = Mutex(Array(repeating: 0, count: count)) }
  }

  /// One process counts up, another reads, and a primary is killed meanwhile.
  @Test func readsNeverGoBackWhenAPrimaryIsKilled() async throws {
    let cluster = try TestCluster()
    let (one, two) = (try await Processes.tiers(cluster), try await Processes.tiers(cluster))
    let counted = try one.storage("counts", key: Int.self, transformer: Transformer<Int>.littleEndian)
    let read = try two.storage("counts", key: Int.self, transformer: Transformer<Int>.littleEndian)
    let keys = 0..<24
    let tally = Tally(keys.count)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var number = 0
        while !tally.isOver.load(ordering: .relaxed) {
          number += 1
          for key in keys {
            // While nobody serves the slot, a write fails, or nobody knows.
            guard (try? await counted.async.set(number, forKey: key)) != nil else { continue }
            tally.acknowledged.withLock { $0[key] = number }
            let own = try? await counted.async.value(forKey: key)
            #expect(own == nil || own == number, "own write \(number) of \(key)")
          }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          var last = Array(repeating: 0, count: keys.count)
          while !tally.isOver.load(ordering: .relaxed) {
            for key in keys {
              guard let value = try? await read.async.value(forKey: key) else { continue }
              #expect(value >= last[key], "key \(key) went back from \(last[key]) to \(value)")
              last[key] = value
              tally.reads.wrappingAdd(1, ordering: .relaxed)
            }
            await Task.yield()
          }
        }
      }
      try await Processes.until("every key was read") { tally.reads.load(ordering: .relaxed) > 1_000 }
      let victim = cluster.members[0]
      victim.server.kill()
      try cluster.wait("another serves its slots") {
        cluster.members[3].server.cli("CLUSTER", "INFO").contains("cluster_state:ok")
          && cluster.members[3].isPrimary
      }
      let before = tally.acknowledged.withLock { $0 }
      try await Processes.until("all keys are written again") {
        tally.acknowledged.withLock { now in keys.allSatisfy { now[$0] > before[$0] } }
      }
      tally.isOver.store(true, ordering: .relaxed)
      try await group.waitForAll()
    }
    for key in keys {
      let last = tally.acknowledged.withLock { $0[key] }
      #expect(try await counted.async.value(forKey: key) ?? 0 >= last)
      try await Processes.until("both agree on \(key)") {
        let (mine, theirs) = (try await counted.async.value(forKey: key), try await read.async.value(forKey: key))
        return mine == theirs
      }
    }
    // A killed process had handed over all that it had tally.acknowledged.
    #expect(one.statistics.rolledBack == 0 && two.statistics.rolledBack == 0)
    await one.stop()
    await two.stop()
  }
}
