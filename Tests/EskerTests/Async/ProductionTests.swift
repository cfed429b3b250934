import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import Esker

/// Producers that are slow or fail, and values that are produced anew before they expire. Lives are long: on a loaded machine a test may
/// wait for minutes.
@Suite struct ProductionTests {
  let texts = MemoryStorage<String, String>()

  /// A producer that waits until it is let go.
  private final class Gate: Sendable {
    let isOpen = Atomic<Bool>(false)
    let runs = Atomic<Int>(0)

    func pass(_ value: String) async throws -> String {
      runs.add(1, ordering: .sequentiallyConsistent)
      #expect(try await eventually { isOpen.load(ordering: .sequentiallyConsistent) })
      return value
    }
  }

  struct Broken: Error {}

  /// What is over its life, and kept for fail-safe: its expiry is nearer than the time for which stale values are served.
  private func makeStale() async throws {
    try await texts.async.set("old", forKey: "k", expiry: .after(.seconds(3_000_000)))
  }

  @Test func aStaleValueIsServedWhileTheProducerTakesItsTime() async throws {
    try await makeStale()
    let gate = Gate()
    var production = StorageRequest.Production(lifetime: .seconds(60_000), serveStale: .seconds(3_600_000))
    production.softTimeout = .milliseconds(5)
    for _ in 0..<3 {
      #expect(try await texts.async.value(forKey: "k", production) { try await gate.pass("new") } == "old")
    }
    #expect(gate.runs.load(ordering: .sequentiallyConsistent) == 1)
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await eventually { try texts.value(forKey: "k") == "new" })
  }

  @Test func aStaleValueIsServedWhereTheProducerFails() async throws {
    try await makeStale()
    let production = StorageRequest.Production(lifetime: .seconds(60_000), serveStale: .seconds(3_600_000))
    #expect(try await texts.async.value(forKey: "k", production) { throw Broken() } == "old")
    // Without fail-safe it would still be fresh; absent, there is nothing to serve.
    await #expect(throws: StorageError.self) {
      try await texts.async.value(forKey: "other", production) { throw Broken() }
    }
    #expect(try await texts.async.value(forKey: "k", production) { "new" } == "new")
    #expect(try texts.value(forKey: "k") == "new")
  }

  @Test func aCallFailsInTimeAndTheProducerGoesOn() async throws {
    let gate = Gate()
    let production = StorageRequest.Production(lifetime: .seconds(60_000), hardTimeout: .milliseconds(5))
    await #expect(throws: StorageError.self) {
      try await texts.async.value(forKey: "k", production) { try await gate.pass("made") }
    }
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await eventually { try texts.value(forKey: "k") == "made" })
  }

  @Test func aValueIsProducedAnewBeforeItExpires() async throws {
    try await texts.async.set("old", forKey: "k", expiry: .after(.seconds(100_000)))
    var production = StorageRequest.Production(lifetime: .seconds(1_000_000))
    #expect(try await texts.async.value(forKey: "k", production) { "new" } == "old")
    production.refreshAfter = 0.5
    #expect(try await texts.async.value(forKey: "k", production) { "new" } == "old")
    #expect(try await eventually { try texts.value(forKey: "k") == "new" })
    #expect(try await texts.async.value(forKey: "k", production) { throw Broken() } == "new")
  }

  private func waiters(_ key: String) throws -> Int {
    let flight = FlightKey(identity: try texts.identity(of: key), value: ObjectIdentifier(String.self))
    return FlightTable.shared.waiterCount(for: flight)
  }

  @Test func whoDoesNotWaitForASlowProducerLeavesNothingBehind() async throws {
    let gate = Gate()
    var production = StorageRequest.Production(lifetime: .seconds(60_000), hardTimeout: .milliseconds(1))
    for _ in 0..<20 {
      await #expect(throws: StorageError.self) {
        try await texts.async.value(forKey: "k", production) { try await gate.pass("made") }
      }
    }
    #expect(try waiters("k") == 0 && gate.runs.load(ordering: .sequentiallyConsistent) == 1)
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await eventually { try texts.value(forKey: "k") == "made" })
    // Nor do those that are served what will soon be produced anew.
    try await texts.async.set("old", forKey: "k", expiry: .after(.seconds(10_000)))
    gate.isOpen.store(false, ordering: .sequentiallyConsistent)
    production.refreshAfter = 0.5
    for _ in 0..<20 {
      #expect(try await texts.async.value(forKey: "k", production) { try await gate.pass("new") } == "old")
    }
    #expect(try waiters("k") == 0)
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await eventually { try texts.value(forKey: "k") == "new" })
    #expect(gate.runs.load(ordering: .sequentiallyConsistent) == 2)
  }

  @Test func aProducerDoesNotWaitForWhatItOnlyHasRenewed() async throws {
    try await texts.async.set("old", forKey: "b", expiry: .after(.seconds(10_000)))
    let production = StorageRequest.Production(lifetime: .seconds(60_000), refreshAfter: 0.5)
    let made = try await texts.async.value(forKey: "a") { [texts] in
      let found = try await texts.async.value(forKey: "b", production) {
        try await texts.async.value(forKey: "a") { "never" }
      }
      #expect(found == "old")
      return "made"
    }
    #expect(made == "made")
    #expect(try await eventually { try texts.value(forKey: "b") == "made" })
  }

  @Test func livesAreShortenedAtRandom() async throws {
    let production = StorageRequest.Production(lifetime: .seconds(100_000), serveStale: .seconds(50_000), jitter: 0.5)
    var lives: Set<Int64> = []
    for key in 0..<40 {
      _ = try await texts.async.value(forKey: "\(key)", production) { "made" }
      let left = try #require(try await texts.async.entry(forKey: "\(key)")?.remaining())
      #expect(left > .seconds(90_000) && left <= .seconds(150_000))
      lives.insert(left.components.seconds)
    }
    #expect(lives.count > 20)
  }

  @Test func livesAndTimeoutsMayBeForever() async throws {
    let forever = Duration.seconds(Int64.max)
    var production = StorageRequest.Production(lifetime: forever, serveStale: forever)
    production.softTimeout = forever
    production.hardTimeout = forever
    production.refreshAfter = 0.5
    for made in ["first", "second"] {
      #expect(try await texts.async.value(forKey: "k", production) { made } == "first")
    }
    // What may be served for ever once it is stale is not fresh for ever.
    let short = StorageRequest.Production(lifetime: .milliseconds(1), serveStale: forever)
    #expect(try await texts.async.value(forKey: "l", short) { "old" } == "old")
    try await Task.sleep(for: .milliseconds(20))
    #expect(try await texts.async.value(forKey: "l", short) { "new" } == "new")
  }

  @Test func whatSomebodyElseWroteMeanwhileStays() async throws {
    try await makeStale()
    let gate = Gate()
    let production = StorageRequest.Production(lifetime: .seconds(60_000), serveStale: .seconds(3_600_000))
    let task = Task { [texts] in try await texts.async.value(forKey: "k", production) { try await gate.pass("new") } }
    #expect(try await eventually { gate.runs.load(ordering: .sequentiallyConsistent) == 1 })
    try await texts.async.set("theirs", forKey: "k")
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await task.value == "theirs")
    #expect(try texts.value(forKey: "k") == "theirs")
  }

  @Test func whoIsCancelledIsToldSoAndTheProducerGoesOn() async throws {
    let gate = Gate()
    let production = StorageRequest.Production(lifetime: .seconds(60_000))
    let task = Task { [texts] in try await texts.async.value(forKey: "k", production) { try await gate.pass("made") } }
    #expect(try await eventually { gate.runs.load(ordering: .sequentiallyConsistent) == 1 })
    task.cancel()
    await #expect(throws: StorageError.self) { try await task.value }
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await eventually { try texts.value(forKey: "k") == "made" })
  }
}
