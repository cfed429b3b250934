import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Testing

/// Slots that go to nodes of which clients had not heard.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct NewNodeTests {
  private static func storage(_ cluster: TestCluster) async throws -> (RemoteTiers, RemoteStorage<String, String>) {
    let seeds = cluster.members.map { RedisConfiguration.Address("127.0.0.1", port: $0.proxy.port) }
    let tiers = RemoteTiers(
      try RedisCluster(RedisConfiguration(seeds, logger: TestClient.logger)),
      named: "tests",
      prefix: "t:"
    )
    try await tiers.start()
    return (tiers, try tiers.storage("values", of: String.self))
  }

  /// Whether a new node and all others know each other; those that do not are introduced. A node that was met under load is forgotten again
  /// when it does not answer soon.
  private static func meet(_ newcomer: TestCluster.Member, _ members: [TestCluster.Member]) -> Bool {
    let strangers = members.filter { member in
      member !== newcomer
        && (!member.server.cli("CLUSTER", "NODES").contains(newcomer.id)
          || !newcomer.server.cli("CLUSTER", "NODES").contains(member.id))
    }
    for member in strangers {
      member.server.cli("CLUSTER", "MEET", "127.0.0.1", "\(newcomer.proxy.port)", "\(newcomer.bus.port)")
    }
    if !strangers.isEmpty { sleep(1) }
    return strangers.isEmpty
  }

  @Test func whatANewNodeIsGivenBySlotIsSeen() async throws {
    let cluster = try TestCluster()
    let (tiers, storage) = try await Self.storage(cluster)
    var newcomers: [TestCluster.Member] = []
    // Each round adds a server.
    for round in 0..<min(chaosRounds, 6) {
      let newcomer = try TestCluster.Member(TestCluster.nodeTimeout)
      newcomers.append(newcomer)
      try cluster.wait("all know the new node") {
        Self.meet(newcomer, cluster.members + newcomers)
      }
      let (old, absent) = ("{new\(round)}old", "{new\(round)}absent")
      try await storage.async.set("old", forKey: old)
      while try await storage.find(old)?.tier != .memory { try await Task.sleep(for: .milliseconds(1)) }
      #expect(try await storage.find(absent) == nil)
      // It is given the slot, and what was there stays where it was: nobody is told that it is gone.
      let slot = newcomer.server.cli("CLUSTER", "KEYSLOT", old).trimmingCharacters(in: .whitespacesAndNewlines)
      let owner = try cluster.owner(of: UInt16(slot) ?? 0)
      try cluster.wait("it is known who owns the slot") {
        let isKnown = cluster.members.filter(\.isPrimary).allSatisfy { member in
          member.server.cli("CLUSTER", "NODES").split(separator: "\n")
            .contains { $0.contains(newcomer.id) && $0.contains(" \(slot)") }
        }
        if isKnown { return true }
        // Whoever has forgotten the new node does not take what it says.
        if Self.meet(newcomer, cluster.members + newcomers) {
          // Its epoch has to be the latest, or it gives the slot back to who says to have it.
          newcomer.server.cli("CLUSTER", "BUMPEPOCH")
          for member in [newcomer, owner] { member.server.cli("CLUSTER", "SETSLOT", slot, "NODE", newcomer.id) }
        }
        sleep(1)
        return false
      }
      let (lateTiers, late) = try await Self.storage(cluster)
      try await late.async.set("new", forKey: absent)
      let began = ContinuousClock.now
      var isSeen = false
      while ContinuousClock.now < began + .seconds(30), !isSeen {
        isSeen = try await storage.async.value(forKey: absent) == "new"
        if !isSeen { try await Task.sleep(for: .milliseconds(1)) }
      }
      print("seen \((ContinuousClock.now - began) / .milliseconds(1)) ms after it was written")
      #expect(isSeen)
      #expect(try await storage.async.value(forKey: old) == nil)
      // From now on it is told as all else.
      #expect(try await storage.async.value(forKey: absent) == "new")
      try await late.async.set("newer", forKey: absent)
      while ContinuousClock.now < began + .seconds(60), try await storage.async.value(forKey: absent) != "newer" {
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(try await storage.async.value(forKey: absent) == "newer")
      await lateTiers.stop()
    }
    await tiers.stop()
  }
}
