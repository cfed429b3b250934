import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Testing

/// A single server.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ServerTests {
  /// Servers that are started later must not keep connections of this process open: what is cut here would only fall silent.
  @Test func cutConnectionsAreClosedAtBothEnds() async throws {
    let server = try TestServer()
    let proxy = try Proxy(to: server.port)
    let client = try await TestClient(server: proxy.port)
    let others = [try TestServer(), try TestServer()]
    // Whoever asks is one.
    func connections() -> Int { server.cli("CLIENT", "LIST").split(separator: "\n").count }
    #expect(connections() > 1)
    proxy.cut()
    try await client.until("the server knows of the cut") { connections() == 1 }
    withExtendedLifetime(others) {}
    await client.store.stop()
  }

  @Test func valuesAreWrittenReadCheckedAndRemoved() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let (key, value) = (client.key("a"), TestClient.value("one"))
    #expect(try await client.get("a") == nil)
    #expect(try await client.set("a", value) == .done(isEchoed: false, wasThere: nil))
    let read = try await client.store.get(key, by: TestClient.soon())
    #expect(read.reply == value && read.isKeepable)
    let version = try #require(value.version)
    #expect(try await client.store.check(key, version, by: TestClient.soon()).reply == .same)
    try await client.set("a", TestClient.value("two"))
    #expect(try await client.store.check(key, version, by: TestClient.soon()).reply == .different)
    #expect(
      try await client.store.remove(key, as: TestClient.write(), by: TestClient.soon()).reply
        == .done(isEchoed: false, wasThere: true)
    )
    #expect(try await client.get("a") == nil)
    #expect(client.store.time(of: 0) != nil)
    await client.store.stop()
    #expect(client.sink.violations() == [])
    await #expect(throws: RemoteError.stopped) { try await client.get("a") }
  }

  @Test func conditionsAreChecked() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let (key, one, two) = (client.key("a"), TestClient.value("one"), TestClient.value("two"))
    let (v1, v2) = (try #require(one.version), try #require(two.version))
    func set(_ value: RemoteValue, _ condition: RemoteCondition) async throws -> RemoteWritten {
      try await client.store.set(key, value, if: condition, as: TestClient.write(), by: TestClient.soon()).reply
    }
    #expect(try await set(one, .present) == .refused(.absent))
    #expect(try await set(one, .version(v1)) == .refused(.absent))
    #expect(try await set(one, .absent) == .done(isEchoed: false, wasThere: false))
    #expect(try await set(two, .absent) == .refused(.version(v1)))
    #expect(try await set(two, .version(v2)) == .refused(.version(v1)))
    #expect(try await set(two, .version(v1)) == .done(isEchoed: true, wasThere: true))
    #expect(try await client.get("a") == two)
    func remove(_ condition: RemoteCondition) async throws -> RemoteWritten {
      try await client.store.remove(key, if: condition, as: TestClient.write(), by: TestClient.soon()).reply
    }
    #expect(try await remove(.version(v1)) == .refused(.version(v2)))
    #expect(try await remove(.version(v2)) == .done(isEchoed: true, wasThere: true))
    #expect(try await remove(.present) == .refused(.absent))
    server.cli("SET", "t:a", "foreign")
    #expect(try await set(two, .absent) == .refused(.foreign))
    #expect(try await set(two, .version(v1)) == .refused(.foreign))
    await client.store.stop()
  }

  @Test func valuesOfOthersAreReadWithTheirExpiry() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    server.cli("SET", "t:a", "foreign", "PXAT", "4000000000000")
    let value = try await client.get("a")
    #expect(
      value?.envelope == nil && value?.expiry == 4_000_000_000_000
        && value.map { Array($0.payload) } == Array("foreign".utf8)
    )
    server.cli("RPUSH", "t:list", "x")
    await #expect(
      throws: RemoteError.refused(code: "WRONGTYPE", message: "Operation against a key holding the wrong kind of value")
    ) {
      try await client.get("list")
    }
    await client.store.stop()
  }

  @Test func aTouchChangesEnvelopeAndLife() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let (key, value) = (client.key("a"), TestClient.value("one"))
    try await client.set("a", value)
    let life = TestClient.value("", expiry: 4_000_000_000_000)
    let envelope = try #require(life.envelope)
    func touch(_ envelope: RemoteEnvelope) async throws -> RemoteWritten {
      try await client.store.touch(key, envelope, as: TestClient.write(), by: TestClient.soon()).reply
    }
    #expect(try await touch(envelope) == .done(isEchoed: true, wasThere: true))
    let read = try #require(try await client.get("a"))
    #expect(read.envelope == envelope && Array(read.payload) == Array("one".utf8))
    #expect(server.cli("PEXPIRETIME", "t:a").contains("4000000000000"))
    server.cli("DEL", "t:a")
    #expect(try await touch(envelope) == .refused(.absent))
    await client.store.stop()
  }

  @Test func queuedWritesAreAppliedOnce() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let key = client.key("a")
    let (old, base, intent, newer) = (
      TestClient.value("old"), TestClient.value("base"), TestClient.value("intent"), TestClient.value("newer")
    )
    func apply(_ value: RemoteValue?, _ version: RemoteVersion?, _ base: RemoteFound?) async throws -> RemoteApplied {
      let intent = RemoteIntent(value, version: try #require(version), base: base)
      return try await client.store.apply(key, intent, as: TestClient.write(), by: TestClient.soon()).reply
    }
    try await client.set("a", base)
    let found = RemoteFound.version(try #require(base.version))
    #expect(try await apply(old, old.version, nil) == .superseded(by: found))
    #expect(try await apply(old, old.version, found) == .applied)
    try await client.set("a", base)
    #expect(try await apply(intent, intent.version, nil) == .applied)
    #expect(try await apply(intent, intent.version, found) == .already)
    try await client.set("a", newer)
    #expect(try await apply(nil, intent.version, found) == .superseded(by: .version(try #require(newer.version))))
    #expect(try await apply(nil, intent.version, .version(try #require(newer.version))) == .applied)
    #expect(try await apply(nil, intent.version, nil) == .already)
    #expect(try await apply(intent, intent.version, found) == .superseded(by: .absent))
    await client.store.stop()
  }

  @Test func changesOfOthersAreToldAndOwnOnesAreNot() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    try await client.set("mine", TestClient.value("x"))
    server.cli("SET", "t:theirs", "x")
    server.cli("SET", "other:key", "x")
    server.cli("DEL", "t:mine")
    try await client.until("the changes") { client.sink.changes().count >= 2 }
    #expect(client.sink.changes() == ["theirs", "mine"])
    let place = client.sink.count
    server.cli("FLUSHALL")
    try await client.until("a null push") {
      client.sink.hasRaised(0, from: place) && client.sink.hasTrusted(0, from: place)
    }
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }

  @Test func anotherRunOfTheServerRaises() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    try await client.set("a", TestClient.value("x"))
    let place = client.sink.count
    server.kill()
    try server.start()
    try await client.until("a raise") { client.sink.hasRaised(0, from: place) }
    // A server that takes long to start is one that cannot be reached for a while.
    let raised = client.sink.count
    try await client.until("a lease of the other run") { client.sink.hasTrusted(0, from: raised) }
    #expect(try await client.get("a") == nil)
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }

  @Test func passwordsAndKindsOfServersAreChecked() async throws {
    let server = try TestServer(["--requirepass", "secret"])
    await #expect(throws: RemoteError.self) { _ = try await TestClient(server: server.port) }
    do {
      _ = try await TestClient(server: server.port) { $0.password = "wrong" }
      Issue.record("a wrong password was taken")
    } catch let error as RemoteError {
      guard case .refused(let code, _) = error else { throw error }
      #expect(code == "WRONGPASS")
    }
    let client = try await TestClient(server: server.port) { $0.password = "secret" }
    #expect(try await client.get("a") == nil)
    await client.store.stop()
    var configuration = RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)
    configuration.password = "secret"
    let cluster = try RedisCluster(configuration)
    await #expect(throws: RemoteError.self) { try await cluster.start(prefix: [], sink: Recorder()) }
    await cluster.stop()
  }

  /// The rights that the documentation asks for.
  @Test func aUserNeedsOnlyTheRightsThatAreSaid() async throws {
    let server = try TestServer()
    server.cli(
      words: ["ACL", "SETUSER", "shop", "on", ">secret", "~t:*", "resetchannels"]
        + [
          "+@read", "+@write", "+@connection", "+@scripting", "+wait", "+cluster|nodes", "+cluster|info",
          "+client|kill",
        ]
        + ["+client|tracking", "+info", "+time", "+config|get"]
    )
    server.cli("ACL", "SETUSER", "default", "off")
    let client = try await TestClient(server: server.port) { ($0.user, $0.password) = ("shop", "secret") }
    let (key, value) = (client.key("a"), TestClient.value("x"))
    try await client.set("a", value)
    let version = try #require(value.version)
    #expect(
      try await client.store.set(
        key,
        TestClient.value("y"),
        if: .version(version),
        as: TestClient.write(),
        by: TestClient.soon()
      ).reply
        == .done(isEchoed: true, wasThere: true)
    )
    #expect(try await client.store.replicated(key, to: 0, by: TestClient.soon()) == 0)
    await client.store.stop()
  }

  /// Also one that is not needed before a connection is lost.
  @Test(arguments: [
    "-client|kill", "-client|tracking", "-client|trackinginfo", "-client|info", "-info", "-time", "-@dangerous +info",
    "resetkeys ~other:*",
  ])
  func aRightThatIsMissingIsSaidAtTheStart(_ rights: String) async throws {
    let server = try TestServer()
    let words = rights.split(separator: " ").map(String.init)
    server.cli(words: ["ACL", "SETUSER", "shop", "on", ">secret", "~t:*", "&*", "+@all"] + words)
    do {
      _ = try await TestClient(server: server.port) {
        ($0.user, $0.password, $0.startTimeout) = ("shop", "secret", .seconds(2))
      }
      Issue.record("a user without a right was taken")
    } catch let error as RemoteError {
      guard case .refused(let code, let message) = error else { throw error }
      #expect(code == "NOPERM", "\(message)")
    }
  }

  @Test func severalKeysAreReadAndCheckedAtOnce() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    var keys: [RemoteKey] = []
    var values: [RemoteValue] = []
    for number in 0..<100 {
      keys.append(client.key("k\(number)"))
      values.append(TestClient.value("\(number)"))
      try await client.set("k\(number)", values[number])
    }
    let counts = Counts()
    let wanted = values
    client.store.get(several: keys, by: TestClient.soon()) { index, result in
      if case .success(let stamped) = result, stamped.reply == wanted[index], stamped.isKeepable {
        counts.add(other: 1)
      }
    }
    let versions = zip(keys, values).enumerated().compactMap { index, pair in
      (index % 2 == 0 ? pair.1.version : values[0].version).map { (key: pair.0, version: $0) }
    }
    client.store.check(several: versions, by: TestClient.soon()) { index, result in
      if case .success(let stamped) = result, stamped.reply == (index % 2 == 0 ? .same : .different) {
        counts.add(other: 1)
      }
    }
    try await client.until("200 answers") { counts.total == 200 }
    await client.store.stop()
  }
}
