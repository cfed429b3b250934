import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Foundation
import NIOCore
import Testing

/// A cluster of six servers, which the tests share one after another and leave whole.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ClusterTests {
  private static let shared = Result { try TestCluster() }

  let cluster: TestCluster

  init() throws {
    cluster = try Self.shared.get()
    try cluster.waitUntilWhole()
  }

  /// Ends a test: the rules of order were kept.
  private func end(_ client: TestClient) async {
    await client.store.stop()
    #expect(client.sink.violations() == [])
    cluster.heal()
  }

  @Test func everyDomainIsServed() async throws {
    let client = try await TestClient(cluster: cluster)
    for number in 0..<200 { try await client.set("key\(number)", TestClient.value("\(number)")) }
    for number in 0..<200 {
      let stamped = try await client.store.get(client.key("key\(number)"), by: TestClient.soon())
      #expect(stamped.reply.map { String(decoding: $0.payload, as: UTF8.self) } == "\(number)" && stamped.isKeepable)
    }
    #expect(client.sink.changes().isEmpty)
    let statistics = await client.store.statistics()
    #expect(statistics.filter { $0.state == .leased }.reduce(0) { $0 + $1.domains } == 16_384)
    #expect(statistics.reduce(0) { $0 + $1.counters.redirects } == 0)
    #expect(client.store.time(of: 0) != nil && client.store.time(of: 16_383) != nil)
    await end(client)
  }

  @Test func readsAndLeasesGoOnWhileAPrimaryHoldsAWriteBack() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("{a}1")
    let owner = try cluster.owner(of: key.domain).server
    let value = TestClient.value("x")
    try await client.set("{a}1", value)
    let place = client.sink.count
    owner.cli("CLIENT", "PAUSE", "60000", "WRITE")
    let write = Task { try await client.set("{a}2", TestClient.value("y"), by: TestClient.soon(.seconds(60))) }
    // Longer than leases.
    let end = ContinuousClock.now + .seconds(3)
    while ContinuousClock.now < end {
      #expect(try await client.get("{a}1") == value)
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(!client.sink.hasSuspended(key.domain, from: place))
    owner.cli("CLIENT", "UNPAUSE")
    #expect(try await write.value == .done(isEchoed: true, wasThere: nil))
    await self.end(client)
  }

  @Test func aThousandTasksAreServedInOrder() async throws {
    let client = try await TestClient(cluster: cluster)
    let other = try await TestClient(cluster: cluster)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<1_000 {
        group.addTask {
          for round in 0..<5 {
            let name = "task\(task)"
            do {
              let value = TestClient.value("\(round)")
              // All at once: however slow the machine.
              try await client.set(name, value, by: TestClient.soon(.seconds(600)))
              #expect(try await client.get(name, by: TestClient.soon(.seconds(600))) == value)
            } catch { Issue.record("\(error)") }
          }
        }
      }
    }
    // All of it was told to the other client.
    try await other.until("5,000 changes") { Set(other.sink.changes()).count == 1_000 }
    #expect(client.sink.changes().isEmpty)
    await other.store.stop()
    #expect(other.sink.violations() == [])
    await end(client)
  }

  @Test func repliesAndChangesComeInTheirOrder() async throws {
    let client = try await TestClient(cluster: cluster)
    let other = try await TestClient(cluster: cluster)
    let key = client.key("contended")
    for _ in 0..<300 {
      client.store.get(key, from: .owner, by: TestClient.soon()) { result in
        if case .success(let stamped) = result { client.sink.note(.replied("contended", stamped.stamp)) }
      }
      try await other.set("contended", TestClient.value("x"))
    }
    try await client.until("changes") { client.sink.changes().count >= 100 }
    await other.store.stop()
    await end(client)
  }

  @Test func aFlushIsTold() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    let place = client.sink.count
    try cluster.owner(of: key.domain).server.cli("FLUSHALL")
    try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
    #expect(try await client.get("a") == nil)
    await end(client)
  }

  @Test func aKilledConnectionRaisesAndReadsGoOn() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    try await client.set("a", TestClient.value("x"))
    let place = client.sink.count
    try cluster.owner(of: key.domain).server.cli("CLIENT", "KILL", "TYPE", "normal")
    try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
    #expect(try await client.get("a") != nil)
    await end(client)
  }

  @Test func trackingSwitchedOffIsNoticed() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    let member = try cluster.owner(of: key.domain)
    let place = client.sink.count
    // As a proxy does that resets connections: nothing is seen of it but that changes are not told.
    member.proxy.inject(Array("CLIENT REPLY SKIP\r\nCLIENT TRACKING OFF\r\n".utf8), toServer: true)
    try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
    try await client.until("trusted") { client.sink.hasTrusted(key.domain, from: place) }
    await end(client)
  }

  @Test func slotsThatMoveAreFollowed() async throws {
    let client = try await TestClient(cluster: cluster)
    let names = (0..<20).map { "{moving}\($0)" }
    for name in names { try await client.set(name, TestClient.value(name)) }
    let domain = client.key(names[0]).domain
    let source = try cluster.owner(of: domain)
    let target = try #require(cluster.members.first { $0.isPrimary && $0.id != source.id })
    let place = client.sink.count
    target.server.cli("CLUSTER", "SETSLOT", "\(domain)", "IMPORTING", source.id)
    source.server.cli("CLUSTER", "SETSLOT", "\(domain)", "MIGRATING", target.id)
    // Keys that are not there yet or not there any more are asked of the target.
    #expect(try await client.get("{moving}none") == nil)
    source.server.cli(
      words: ["MIGRATE", "127.0.0.1", "\(target.server.port)", "", "0", "5000", "KEYS"] + names[..<10].map { "t:" + $0 }
    )
    for name in names {
      let stamped = try await client.store.get(client.key(name), by: TestClient.soon())
      #expect(stamped.reply.map { String(decoding: $0.payload, as: UTF8.self) } == name)
    }
    // A write by this way is told, and a reply is not kept.
    let value = TestClient.value("new")
    #expect(try await client.set("{moving}0", value) == .done(isEchoed: true, wasThere: nil))
    let asked = try await client.store.get(client.key("{moving}0"), by: TestClient.soon())
    #expect(asked.reply == value && !asked.isKeepable)
    source.server.cli(
      words: ["MIGRATE", "127.0.0.1", "\(target.server.port)", "", "0", "5000", "KEYS"] + names[10...].map { "t:" + $0 }
    )
    for member in [target, source] { member.server.cli("CLUSTER", "SETSLOT", "\(domain)", "NODE", target.id) }
    for name in names.dropFirst() { #expect(try await client.get(name) != nil) }
    #expect(client.sink.hasRaised(domain, from: place))
    let after = try await client.store.get(client.key(names[1]), by: TestClient.soon())
    #expect(after.isKeepable)
    await end(client)
  }

  @Test func aPlannedFailoverIsFollowed() async throws {
    let client = try await TestClient(cluster: cluster)
    for _ in 0..<rounds {
      let key = client.key("a")
      let value = TestClient.value("x")
      try await client.set("a", value)
      let replica = try cluster.replica(of: cluster.owner(of: key.domain))
      let place = client.sink.count
      // Nobody votes twice about a primary within two node timeouts, so it may take some tries.
      for attempt in 0..<1_000 where !replica.isPrimary {
        if attempt % 100 == 0 { replica.server.cli("CLUSTER", "FAILOVER") }
        try await Task.sleep(for: .milliseconds(20))
      }
      try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
      #expect(try await client.get("a") == value)
      try await client.set("a", TestClient.value("y"))
      try cluster.waitUntilWhole()
    }
    await end(client)
  }

  /// A server of another time, which is still in the list of addresses.
  @Test func aServerThatRefusesDoesNotEndTheStart() async throws {
    let stale = try TestServer(["--requirepass", "secret"])
    // The others answer later.
    for member in cluster.members { member.proxy.set { $0.delays = [.milliseconds(100), .milliseconds(100)] } }
    defer { for member in cluster.members { member.proxy.heal() } }
    let client = try await TestClient(cluster: cluster) {
      $0.addresses.insert(.init("127.0.0.1", port: stale.port), at: 0)
      $0.startTimeout = .seconds(60)
    }
    let value = TestClient.value("x")
    try await client.set("a", value)
    #expect(try await client.get("a") == value)
    await end(client)
  }

  @Test func theStartEndsWhenAllServersRefuse() async throws {
    let servers = [try TestServer(["--requirepass", "secret"]), try TestServer(["--requirepass", "secret"])]
    let addresses = servers.map { RedisConfiguration.Address("127.0.0.1", port: $0.port) }
    var configuration = RedisConfiguration(addresses, logger: TestClient.logger)
    configuration.password = "wrong"
    configuration.startTimeout = .seconds(120)
    let store = try RedisCluster(configuration)
    let began = ContinuousClock.now
    do {
      try await store.start(prefix: [], sink: Recorder())
      Issue.record("a wrong password was taken")
    } catch {
      guard case .refused("WRONGPASS", _) = error else { throw error }
    }
    #expect(ContinuousClock.now - began < .seconds(100))
    await store.stop()
  }

  @Test func aKilledPrimaryIsReplaced() async throws {
    let client = try await TestClient(cluster: cluster)
    for _ in 0..<rounds {
      let key = client.key("a")
      let value = TestClient.value("x")
      try await client.set("a", value)
      #expect(try await client.store.replicated(key, to: 1, by: TestClient.soon()) >= 1)
      let member = try cluster.owner(of: key.domain)
      let place = client.sink.count
      member.server.kill()
      try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
      let end = ContinuousClock.now + .seconds(20)
      var found: RemoteValue?
      while ContinuousClock.now < end {
        do {
          found = try await client.get("a", by: TestClient.soon(.seconds(1)))
          break
        } catch { try await Task.sleep(for: .milliseconds(20)) }
      }
      #expect(found == value)
      try member.server.start()
      try cluster.waitUntilWhole()
    }
    await end(client)
  }

  @Test func aStoppedPrimaryLosesItsLease() async throws {
    // Its connection is kept, so that what it answers when it wakes is heard: a value that is old, and that it took a write.
    let client = try await TestClient(cluster: cluster) { $0.silence = .seconds(60) }
    let key = client.key("a")
    for _ in 0..<rounds {
      try await client.set("a", TestClient.value("x"))
      let member = try cluster.owner(of: key.domain)
      let place = client.sink.count
      member.server.signal(SIGSTOP)
      // On its way when the lease ends. It may be executed by a primary that is none any more.
      let write = TestClient.write()
      async let late = client.write(key, TestClient.value("late"), write, .seconds(30))
      try await client.until("suspended") {
        client.sink.hasSuspended(key.domain, from: place) || client.sink.hasRaised(key.domain, from: place)
      }
      // Long enough for another to be chosen.
      try await Task.sleep(for: rounds > 1 ? .seconds(10) : .seconds(5))
      member.server.signal(SIGCONT)
      let outcome = await late
      #expect(outcome == .failure(.unknownOutcome))
      // Its caller is answered first.
      try await client.until("lost") { client.sink.events.contains(.settled(write.number, .lost)) }
      let value = TestClient.value("y")
      try await client.set("a", value)
      #expect(try await client.get("a") == value)
      #expect(client.sink.hasRaised(key.domain, from: place))
      #expect(try cluster.owner(of: key.domain).id != member.id)
      try cluster.waitUntilWhole()
    }
    await end(client)
  }

  @Test func aPauseOfAServerSuspendsAndResumesWithoutRaising() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    let member = try cluster.owner(of: key.domain)
    let place = client.sink.count
    member.server.signal(SIGSTOP)
    let value = TestClient.value("late")
    async let late = client.write(key, value, TestClient.write(), .seconds(30))
    try await client.until("suspended") { client.sink.hasSuspended(key.domain, from: place) }
    let middle = client.sink.count
    member.server.signal(SIGCONT)
    try await client.until("trusted again") { client.sink.hasTrusted(key.domain, from: middle) }
    // Answered while the lease was over, and counted when it was known that the owner is the same.
    #expect(await late == .success(.done(isEchoed: false, wasThere: nil)))
    #expect(try await client.get("a") == value)
    #expect(!client.sink.hasRaised(key.domain, from: place))
    await end(client)
  }

  @Test func aLateReplySettlesItsWrite() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    let member = try cluster.owner(of: key.domain)
    member.proxy.set { $0.delays[1] = .milliseconds(300) }
    let (write, value) = (TestClient.write(), TestClient.value("x"))
    #expect(await client.write(key, value, write, .milliseconds(100)) == .failure(.unknownOutcome))
    func outcome() -> RemoteOutcome? {
      for case .settled(write.number, let outcome) in client.sink.events { return outcome }
      return nil
    }
    try await client.until("settled") { outcome() != nil }
    guard case .answered(.done, _)? = outcome() else {
      Issue.record("settled as \(String(describing: outcome()))")
      return
    }
    member.proxy.heal()
    #expect(try await client.get("a") == value)
    await end(client)
  }

  @Test func whatWasGivenUpIsNotExecutedLater() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    try await client.set("a", TestClient.value("x"))
    let member = try cluster.owner(of: key.domain)
    try member.proxy.hold()
    let write = TestClient.write()
    #expect(await client.write(key, TestClient.value("late"), write, .milliseconds(200)) == .failure(.unknownOutcome))
    try await client.until("lost") { client.sink.events.contains(.settled(write.number, .lost)) }
    let value = TestClient.value("y")
    try await client.set("a", value)
    // Its bytes come now, on a connection that the server has ended.
    try member.proxy.release()
    try await Task.sleep(for: .milliseconds(300))
    #expect(try await client.get("a") == value)
    await end(client)
  }

  @Test func aSlotThatIsForcedAwayIsRaised() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("{forced}a")
    try await client.set("{forced}a", TestClient.value("x"))
    let source = try cluster.owner(of: key.domain)
    let target = try #require(cluster.members.first { $0.isPrimary && $0.id != source.id })
    let place = client.sink.count
    // Its keys vanish without a push.
    for member in [target, source] { member.server.cli("CLUSTER", "SETSLOT", "\(key.domain)", "NODE", target.id) }
    target.server.cli("CLUSTER", "BUMPEPOCH")
    try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
    #expect(try await client.get("{forced}a") == nil)
    await end(client)
  }

  @Test func aSilentCutEndsTheLease() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    try await client.set("a", TestClient.value("x"))
    let member = try cluster.owner(of: key.domain)
    let place = client.sink.count
    member.proxy.stall()
    // A write that is on its way has an unknown outcome, and then one that is known or lost.
    let write = TestClient.write()
    let outcome = await client.write(key, TestClient.value("late"), write, .milliseconds(200))
    #expect(outcome == .failure(.unknownOutcome))
    try await client.until("suspended") { client.sink.hasSuspended(key.domain, from: place) }
    await #expect(throws: RemoteError.unavailable(until: nil)) {
      try await client.get("a", by: TestClient.soon(.milliseconds(100)))
    }
    try await client.until("closed for silence") { client.sink.hasRaised(key.domain, from: place) }
    try await client.until("lost") { client.sink.events.contains(.settled(write.number, .lost)) }
    member.proxy.heal()
    #expect(try await client.get("a") != nil)
    await end(client)
  }

  @Test func whoeverIsLeftWithTheOldPrimaryIsSuspended() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    try await client.set("a", TestClient.value("x"))
    let member = try cluster.owner(of: key.domain)
    let place = client.sink.count
    // The client and this primary are on one side, all others on the other.
    for other in cluster.members where other !== member {
      other.proxy.cut()
      other.bus.cut()
    }
    member.bus.cut()
    try await client.until("suspended") {
      client.sink.hasSuspended(key.domain, from: place) || client.sink.hasRaised(key.domain, from: place)
    }
    let result = await client.write(key, TestClient.value("lost"), TestClient.write(), .milliseconds(300))
    guard case .failure(let error) = result else {
      Issue.record("a write was taken by a primary that is alone")
      return
    }
    #expect(error.isPassing)
    cluster.heal()
    try cluster.waitUntilWhole()
    try await client.set("a", TestClient.value("y"))
    await end(client)
  }

  @Test func garbageRaises() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    try await client.set("a", TestClient.value("x"))
    var random = SeededGenerator(announcedFor: "garbageRaises")
    for round in 0..<(3 * rounds) {
      let place = client.sink.count
      let bytes = round == 0 ? Array("$1073741825\r\n".utf8) : [UInt8(ascii: "?")] + random.bytes(200)
      try cluster.owner(of: key.domain).proxy.inject(bytes)
      try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
      #expect(try await client.get("a") != nil)
    }
    await end(client)
  }

  @Test func aReplyOverTheLimitCostsNothingElse() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("big")
    let member = try cluster.owner(of: key.domain)
    let size = 20 << 20
    member.server.cli("SETRANGE", "t:big", "\(size - 1)", "x")
    try await client.until("the change") { client.sink.changes().contains("big") }
    let place = client.sink.count
    for _ in 0..<2 {
      do {
        _ = try await client.get("big")
        Issue.record("it was read")
      } catch {
        guard case .tooLarge(let found, let limit) = error else { throw error }
        #expect(found >= size && limit == 16 << 20)
      }
    }
    #expect(!client.sink.hasRaised(key.domain, from: place))
    member.server.cli("DEL", "t:big")
    await end(client)
  }

  @Test func bigValuesGoByAConnectionOfTheirOwn() async throws {
    let client = try await TestClient(cluster: cluster)
    let value = TestClient.value([UInt8](repeating: 7, count: 1 << 20))
    #expect(try await client.set("big", value) == .done(isEchoed: true, wasThere: nil))
    for round in 0..<2 {
      let read = try await client.store.get(client.key("big"), by: TestClient.soon())
      #expect(read.reply == value && read.isKeepable == (round == 0))
    }
    await #expect(throws: RemoteError.self) {
      try await client.set("big", TestClient.value([UInt8](repeating: 7, count: 17 << 20)))
    }
    try await client.until("told") { client.sink.changes().contains("big") }
    await end(client)
  }

  @Test func whatWaitsIsBounded() async throws {
    let client = try await TestClient(cluster: cluster)
    for member in cluster.members { member.proxy.set { $0.isStalled = [true, true] } }
    let counts = Counts()
    let key = client.key("a")
    let deadline = TestClient.soon(.milliseconds(600))
    for _ in 0..<100_000 {
      client.store.get(key, from: .owner, by: deadline) { result in
        if case .failure(.unavailable) = result { counts.add(refused: 1) } else { counts.add(other: 1) }
      }
    }
    try await client.until("all are answered") { counts.total == 100_000 }
    #expect(counts.refused >= 100_000 - (64 << 10) - 4_096 * 3)
    for member in cluster.members { member.proxy.heal() }
    await end(client)
  }

  @Test func replicasAnswerWhoeverTakesThat() async throws {
    let client = try await TestClient(cluster: cluster)
    let key = client.key("a")
    let value = TestClient.value("x")
    try await client.set("a", value)
    #expect(try await client.store.replicated(key, to: 1, by: TestClient.soon()) >= 1)
    let member = try cluster.owner(of: key.domain)
    let place = client.sink.count
    member.proxy.cut()
    try await client.until("raised") { client.sink.hasRaised(key.domain, from: place) }
    let read = try await client.store.get(key, from: .any, by: TestClient.soon())
    #expect(read.reply == value && !read.isKeepable)
    await end(client)
  }
}
