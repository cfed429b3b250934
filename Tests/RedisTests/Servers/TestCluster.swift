import EskerTestSupport
import Foundation

/// Three primaries and a replica of each, in cluster mode, with proxies before all of them and between them.
final class TestCluster: @unchecked Sendable {
  final class Member: @unchecked Sendable {
    let server: TestServer
    let proxy: Proxy
    let bus: Proxy
    var id = ""

    init(_ timeout: Int) throws {
      let (port, bus) = (freePort(), freePort())
      proxy = try Proxy(to: port)
      self.bus = try Proxy(to: bus)
      server = try TestServer(
        [
          "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "\(timeout)",
          "--cluster-port", "\(bus)", "--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", "\(proxy.port)",
          "--cluster-announce-bus-port", "\(self.bus.port)", "--cluster-replica-validity-factor", "0",
          // A node that loses its last slot would become a replica, and replicas would go to others.
          "--cluster-allow-replica-migration", "no",
        ],
        port: port
      )
      id = server.cli("CLUSTER", "MYID").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    var isPrimary: Bool { server.cli("ROLE").hasPrefix("master") }

    /// Slots of `CLUSTER NODES`, as text.
    var slots: [String] {
      let line = server.cli("CLUSTER", "NODES").split(separator: "\n").first { $0.contains("myself") } ?? ""
      return line.split(separator: " ").dropFirst(8).map(String.init)
    }
  }

  static let nodeTimeout = 2_000

  let members: [Member]

  init() throws {
    members = try (0..<6).map { _ in try Member(Self.nodeTimeout) }
    let ranges = [(0, 5460), (5461, 10922), (10923, 16383)]
    for (index, range) in ranges.enumerated() {
      members[index].server.cli("CLUSTER", "ADDSLOTSRANGE", "\(range.0)", "\(range.1)")
      members[index].server.cli("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
    }
    for member in members.dropFirst() {
      members[0].server.cli("CLUSTER", "MEET", "127.0.0.1", "\(member.proxy.port)", "\(member.bus.port)")
    }
    try wait("all know all") {
      self.members.allSatisfy { $0.server.cli("CLUSTER", "INFO").contains("cluster_known_nodes:6") }
    }
    for index in 3..<6 {
      try wait("the replica knows its primary") {
        self.members[index].server.cli("CLUSTER", "REPLICATE", self.members[index - 3].id).contains("OK")
      }
    }
    try waitUntilWhole()
  }

  /// Waits until all slots are served and each primary has a replica that is in step.
  func waitUntilWhole() throws {
    try wait("the cluster is whole") {
      let infos = self.members.map { $0.server.cli("CLUSTER", "INFO") }
      guard infos.allSatisfy({ $0.contains("cluster_state:ok") && $0.contains("cluster_slots_ok:16384") }) else {
        return false
      }
      let views = self.members.map { $0.server.cli("CLUSTER", "NODES").split(separator: "\n") }
      guard views.allSatisfy({ view in view.filter { $0.contains("slave") && !$0.contains("fail") }.count == 3 }) else {
        return false
      }
      let roles = self.members.map { $0.server.cli("ROLE").split(separator: "\n").map(String.init) }
      return roles.allSatisfy { $0.first == "master" || ($0.first == "slave" && $0.contains("connected")) }
        && roles.filter { $0.first == "master" }.count == 3
        && roles.filter { $0.first == "master" && $0.count > 3 }.count == 3
    }
  }

  func wait(_ what: String, _ condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    repeat {
      if condition() { return }
      usleep(20_000)
    } while ContinuousClock.now < end
    throw TestFailure(
      "not within a minute: \(what)\n\(members.map { $0.server.cli("CLUSTER", "NODES") }.joined(separator: "\n"))"
    )
  }

  /// The primary that owns a slot.
  func owner(of slot: UInt16) throws -> Member {
    for _ in 0..<1_500 {
      for member in members {
        for range in member.slots where !range.hasPrefix("[") {
          let ends = range.split(separator: "-").compactMap { Int($0) }
          if let first = ends.first, let last = ends.last, (first...last).contains(Int(slot)), member.isPrimary {
            return member
          }
        }
      }
      usleep(20_000)
    }
    throw TestFailure("nobody owns \(slot)")
  }

  /// A replica of a primary.
  func replica(of member: Member) throws -> Member {
    for _ in 0..<1_500 {
      for other in members where other !== member && !other.isPrimary {
        let line = other.server.cli("CLUSTER", "NODES").split(separator: "\n").first { $0.contains("myself") } ?? ""
        if line.contains(member.id) { return other }
      }
      usleep(20_000)
    }
    throw TestFailure("no replica")
  }

  /// A member and all others do not hear each other any more, nor do its replicas what it writes; clients still reach all.
  func isolate(_ member: Member) {
    member.proxy.set { $0.replicationDelay = .seconds(5) }
    member.bus.cut()
    for other in members where other !== member { other.bus.set { $0.refusedSenders = [member.id] } }
  }

  func heal() {
    for member in members {
      member.proxy.heal()
      member.bus.heal()
    }
  }
}
