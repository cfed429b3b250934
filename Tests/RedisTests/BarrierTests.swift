import EskerPlatform
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Testing

@testable import EskerRedis

/// Who waits for replicas, without a server.
@Suite struct BarrierQueueTests {
  private func instant(_ milliseconds: UInt64) -> RemoteInstant {
    RemoteInstant(nanoseconds: 1_000_000 * (1_000 + milliseconds))
  }

  private func waiter(_ count: Int, by milliseconds: UInt64) -> BarrierQueue.Waiter {
    BarrierQueue.Waiter(count: count, deadline: instant(milliseconds)) { _ in }
  }

  private func question(_ count: Int, _ milliseconds: Int, begins: Bool) -> BarrierQueue.Question {
    BarrierQueue.Question(beginsRound: begins, count: count, milliseconds: milliseconds)
  }

  @Test func oneQuestionIsForAllThatWantAsMany() {
    var queue = BarrierQueue()
    for _ in 0..<100 { queue.add(waiter(2, by: 500)) }
    queue.add(waiter(1, by: 900))
    #expect(queue.next(instant(0)) == question(1, 501, begins: true))
    // One is under way.
    #expect(queue.next(instant(0)) == nil)
    #expect(queue.answered(1, instant(10)).map(\.count) == [1])
    #expect(queue.next(instant(10)) == question(2, 491, begins: false))
    #expect(queue.answered(1, instant(500)).count == 100)
    #expect(queue.next(instant(501)) == nil && queue.removeAll().isEmpty)
  }

  @Test func eachIsToldOfItsOwnDeadlineAndOnce() {
    var queue = BarrierQueue()
    queue.add(waiter(1, by: 100))
    queue.add(waiter(1, by: 900))
    #expect(queue.next(instant(0)) == question(1, 101, begins: true))
    #expect(queue.answered(0, instant(100)).map(\.deadline) == [instant(100)])
    #expect(queue.next(instant(100)) == question(1, 801, begins: false))
    // The connection is lost.
    #expect(queue.removeAll().map(\.deadline) == [instant(900)])
    #expect(queue.removeAll().isEmpty && queue.patience == .zero)
  }

  @Test func whoIsNotAnsweredInTimeWaitsNoMore() {
    var queue = BarrierQueue()
    queue.add(waiter(1, by: 100))
    #expect(queue.next(instant(0)) != nil)
    queue.add(waiter(1, by: 50))
    #expect(queue.expire(instant(49)).isEmpty)
    #expect(queue.expire(instant(100)).map(\.deadline) == [instant(50)])
    #expect(queue.patience == .milliseconds(101))
    #expect(queue.expire(instant(200)).map(\.deadline) == [instant(100)])
    #expect(queue.answered(1, instant(300)).isEmpty)
  }

  /// A round that others wait for ends, and one in which nobody got what they wanted is followed by a longer one.
  @Test func whoCannotBeAnsweredDoesNotKeepOthersWaiting() {
    var queue = BarrierQueue()
    queue.add(waiter(3, by: 60_000))
    #expect(queue.next(instant(0)) == question(3, 1_001, begins: true))
    queue.add(waiter(1, by: 20_000))
    #expect(queue.answered(1, instant(1_001)).isEmpty)
    #expect(queue.next(instant(1_001)) == question(1, 2_001, begins: true))
    #expect(queue.answered(1, instant(1_002)).map(\.count) == [1])
    #expect(queue.next(instant(1_002)) == question(3, 2_001, begins: false))
    queue.add(waiter(2, by: 20_000))
    #expect(queue.answered(1, instant(3_003)).isEmpty)
    #expect(queue.next(instant(3_003)) == question(2, 1_001, begins: true))
    #expect(queue.answered(3, instant(3_004)).map(\.count) == [3, 2])
    queue.add(waiter(1, by: 20_000))
    #expect(queue.next(instant(3_005)) == question(1, 1_001, begins: true))
  }

  /// Replicas that are always three seconds behind have it in the end, however many come meanwhile.
  @Test func roundsGrowUntilReplicasThatAreBehindHaveIt() {
    var queue = BarrierQueue()
    var (now, began) = (UInt64(0), UInt64(0))
    var answered = 0
    while answered == 0, now < 60_000 {
      queue.add(waiter(1, by: 120_000))
      if let question = queue.next(instant(now)) {
        if question.beginsRound { began = now }
        now += UInt64(question.milliseconds)
        answered = queue.answered(now >= began + 3_000 ? 1 : 0, instant(now)).count
      }
    }
    #expect(answered > 1 && now < 10_000)
  }
}

