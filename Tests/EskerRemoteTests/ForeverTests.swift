import Esker
import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

/// Durations that are meant as forever neither trap nor turn into none.
@Suite struct ForeverTests {
  let server = TinyServer()
  let forever = Duration.seconds(Int64.max)

  private var options: RemoteOptions {
    var options = RemoteOptions()
    options.freshness = .bounded(forever)
    options.serveStale = forever
    options.softTimeout = forever
    options.hardTimeout = forever
    options.absence = forever
    var flight = RemoteSingleFlight()
    flight.lockLifetime = forever
    flight.producerLimit = forever
    flight.lockTimeout = forever
    options.singleFlight = flight
    return options
  }

  @Test func readsAndWritesTakeThem() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options)
    try await texts.async.set("a", forKey: "k", expiry: .after(forever))
    #expect(try await texts.async.value(forKey: "k") == "a")
    #expect(try await texts.async.value(forKey: "none") == nil)
    var production = StorageRequest.Production(lifetime: forever, serveStale: forever)
    production.softTimeout = forever
    production.hardTimeout = forever
    #expect(try await texts.async.value(forKey: "made", production) { "b" } == "b")
    #expect(try await texts.async.value(forKey: "made", production) { "c" } == "b")
    try await texts.async.removeValue(forKey: "k")
    await tiers.stop()
  }

  @Test func queuesTakeThem() async throws {
    let process = try await QueueProcess(server, isAway: true) {
      $0.ageLimit = .seconds(Int64.max)
      $0.greatestPause = .seconds(Int64.max)
    }
    var options = options
    options.queue = RemoteQueueOptions(log: process.log)
    let numbers: RemoteStorage<String, Int> = try process.tiers.storage("texts", options: options)
    try await numbers.async.set(1, forKey: "k")
    async let isSet = numbers.async.setIfAbsent(2, forKey: "k")
    try await Task.sleep(for: .milliseconds(10))
    process.find()
    let wasSet = try await isSet
    #expect(!wasSet)
    try await process.texts.queueDrained()
    await process.tiers.stop()
  }

  @Test func copiesInTheLogAreKept() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.appending("log"))
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: options)
    try await texts.async.set("a", forKey: "k", expiry: .after(.seconds(60)))
    await tiers.stop()
    #expect(try log.keyspace("test/p:texts").count() == 1)
  }
}
