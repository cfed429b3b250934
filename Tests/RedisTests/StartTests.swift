import EskerPlatform
import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Testing

/// How a store starts, how it gets in, and what it says of itself.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing), .timeLimit(.minutes(2)))
struct StartTests {
  private func store(
    at port: Int,
    _ change: (inout RedisConfiguration) -> Void = { _ in }
  ) throws -> RedisServer {
    var configuration = RedisConfiguration([.init("127.0.0.1", port: port)], logger: TestClient.logger)
    change(&configuration)
    return try RedisServer(configuration)
  }

  private func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TestFailure("not in time: \(what)") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func aStoreStartsOnceAndGoesOnTrying() async throws {
    let port = freePort()
    let store = try store(at: port) { $0.startTimeout = .milliseconds(100) }
    await #expect(throws: RemoteError.unavailable(until: nil)) { try await store.start(prefix: [], sink: Recorder()) }
    await #expect(throws: RemoteError.unsupported("a second start")) {
      try await store.start(prefix: [], sink: Recorder())
    }
    let before = await store.health()
    #expect(before.status == .unavailable && before.servers == 1 && before.connected == 0 && before.leased == 0)
    let server = try TestServer(port: port)
    try await until("a lease") { await store.health().status == .available }
    let after = await store.health()
    #expect(after.since > before.since && after.connected == 1 && after.leased == 1 && after.refusal == nil)
    #expect(try await store.get(store.key([1]), by: TestClient.soon()).reply == nil)
    await #expect(throws: RemoteError.unsupported("a second start")) {
      try await store.start(prefix: [], sink: Recorder())
    }
    server.kill()
    try await until("the end of the lease") { await store.health().status == .unavailable }
    await store.stop()
  }

  @Test func aStartThatIsCancelledStopsTheStore() async throws {
    let store = try store(at: freePort()) { $0.startTimeout = .seconds(3_600) }
    let start = Task { try await store.start(prefix: [], sink: Recorder()) }
    try await until("it tries") { await store.health().servers == 1 }
    // Waits for a lease.
    let read = Task { try await store.get(store.key([1]), by: TestClient.soon(.seconds(3_600))) }
    start.cancel()
    await #expect(throws: RemoteError.stopped) { try await start.value }
    await #expect(throws: RemoteError.stopped) { try await read.value }
    await #expect(throws: RemoteError.stopped) { try await store.get(store.key([1]), by: TestClient.soon()) }
    await #expect(throws: RemoteError.unsupported("a second start")) {
      try await store.start(prefix: [], sink: Recorder())
    }
    #expect(await store.health().servers == 0)
    await store.stop()
  }

  @Test func aStartOfACancelledTaskDoesNothing() async throws {
    let store = try store(at: freePort()) { $0.startTimeout = .seconds(3_600) }
    let start = Task {
      withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await store.start(prefix: [], sink: Recorder())
    }
    await #expect(throws: RemoteError.stopped) { try await start.value }
    await store.stop()
  }

  @Test func credentialsAreAskedForAtEachConnection() async throws {
    struct NoToken: Error {}
    let server = try TestServer(["--requirepass", "one"])
    let password = Guarded<String?>("one", .leaf)
    let client = try await TestClient(server: server.port) {
      $0.password = "not this"
      $0.credentials = {
        guard let password = password.withLock({ $0 }) else { throw NoToken() }
        return RedisConfiguration.Credentials(password: password)
      }
    }
    try await client.set("a", TestClient.value("x"))
    // Who is connected already stays so.
    server.cli("-a", "one", "CONFIG", "SET", "requirepass", "two")
    password.withLock { $0 = nil }
    let place = client.sink.count
    server.cli("-a", "two", "CLIENT", "KILL", "TYPE", "normal")
    try await client.until("a lost connection") { client.sink.hasRaised(0, from: place) }
    password.withLock { $0 = "two" }
    #expect(try await client.get("a") != nil)
    await client.store.stop()

    password.withLock { $0 = nil }
    let store = try store(at: server.port) {
      $0.startTimeout = .milliseconds(200)
      $0.credentials = { throw NoToken() }
    }
    await #expect(throws: RemoteError.notExecuted("get credentials: NoToken()")) {
      try await store.start(prefix: [], sink: Recorder())
    }
    await store.stop()
  }

  @Test func healthSaysWhyAServerDoesNotTakeTheStore() async throws {
    let server = try TestServer(["--requirepass", "one"])
    let store = try store(at: server.port)
    await #expect(throws: RemoteError.self) { try await store.start(prefix: [], sink: Recorder()) }
    guard case .refused(let code, _) = await store.health().refusal else {
      Issue.record("\(await store.health())")
      return await store.stop()
    }
    #expect(code == "NOAUTH" || code == "WRONGPASS")
    await store.stop()
  }
}
