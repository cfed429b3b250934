import EskerRedis
import EskerRemote
import InMemoryTracing
import MetricsTestKit
import ServiceLifecycle
import Testing
import Tracing

/// What a client tells those who operate it, and its life in a group of services.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ObservabilityTests {
  @Test func eachRequestIsASpanOfWhoMadeIt() async throws {
    let server = try TestServer()
    let tracer = InMemoryTracer()
    let client = try await TestClient(server: server.port) { $0.tracer = tracer }
    let parent = tracer.startAnySpan("request")
    try await ServiceContext.withValue(parent.context) {
      try await client.set("a", TestClient.value("one"))
      #expect(try await client.get("a") != nil)
    }
    server.cli("SADD", "t:set", "a")
    await #expect(throws: RemoteError.self) { try await client.get("set") }
    parent.end()
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["redis set", "redis get", "redis get", "request"])
    #expect(spans.prefix(2).allSatisfy { $0.spanContext.parentSpanID == spans[3].spanContext.spanID })
    #expect(
      spans.prefix(3).allSatisfy { $0.kind == .client && $0.attributes["db.system.name"]?.toSpanAttribute() == "redis" }
    )
    #expect(spans.map(\.errors.count) == [0, 0, 1, 0])
    #expect(tracer.activeSpans.isEmpty)
    await client.store.stop()
  }

  @Test func figuresOfEachServerAreMetrics() async throws {
    let server = try TestServer()
    let metrics = TestMetrics()
    let client = try await TestClient(server: server.port) { $0.metrics = metrics }
    let place = [("server", "127.0.0.1:\(server.port)")]
    for _ in 0..<10 { try await client.set("a", TestClient.value("one")) }
    server.cli("SET", "t:b", "told")
    try await client.until("counted") {
      metrics.counterTotal(label: "esker_redis_requests", dimensions: place) == 10
        && metrics.counterTotal(label: "esker_redis_pushes", dimensions: place) == 1
    }
    #expect(metrics.counterTotal(label: "esker_redis_replies", dimensions: place) == 10)
    #expect(metrics.counterTotal(label: "esker_redis_connections", dimensions: place) >= 1)
    let left = try #require(try metrics.expectMeter("esker_redis_lease_left_seconds", place).lastValue)
    #expect(left > 0 && left <= 1.5)
    #expect(try metrics.expectMeter("esker_redis_domains", place).lastValue == 1)
    await client.store.stop()
  }

  @Test func aGroupOfServicesStopsItsClient() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let group = ServiceGroup(services: [client.store], logger: TestClient.logger)
    async let running: Void = group.run()
    try await client.set("a", TestClient.value("one"))
    await group.triggerGracefulShutdown()
    try await running
    await #expect(throws: RemoteError.stopped) { try await client.get("a") }
    // Whoever asks is left.
    try await client.until("disconnected") { server.cli("CLIENT", "LIST").split(separator: "\n").count == 1 }
  }
}
