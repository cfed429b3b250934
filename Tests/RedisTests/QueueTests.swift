import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Testing

/// Queued writes over real servers, by a process that is killed twice while they are away.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct QueueTests {
  /// For how long they are, besides what the processes need to write some hundred values.
  private static let absence = Duration.seconds(Rounds.count(0, thorough: 10))

  /// A process that writes directly.
  private static func other(_ store: RedisStore) async throws -> (RemoteTiers, RemoteStorage<Int, Int>) {
    let tiers = RemoteTiers(store, named: "tests", prefix: "q:")
    try await tiers.start()
    return (tiers, try tiers.storage("numbers", key: Int.self, of: Int.self))
  }

  private static func persistently<R>(_ body: () async throws -> R) async throws -> R {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      do { return try await body() } catch {
        guard ContinuousClock.now < end else { throw error }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// What killed writers have said, key by key.
  private struct Said {
    struct Write: Equatable {
      var number: Int
      var isSet: Bool
      var value: Int? { isSet ? number : nil }
    }
    /// The last acknowledged write of each key.
    var last: [Int: Write] = [:]
    /// Writes that a kill left open: logged perhaps, and not acknowledged.
    var open: [Int: [Write]] = [:]
    /// The greatest number that was begun.
    var greatest = 0

    /// Adds all that one writer has said.
    mutating func add(_ lines: [[String]]) {
      var begun: (key: Int, write: Write)?
      for line in lines {
        let words = line.first == "begin" ? line.dropFirst() : line[...]
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard words.count == 3, numbers.count == 2 else { continue }
        let (key, number) = (numbers[0], numbers[1])
        let write = Write(number: number, isSet: words.first == "set")
        greatest = max(greatest, number)
        if words.count < line.count {
          begun = (key, write)
        } else {
          last[key] = write
          // What was left open before is older than this.
          open[key] = nil
          begun = nil
        }
      }
      if let begun { open[begun.key, default: []].append(begun.write) }
    }

    /// Whether a key may have this value, `initial` if it was never written.
    func allows(_ value: Int?, forKey key: Int, initial: Int?) -> Bool {
      value == (last[key].map(\.value) ?? initial) || open[key, default: []].contains { $0.value == value }
    }
  }

  private static func run(
    _ ports: [Int],
    _ store: @autoclosure () throws -> RedisStore,
    leave: () throws -> Void,
    comeBack: () async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let (tiers, numbers) = try await other(try store())
    for key in stride(from: 0, to: 40, by: 2) { try await numbers.async.set(-1, forKey: key) }

    func child(_ what: String, _ number: Int) throws -> ChildProcess {
      try ChildProcess(
        [what, directory.appending("log"), "\(number)"] + ports.map { "\($0)" },
        of: "esker-queue-writer",
        output: directory.appending("\(what)-\(number)")
      )
    }
    var said = Said()
    let first = try child("write", 1)
    try await first.until("it has written and is connected") { $0.contains(["up"]) && $0.count > 400 }
    try leave()
    said.add(first.lines)
    let before = said.greatest
    try await first.until("it goes on writing") { $0.count > 2 * before + 600 }
    try await Task.sleep(for: absence / 2)
    first.kill()
    said.add(first.lines)
    let second = try child("write", said.greatest + 1)
    try await second.until("it writes") { $0.count > 600 }
    try await Task.sleep(for: absence / 2)
    second.kill()
    said.add(second.lines)
    #expect(!second.lines.contains(["up"]))

    try await comeBack()
    for key in 0..<4 { try await persistently { try await numbers.async.set(1_000_000 + key, forKey: key) } }
    for key in 4..<8 { try await persistently { _ = try await numbers.async.removeValue(forKey: key) } }

    let last = try child("drain", 0)
    try await last.until("nothing waits") { $0.contains { $0.first == "applied" } }
    let lost = Dictionary(
      last.lines.filter { $0.first == "lost" }.map { (Int($0[1]) ?? -1, $0.dropFirst(2).joined(separator: " ")) }
    ) { $0 + ", " + $1 }
    let summary = try #require(last.lines.first { $0.first == "applied" })
    print("written up to \(said.greatest), \(before) of them before; \(summary.joined(separator: " "))")
    #expect(summary.suffix(2) == ["failed", "0"])
    #expect(Int(summary[3]) == lost.count)

    for key in 0..<40 {
      let value = try await persistently { try await numbers.async.value(forKey: key) }
      let own = said.last[key]
      let isOwn = said.allows(value, forKey: key, initial: key % 2 == 0 ? -1 : nil)
      let open = said.open[key, default: []]
      let story = "\(key) is \(value ?? -2), \(own.debugDescription), open \(open), \(lost[key] ?? "")"
      switch key {
      case 0..<4:
        // It was queued, so it must be told.
        #expect(value == 1_000_000 + key)
        if let own, own.number > before { #expect(lost[key]?.contains("version") == true, "\(story)") }
      case 4..<8:
        // Lost where something was known to be there, and otherwise new.
        #expect(isOwn || value == nil && lost[key]?.contains("absent") == true, "\(story)")
      default:
        #expect(isOwn && lost[key] == nil, "\(story)")
      }
    }
    await tiers.stop()
  }

  @Test func everyAcknowledgedWriteArrivesOrLosesOverTwoKillsWhileTheServerIsDown() async throws {
    let server = try TestServer(["--appendonly", "yes"])
    try await Self.run(
      [server.port],
      try RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)),
      leave: { server.kill() },
      comeBack: { try server.start() }
    )
  }

  @Test func everyAcknowledgedWriteArrivesOrLosesWhileAClusterCannotBeReached() async throws {
    let cluster = try TestCluster()
    let ports = cluster.members.map { $0.proxy.port }
    try await Self.run(
      ports,
      try RedisCluster(
        RedisConfiguration(ports.map { .init("127.0.0.1", port: $0) }, logger: TestClient.logger)
      ),
      leave: { for member in cluster.members { member.proxy.cut() } },
      comeBack: { cluster.heal() }
    )
  }
}