/// The same with a server that has no replicas.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct BarrierTests {
  /// What waiters are told.
  private final class Told: Sendable {
    private let results = Guarded<[String: [Result<Int, RemoteError>]]>([:])

    func wait(_ name: String, _ client: TestClient, _ count: Int, _ limit: Duration) {
      client.store.replicated(client.key("a"), to: count, by: TestClient.soon(limit)) { result in
        self.results.withLock { $0[name, default: []].append(result) }
      }
    }

    subscript(name: String) -> [Result<Int, RemoteError>] { results.withLock { $0[name] ?? [] } }

    var count: Int { results.withLock { $0.values.reduce(0) { $0 + $1.count } } }
  }

  private func isBlocked(_ server: TestServer) -> Bool { server.cli("INFO", "clients").contains("blocked_clients:1") }

  @Test func whoWasAnsweredIsNotToldOfALaterLoss() async throws {
    let server = try TestServer()
    let proxy = try Proxy(to: server.port)
    let client = try await TestClient(server: proxy.port)
    let told = Told()
    // The connection is not there yet, so they are asked for together.
    told.wait("none", client, 0, .seconds(60))
    told.wait("one", client, 1, .seconds(60))
    try await client.until("the first is answered") { told["none"] == [.success(0)] && isBlocked(server) }
    proxy.cut()
    try await client.until("the second is told") { told["one"] == [.failure(.unavailable(until: nil))] }
    #expect(told["none"].count == 1)
    proxy.heal()
    await client.store.stop()
    #expect(told.count == 2)
  }

  @Test func oneQuestionServesAllThatWaitTogether() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let told = Told()
    for number in 0..<100 { told.wait("\(number)", client, 1, .milliseconds(500)) }
    try await client.until("all are answered", within: .seconds(100)) { told.count == 100 }
    for number in 0..<100 { #expect(told["\(number)"] == [.success(0)]) }
    let lines = server.cli("INFO", "commandstats").split(whereSeparator: \.isNewline)
    let line = lines.first { $0.hasPrefix("cmdstat_wait:") }
    let calls = line?.split(separator: ",").first?.split(separator: "=").last.flatMap { Int($0) }
    // Deadlines that are some milliseconds apart take some.
    #expect(try #require(calls) < 50)
    await client.store.stop()
  }

  @Test func whoWaitsForLongKeepsNobodyWaiting() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let told = Told()
    told.wait("long", client, 1, .seconds(300))
    try await client.until("it is asked for") { isBlocked(server) }
    told.wait("short", client, 1, .milliseconds(100))
    told.wait("none", client, 0, .seconds(60))
    try await client.until("the others are told") { told.count == 2 }
    #expect(told["none"] == [.success(0)] && told["short"] == [.failure(.timedOut)] && told["long"].isEmpty)
    await client.store.stop()
    #expect(told["long"] == [.failure(.stopped)])
  }

  @Test func aServerThatSaysNothingIsNotWaitedFor() async throws {
    let server = try TestServer()
    let proxy = try Proxy(to: server.port)
    let client = try await TestClient(server: proxy.port) { $0.silence = .milliseconds(500) }
    let told = Told()
    told.wait("asked", client, 1, .milliseconds(900))
    told.wait("asked for long", client, 1, .seconds(300))
    try await client.until("they are asked for") { isBlocked(server) }
    told.wait("waiting", client, 0, .seconds(300))
    proxy.stall()
    try await client.until("all are told", within: .seconds(60)) { told.count == 3 }
    #expect(told["asked"] == [.failure(.timedOut)])
    #expect(told["asked for long"] == [.failure(.unavailable(until: nil))])
    #expect(told["waiting"] == [.failure(.unavailable(until: nil))])
    proxy.cut()
    proxy.heal()
    let place = client.sink.count
    try await client.until("there is a lease again") { client.sink.hasTrusted(0, from: place) }
    #expect(try await client.store.replicated(client.key("a"), to: 0, by: TestClient.soon()) == 0)
    await client.store.stop()
  }
}
