import EskerTestSupport
import Foundation

/// What is done to servers, to the bytes between them, and to processes, while four processes read and write.
final class Chaos {
  enum Fault: String, CaseIterable {
    /// A primary is killed while its replica is 200 ms behind.
    case kill
    /// A primary is stopped until another has taken its place.
    case stop
    /// A primary is stopped for less than that.
    case pause
    /// A primary and the others do not hear each other; clients reach both sides.
    case partition
    /// A process is stopped for longer than a lease.
    case stopClient
    /// A process is killed, and started again with its log.
    case restartClient
    /// All connections to a primary are closed.
    case cut
    /// Some connections to a primary fall silent.
    case stall
    /// Answers of a primary take so long that writes are given up before they come.
    case slow
    /// A slot moves to another primary, with its keys.
    case reshard
    /// A replica takes over as planned.
    case failover
  }

  struct Window {
    var fault: Fault
    var begin: Int
    var end: Int
  }

  private static let processCount = 4
  static let keyCount = 32

  let cluster: TestCluster
  private let directory: TemporaryDirectory
  private let plant: String?
  private let nearCache: NearCache?
  private let run: Int
  private var random: SeededGenerator
  private var monitors: [Monitor] = []
  private var processes: [(name: String, child: ChildProcess)] = []
  private var journals: [String] = []
  private var starts = 0
  private(set) var takeovers: [Truth.Takeover] = []
  private(set) var windows: [Window] = []

  private nonisolated(unsafe) static var runs = 0

  /// - Parameters:
  ///   - plant: An error of Esker's near cache.
  ///   - nearCache: Another program's near cache, which is tried instead.
  init(
    _ cluster: TestCluster,
    plant: String? = nil,
    nearCache: NearCache? = nil,
    _ random: SeededGenerator
  ) throws {
    self.cluster = cluster
    self.plant = plant
    self.nearCache = nearCache
    self.random = random
    directory = try TemporaryDirectory()
    Self.runs += 1
    run = Self.runs
    try cluster.waitUntilWhole()
    for member in cluster.members where member.isPrimary { member.server.cli("FLUSHALL") }
    monitors = cluster.members.map { Monitor($0, in: directory.path) }
    try waitUntilCalm()
    for number in 0..<Self.processCount { processes.append(try start(number)) }
    for process in processes { try started(process.name) }
  }

  private func start(_ number: Int) throws -> (name: String, child: ChildProcess) {
    starts += 1
    let name = "\(run).\(number).\(starts)"
    journals.append(name)
    let ports = cluster.members.map { "\($0.proxy.port)" }.joined(separator: ",")
    var arguments = [
      "history", "name=\(name)", "ports=\(ports)", "directory=\(directory.appending("log\(number)"))",
      "journal=\(directory.appending("journal-\(name)"))", "keys=\(Self.keyCount)",
    ]
    if let plant { arguments.append("plant=\(plant)") }
    let output = directory.appending("output-\(name)")
    guard let nearCache else { return (name, try ChildProcess(arguments, output: output)) }
    return (name, try ChildProcess("near cache", command: nearCache.command, arguments, output: output))
  }

  private func journal(_ name: String) -> [UInt8] {
    Array((try? Data(contentsOf: URL(fileURLWithPath: directory.appending("journal-\(name)")))) ?? Data())
  }

  private func started(_ name: String) throws {
    try cluster.wait("process \(name) has begun") { self.journal(name).first == UInt8(ascii: "P") }
  }

  /// Waits until the cluster is whole, and monitors hear all of it.
  private func waitUntilCalm() throws {
    try cluster.waitUntilWhole()
    try cluster.wait("all servers are heard") { self.monitors.allSatisfy(\.isConnected) }
    try cluster.wait("replicas have caught up") {
      self.cluster.members.allSatisfy { member in
        // Replicas say every second how far they are.
        let role = member.server.cli("ROLE").split(separator: "\n").map(String.init)
        guard role.first == "master" else { return true }
        guard role.count > 4, let offset = Int(role[1]), let replica = Int(role[4]) else { return false }
        return offset - replica < 200_000
      }
    }
  }

  // MARK: Faults

