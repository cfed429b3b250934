import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Synchronization
import Testing

/// Acknowledged writes that a replica had not heard of yet when it took over.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct LostWriteTests {
  /// What one reader saw.
  private final class Seen: Sendable {
    /// The last number of each key; and those that went back, from what to what.
    let state = Mutex((last: [Int: Int](), falls: [(key: Int, from: Int, to: Int)]()))

    func note(_ key: Int, _ number: Int) {
      state.withLock { state in
        if let last = state.last[key], last > number { state.falls.append((key, last, number)) }
        state.last[key] = number
      }
    }
  }

  private final class Numbers: Sendable {
    let state = Mutex([Int: Int]())
  }

  private struct Process {
    let tiers: RemoteTiers
    let counts: RemoteStorage<Int, Int>
    let seen = Seen()
    let rolledBack: Task<Set<Int>, Never>

    init(_ cluster: TestCluster) async throws {
      let seeds = cluster.members.map { RedisConfiguration.Address("127.0.0.1", port: $0.proxy.port) }
      tiers = RemoteTiers(
        try RedisCluster(RedisConfiguration(seeds, logger: TestClient.logger)),
        named: "tests",
        prefix: "t:"
      )
      try await tiers.start()
      var options = RemoteOptions()
      options.hardTimeout = .seconds(1)
      counts = try tiers.storage(
        "counts",
        key: Int.self,
        transformer: Transformer<Int>.littleEndian,
        options: options
      )
      let changes = counts.changes()
      rolledBack = Task {
        var keys: Set<Int> = []
        for await change in changes { if case .rolledBack(let key) = change { keys.insert(key) } }
        return keys
      }
    }

    /// Reads all keys in turn, until told otherwise.
    func read(_ keys: Range<Int>, until isOver: Flag) async {
      while !isOver.value {
        for key in keys { if let number = try? await counts.async.value(forKey: key) { seen.note(key, number) } }
        await Task.yield()
      }
    }
  }

  @Test func eachIsReportedAndNothingElseGoesBack() async throws {
    let cluster = try TestCluster()
    var (lost, reported) = (0, 0)
    for round in 0..<chaosRounds {
      let (writer, reader) = (try await Process(cluster), try await Process(cluster))
      let keys = round * 1_000..<round * 1_000 + 24
      for key in keys { try await writer.counts.async.set(0, forKey: key) }
      let victim = try #require(cluster.members.first { $0.isPrimary })
      let successor = try cluster.replica(of: victim)
      try cluster.waitUntilWhole()
      victim.proxy.set { $0.replicationDelay = .milliseconds(200) }

      let (isDead, isOver) = (Flag(), Flag())
      let acknowledged = Numbers()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          var number = 0
          while !isDead.value {
            number += 1
            for key in keys where (try? await writer.counts.async.set(number, forKey: key)) != nil {
              acknowledged.state.withLock { $0[key] = number }
            }
          }
        }
        group.addTask { await reader.read(keys, until: isOver) }
        try await Task.sleep(for: .seconds(1))
        // Nothing is written by the new primary, so what was lost is not hidden by what is newer.
        isDead.set()
        victim.server.kill()
        group.addTask {
          try cluster.wait("another serves") {
            successor.isPrimary && successor.server.cli("CLUSTER", "INFO").contains("cluster_state:ok")
          }
          victim.proxy.heal()
          // Until all have been read again.
          for key in keys {
            while (try? await reader.counts.async.value(forKey: key)) == nil { await Task.yield() }
            while (try? await writer.counts.async.value(forKey: key)) == nil { await Task.yield() }
          }
          try await Task.sleep(for: .seconds(1))
          isOver.set()
        }
        try await group.waitForAll()
      }
      var found: [Int: Int] = [:]
      for key in keys { found[key] = try await writer.counts.async.value(forKey: key) }
      let (last, falls) = reader.seen.state.withLock { ($0.last, $0.falls) }
      await writer.tiers.stop()
      await reader.tiers.stop()
      writer.rolledBack.cancel()
      reader.rolledBack.cancel()
      let (ofWriter, ofReader) = (await writer.rolledBack.value, await reader.rolledBack.value)

      let gone = keys.filter { key in acknowledged.state.withLock { $0[key] ?? 0 } > found[key] ?? 0 }
      lost += gone.count
      reported += ofReader.count + ofWriter.count
      for key in keys { #expect(last[key] == found[key], "key \(key)") }
      for fall in falls {
        #expect(gone.contains(fall.key) && fall.to == found[fall.key], "\(fall)")
        #expect(ofReader.contains(fall.key), "\(fall) was not reported")
      }
      // Its own writes, of which it knows that they were made.
      #expect(ofWriter.isSuperset(of: gone), "\(Set(gone).subtracting(ofWriter)) were not reported to their writer")
      #expect(Set(falls.map(\.key)).count == falls.count, "a key went back twice")
      try victim.server.start()
      try cluster.waitUntilWhole()
    }
    print("lost writes of \(lost) keys in \(chaosRounds) rounds, \(reported) reports")
    #expect(lost > 0)
  }
}

/// Something that several tasks wait for.
private final class Flag: Sendable {
  private let flag = Atomic(false)
  var value: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}
