import EskerRedis
import EskerRemote
import EskerRemoteTestSupport
import EskerTestSupport
import Testing

/// A server that holds writes back and answers everything else.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct PauseTests {
  @Test func readsAndLeasesGoOnWhileAWriteIsHeldBack() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let value = TestClient.value("x")
    try await client.set("a", value)
    let place = client.sink.count
    server.cli("CLIENT", "PAUSE", "60000", "WRITE")
    let answers = Counts()
    let first = Task {
      defer { answers.add(other: 1) }
      return try await client.set("b", TestClient.value("y"), by: TestClient.soon(.seconds(60)))
    }
    // Longer than leases and than a connection may be silent.
    let end = ContinuousClock.now + .seconds(4)
    while ContinuousClock.now < end {
      #expect(try await client.get("a") == value)
      try await Task.sleep(for: .milliseconds(20))
    }
    let second = Task {
      defer { answers.add(other: 1) }
      return try await client.set("c", TestClient.value("z"), by: TestClient.soon(.seconds(60)))
    }
    for _ in 0..<50 { #expect(try await client.get("a") == value) }
    #expect(answers.total == 0)
    #expect(!client.sink.hasSuspended(0, from: place))
    server.cli("CLIENT", "UNPAUSE")
    // The connection of changes is another one, and is told.
    #expect(try await first.value == .done(isEchoed: true, wasThere: nil))
    #expect(try await second.value == .done(isEchoed: true, wasThere: nil))
    try await client.until("writes go by the connection of changes") {
      try await client.set("d", TestClient.value("z")) == .done(isEchoed: false, wasThere: nil)
    }
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }

  /// Its connection is ended at the server, so it is not made later either.
  @Test func aWriteThatIsHeldBackForTooLongIsLost() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let value = TestClient.value("x")
    try await client.set("a", value)
    let place = client.sink.count
    server.cli("CLIENT", "PAUSE", "60000", "WRITE")
    let write = TestClient.write()
    await #expect(throws: RemoteError.unknownOutcome) {
      try await client.store.set(
        client.key("b"),
        TestClient.value("y"),
        as: write,
        by: TestClient.soon(.seconds(1))
      )
    }
    try await client.until("it is settled") {
      client.sink.events.dropFirst(place).contains(.settled(write.number, .lost))
    }
    #expect(try await client.get("a") == value)
    #expect(!client.sink.hasSuspended(0, from: place))
    server.cli("CLIENT", "UNPAUSE")
    try await client.set("c", TestClient.value("z"))
    #expect(try await client.get("b") == nil)
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }
}