  func apply(_ fault: Fault) throws {
    let begin = now()
    let primaries = cluster.members.indices.filter { cluster.members[$0].isPrimary }
    let place = primaries[Int.random(in: primaries.indices, using: &random)]
    print("chaos: \(begin) \(fault) of \(place)")
    let member = cluster.members[place]
    switch fault {
    case .kill:
      let successor = try successor(of: member)
      member.proxy.set { $0.replicationDelay = .milliseconds(200) }
      sleep(1.0)
      let killed = now()
      member.server.kill()
      try cluster.wait("another serves") { self.cluster.members[successor].isPrimary }
      sleep(1.0)
      member.proxy.heal()
      try member.server.start()
      try waitUntilCalm()
      takeovers.append(.init(begin: begin, end: now(), old: place, new: successor, killedAt: killed))
    case .stop, .partition:
      let successor = try successor(of: member)
      if fault == .stop { member.server.signal(SIGSTOP) } else { cluster.isolate(member) }
      try cluster.wait("another serves") { self.cluster.members[successor].isPrimary }
      sleep(1.0)
      if fault == .stop { member.server.signal(SIGCONT) } else { cluster.heal() }
      try waitUntilCalm()
      takeovers.append(.init(begin: begin, end: now(), old: place, new: successor))
    case .pause:
      member.server.signal(SIGSTOP)
      sleep(Double.random(in: 0.3...1.3, using: &random))
      member.server.signal(SIGCONT)
    case .stopClient:
      let child = processes[Int.random(in: processes.indices, using: &random)].child
      child.signal(SIGSTOP)
      sleep(Double.random(in: 1.5...4, using: &random))
      child.signal(SIGCONT)
    case .restartClient:
      let number = Int.random(in: processes.indices, using: &random)
      processes[number].child.kill()
      sleep(0.5)
      processes[number] = try start(number)
      try started(processes[number].name)
    case .cut:
      member.proxy.cut()
      sleep(Double.random(in: 0.1...1, using: &random))
      member.proxy.heal()
    case .stall:
      try member.proxy.stallSome()
      sleep(4.0)
      try member.proxy.release()
    case .slow:
      member.proxy.set { $0.delays[1] = .milliseconds(750) }
      sleep(1.5)
      member.proxy.heal()
    case .reshard:
      try reshard(from: member, to: cluster.members[primaries.first { $0 != place } ?? place])
    case .failover:
      let successor = cluster.members[try successor(of: member)]
      for attempt in 0..<1_000 where !successor.isPrimary {
        if attempt % 100 == 0 { successor.server.cli("CLUSTER", "FAILOVER") }
        sleep(0.02)
      }
    }
    try waitUntilCalm()
    sleep(1.5)
    windows.append(Window(fault: fault, begin: begin, end: now()))
  }

  private func successor(of member: TestCluster.Member) throws -> Int {
    let replica = try cluster.replica(of: member)
    return cluster.members.firstIndex { $0 === replica } ?? 0
  }

  private func reshard(from source: TestCluster.Member, to target: TestCluster.Member) throws {
    let slots = (0..<Self.keyCount).compactMap { key in
      Int(source.server.cli("CLUSTER", "KEYSLOT", "c:kv:k\(key)").trimmingCharacters(in: .whitespacesAndNewlines))
    }
    for slot in slots.shuffled(using: &random) {
      guard try cluster.owner(of: UInt16(slot)) === source else { continue }
      target.server.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", source.id)
      source.server.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", target.id)
      for _ in 0..<100 {
        let keys = source.server.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100").split(separator: "\n").map(
          String.init
        )
        if keys.isEmpty { break }
        let answer = source.server.cli(
          words: ["MIGRATE", "127.0.0.1", "\(target.server.port)", "", "0", "5000", "REPLACE", "KEYS"] + keys
        )
        if !answer.hasPrefix("OK"), !answer.hasPrefix("NOKEY") { throw TestFailure("MIGRATE: \(answer)") }
      }
      for member in [target, source] { member.server.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", target.id) }
      return
    }
  }

  func sleep(_ seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }

  private func now() -> Int { wallMicroseconds() }

  // MARK: The end

  /// Ends the processes, and checks what they have noted.
  func check() throws -> Checker {
    for process in processes { process.child.end() }
    let primaries = Set(cluster.members.map(\.proxy.port))
    let servers = monitors.map { monitor in
      monitor.end().split(separator: UInt8(ascii: "\n")).compactMap { Execution($0, primaries: primaries) }
    }
    // A lease is half of the node timeout.
    let bound = nearCache?.bound ?? TestCluster.nodeTimeout * 500
    let checker = Checker(Truth(servers, takeovers), bound: bound + 50_000)
    for name in journals { checker.check(ProcessHistory(name: name, journal(name))) }
    return checker
  }
}
