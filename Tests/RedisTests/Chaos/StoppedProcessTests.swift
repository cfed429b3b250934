import Esker
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Testing

/// Processes that are stopped, and killed, while others go on.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct StoppedProcessTests {
  private static func storage(_ server: TestServer) async throws -> (RemoteTiers, RemoteStorage<String, String>) {
    let tiers = RemoteTiers(
      try RedisServer(RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)),
      named: "copies",
      prefix: "c:"
    )
    try await tiers.start()
    return (tiers, try tiers.storage("kv", of: String.self))
  }

  /// It reads from memory all the time, also in the instant in which it wakes.
  @Test func whatWasStoppedServesNothingStale() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let (tiers, storage) = try await Self.storage(server)
    let keys = 0..<16
    for key in keys { try await storage.async.set("before", forKey: "k\(key)") }
    var reads = 0
    for round in 0..<chaosRounds {
      let journal = directory.appending("journal\(round)")
      let child = try ChildProcess(
        [
          "watch", "port=\(server.port)", "directory=\(directory.appending("log\(round)"))", "journal=\(journal)",
          "keys=\(keys.count)",
        ],
        output: directory.appending("output\(round)")
      )
      _ = try child.line("watching")
      child.signal(SIGSTOP)
      try await Task.sleep(for: chaosRounds > 3 ? .seconds(10) : .seconds(4))
      for key in keys { try await storage.async.set("after-\(round)", forKey: "k\(key)") }
      let changed = wallMicroseconds()
      child.signal(SIGCONT)
      try await Task.sleep(for: .seconds(2))
      child.end()
      let history = ProcessHistory(
        name: "\(round)",
        Array(try Data(contentsOf: URL(fileURLWithPath: journal)))
      )
      let since = history.operations.values.joined().filter { $0.invoked > changed }
      let stale = since.filter { if case .read(let value, _) = $0.kind { value != "after-\(round)" } else { false } }
      reads += since.count
      #expect(stale.isEmpty, "\(stale.count): \(stale.prefix(3))")
      #expect(since.count > 100)
    }
    print("0 stale of \(reads) reads after \(chaosRounds) stops")
    await tiers.stop()
  }

  @Test(arguments: [false, true])
  func copiesOfAKilledProcessAreCheckedAndNoneIsStale(together: Bool) async throws {
    let count = Rounds.count(20_000, thorough: 100_000)
    let server = try TestServer()
    let proxy = try Proxy(to: server.port)
    let directory = try TemporaryDirectory()
    func child(_ what: String) throws -> ChildProcess {
      try ChildProcess(
        [
          what, "port=\(proxy.port)", "directory=\(directory.appending("log"))", "count=\(count)", "changed=20",
          "together=\(together ? 1 : 0)",
        ],
        output: directory.appending(what)
      )
    }
    let filling = try child("fill")
    _ = try filling.line("filled")
    filling.kill()
    let (tiers, storage) = try await Self.storage(server)
    for number in stride(from: 0, to: count, by: 20) {
      let digits = String(number)
      try await storage.async.set(
        "changed \(number)",
        forKey: String(repeating: "0", count: 8 - digits.count) + digits
      )
    }
    await tiers.stop()

    let checking = try child("check")
    _ = try checking.line("began")
    let before = proxy.bytes
    checking.go()
    let words = try checking.line("unchanged").compactMap { Double($0) }
    let after = proxy.bytes
    checking.go()
    let stale = try checking.line("stale").first
    checking.end()
    let (seconds, moved, same) = (words[0], Int(words[1]), Int(words[2]))
    let unchanged = count - (count + 19) / 20
    // Beside checks there are heartbeats, two a second, and the values that were moved.
    let others = (Int(seconds * 2) + 2) * 2_000
    let keyLength = "c:kv:00000000".count
    var asked = same
    if together {
      let words = try checking.line("together").compactMap { Double($0) }
      let current = Int(words[1])
      print("\(current) copies are current: " + String(format: "%.0f checks/s together", Double(count) / words[0]))
      #expect(current == unchanged)
      // Those that were changed are asked for together with the others, and some that are not known of any more when they are read.
      asked = count + same - current
      #expect(same - current <= count / 20)
    }
    let sent = after[0] - before[0] - moved * (40 + keyLength)
    let received = after[1] - before[1] - moved * (31 + 150)
    print(
      "\(count) entries, \(unchanged) unchanged: \(same) checked, \(moved) moved, "
        + String(format: "%.0f checks/s, ", Double(same) / seconds)
        + String(
          format: "%.1f bytes sent with keys of %d, %.1f received",
          Double(sent) / Double(same),
          keyLength,
          Double(received) / Double(same)
        )
    )
    #expect(stale == "0")
    #expect(moved <= unchanged / 20)
    #expect(same + moved >= unchanged)
    #expect(sent <= asked * (40 + keyLength) + others)
    #expect(received <= asked * 31 + others)
  }
}

/// Microseconds since 1970.
func wallMicroseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}
