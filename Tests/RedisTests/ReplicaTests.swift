import Esker
import EskerRedis
import EskerRemoteTestSupport
import EskerTestSupport
import Foundation
import Testing

@testable import EskerRemote

/// Primaries that are stopped while their replicas may not take over, so that they alone are left to be read.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ReplicaTests {
  private static let shared = Result { try TestCluster() }

  let cluster: TestCluster

  init() throws {
    cluster = try Self.shared.get()
    try cluster.waitUntilWhole()
  }

  private func options(_ bound: Duration) -> RemoteOptions {
    var options = RemoteOptions()
    options.freshness = .bounded(bound)
    options.asksReplicas = true
    options.softTimeout = .seconds(2)
    options.hardTimeout = .seconds(3)
    return options
  }

  /// Runs `body` while no replica may take over, and the slots of a primary that is stopped do not keep the others from answering.
  private func withoutFailover(_ body: () async throws -> Void) async throws {
    let settings = ["cluster-replica-no-failover": ("yes", "no"), "cluster-require-full-coverage": ("no", "yes")]
    for member in cluster.members {
      for (name, value) in settings { member.server.cli("CONFIG", "SET", name, value.0) }
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    // What is delayed is not waited for.
    for member in cluster.members { member.proxy.cut() }
    cluster.heal()
    for member in cluster.members {
      for (name, value) in settings { member.server.cli("CONFIG", "SET", name, value.1) }
    }
    try result.get()
  }

  /// Stops the owner of a key while `body` runs.
  private func whileStopped(_ member: TestCluster.Member, _ body: () async throws -> Void) async throws {
    member.server.signal(SIGSTOP)
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    member.server.signal(SIGCONT)
    try result.get()
  }

  /// Waits until the owner has said how far it is, once more.
  private func beats() async throws { try await Task.sleep(for: .milliseconds(1_200)) }

  @Test func aReplicaAnswersForAPrimaryThatIsStopped() async throws {
    try await withoutFailover {
      let (one, two) = (try await Processes.tiers(cluster), try await Processes.tiers(cluster))
      let writer: RemoteStorage<String, String> = try one.storage("texts")
      let reader: RemoteStorage<String, String> = try two.storage("texts", options: options(.seconds(120)))
      let strict: RemoteStorage<String, Substitute> = try two.storage(
        "texts",
        transformer: Substitute.transformer,
        options: options(.zero)
      )
      let key = try reader.view.remote("k")
      try await writer.async.set("a", forKey: "k")
      #expect(try await one.store.replicated(key, to: 1, by: TestClient.soon()) >= 1)
      try await beats()
      let owner = try cluster.owner(of: key.domain)
      try await whileStopped(owner) {
        try await Processes.until("the lease is over") { !two.core.hasLease(key.domain) }
        for _ in 0..<3 {
          let began = ContinuousClock.now
          let found = try #require(try await reader.find("k"))
          let took = ContinuousClock.now - began
          print("a replica answered after \(took), age \(found.age)")
          #expect(found.value == "a" && found.tier == .replica && found.isStale && found.age > .zero)
          #expect(took < .seconds(2))
        }
        // No replica is as young as that.
        await #expect(throws: StorageError.self) { try await strict.find("k") }
        // A replica that has nothing is no answer.
        await #expect(throws: StorageError.self) { try await reader.find("{k}absent") }
      }
      try await Processes.until("the owner answers again") { try await reader.find("k")?.isStale == false }
      #expect(two.statistics.rolledBack == 0)
      await one.stop()
      await two.stop()
    }
  }

  @Test func aReplicaThatIsBehindIsNoAnswer() async throws {
    try await withoutFailover {
      let (one, two) = (try await Processes.tiers(cluster), try await Processes.tiers(cluster))
      let writer: RemoteStorage<String, String> = try one.storage("texts")
      let reader: RemoteStorage<String, String> = try two.storage("texts", options: options(.seconds(120)))
      let key = try reader.view.remote("k")
      try await writer.async.set("a", forKey: "k")
      #expect(try await one.store.replicated(key, to: 1, by: TestClient.soon()) >= 1)
      let owner = try cluster.owner(of: key.domain)
      owner.proxy.set { $0.replicationDelay = .seconds(60) }
      try await writer.async.set("b", forKey: "k")
      try await beats()
      try await whileStopped(owner) {
        try await Processes.until("the lease is over") { !two.core.hasLease(key.domain) }
        await #expect(throws: StorageError.self) { try await reader.find("k") }
        // It says what it has to whoever does not ask how old that is.
        let said = try await two.store.get(key, from: .any, by: TestClient.soon())
        #expect(said.reply != nil && said.currentAt == nil && !said.isKeepable)
      }
      await one.stop()
      await two.stop()
    }
  }

  @Test func anOwnWriteIsNotHiddenByAReplica() async throws {
    try await withoutFailover {
      let tiers = try await Processes.tiers(cluster)
      let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options(.seconds(120)))
      let key = try texts.view.remote("k")
      try await texts.async.set("a", forKey: "k")
      #expect(try await tiers.store.replicated(key, to: 1, by: TestClient.soon()) >= 1)
      try await beats()
      let owner = try cluster.owner(of: key.domain)
      owner.proxy.set { $0.replicationDelay = .seconds(60) }
      // By a script, so that nothing of it is kept.
      #expect(try await texts.async.touch("k", expiry: .after(.seconds(900))))
      try await whileStopped(owner) {
        try await Processes.until("the lease is over") { !tiers.core.hasLease(key.domain) }
        await #expect(throws: StorageError.self) { try await texts.find("k") }
      }
      await tiers.stop()
    }
  }
}
