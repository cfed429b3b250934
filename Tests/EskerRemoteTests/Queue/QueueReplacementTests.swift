import Esker
import EskerTestSupport
import Testing

@testable import EskerRemote

/// A queued write is replaced by another, while nobody knows whether it has arrived: the connection was cut or the process killed.
@Suite struct QueueReplacementTests {
  enum First: CaseIterable { case removal, value, shortValue }

  enum Third: CaseIterable {
    case nothing
    /// Writes between the two.
    case between
    /// Writes or removes after both.
    case later, removal
  }

  struct Case: CustomStringConvertible {
    var first: First
    /// Whether it was executed; otherwise the remote store is away from the start.
    var hasArrived: Bool
    /// Whether the process is killed between the two; otherwise the connection is cut.
    var isKilled: Bool
    var secondIsRemoval: Bool
    /// Whether there was a value that the writer knew.
    var hasBase: Bool
    var third: Third

    var description: String {
      "\(first), arrived: \(hasArrived), killed: \(isKilled), then removal: \(secondIsRemoval), base: \(hasBase), third: \(third)"
    }

    static let all = First.allCases.flatMap { first in
      Third.allCases.flatMap { third in
        (0..<16).map { bits in
          Case(
            first: first,
            hasArrived: bits & 1 != 0,
            isKilled: bits & 2 != 0,
            secondIsRemoval: bits & 4 != 0,
            hasBase: bits & 8 != 0,
            third: third
          )
        }
      }
    }
  }

  /// What is there in the end, by the rules; nil for nothing.
  private static func expected(_ history: Case) -> String? {
    if history.third == .later { return "later" }
    if history.secondIsRemoval { return nil }
    // A removal by another wins only over what was written on a value, and that has not expired.
    return history.third == .removal && history.hasBase && history.first == .value ? nil : "second"
  }

  /// Runs a history; what is there in the end, and how many writes arrived or were lost.
  private static func run(_ history: Case, _ faults: PlantedFaults = []) async throws -> (value: String?, told: UInt64)
  {
    let server = TinyServer()
    let process = try await QueueProcess(server, faults)
    let key = "texts:k"
    if history.hasBase {
      try server.foreignWrite("base", key)
      #expect(try await process.texts.async.value(forKey: "k") == "base")
    }
    server.clock.advance(milliseconds: 10)
    if history.hasArrived { server.loop.sync { server.swallowsReplies = true } } else { process.lose() }
    switch history.first {
    case .removal: try await process.texts.async.removeValue(forKey: "k")
    case .value: try await process.texts.async.set("first", forKey: "k")
    case .shortValue: try await process.texts.async.set("first", forKey: "k", expiry: .after(.seconds(1)))
    }
    if history.hasArrived { #expect(try await eventually { server.loop.sync { server.replays } == 1 }) }
    if history.isKilled {
      try process.kill()
      try await process.start(isAway: true)
    } else {
      process.store.cut()
      #expect(try await eventually { process.queue.state.withLock { $0.book.underWay } == 0 })
    }
    server.loop.sync {
      server.swallowsReplies = false
      server.isExpiring = true
    }
    server.clock.advance(milliseconds: 2_000)
    server.expire()

    if history.third == .between { try server.foreignWrite("between", key) }
    server.clock.advance(milliseconds: 10)
    if history.secondIsRemoval {
      try await process.texts.async.removeValue(forKey: "k")
    } else {
      try await process.texts.async.set("second", forKey: "k")
    }
    server.clock.advance(milliseconds: 10)
    switch history.third {
    case .nothing, .between: break
    case .later: try server.foreignWrite("later", key)
    case .removal: server.put(nil, key)
    }
    process.find()
    try await process.drain()
    let value = try server.text(key)
    #expect(try await process.texts.async.value(forKey: "k") == value)
    await process.tiers.stop()
    return (value, process.statistics.applied + process.statistics.superseded)
  }

  @Test(arguments: Case.all) func theLastWriteArrivesOrLosesToANewerOne(_ history: Case) async throws {
    let outcome = try await Self.run(history)
    #expect(outcome.value == Self.expected(history))
    #expect(outcome.told == 1)
  }

  @Test func theErrorOfKeepingTheBaseIsFound() async throws {
    var failures = 0
    for history in Case.all where history.hasArrived && history.hasBase && history.third == .nothing {
      if try await Self.run(history, .keepBase).value != Self.expected(history) { failures += 1 }
    }
    // Values after removals, and after values that have expired.
    #expect(failures == 4)
  }

  /// The first of three is answered while the second waits, which is executed and not answered.
  @Test func whatAReplayHasLeftIsInDoubtAfterTheNextOne() async throws {
    let server = TinyServer()
    let process = try await QueueProcess(server)
    server.setSilent(true)
    try await process.texts.async.set("first", forKey: "k")
    #expect(try await eventually { server.loop.sync { server.waiting.count } == 1 })
    try await process.texts.async.removeValue(forKey: "k")
    // Of the second replay no answer comes.
    server.loop.sync {
      server.isSilent = false
      let first = server.waiting.removeFirst()
      first.perform()
      server.swallowsReplies = true
    }
    #expect(try await eventually { server.loop.sync { server.replays } == 2 })
    process.store.cut()
    #expect(try await eventually { process.queue.state.withLock { $0.book.underWay } == 0 })
    server.loop.sync { server.swallowsReplies = false }
    #expect(server.value("texts:k") == nil)
    try await process.texts.async.set("third", forKey: "k")
    process.find()
    try await process.drain()
    #expect(try server.text("texts:k") == "third")
    await process.tiers.stop()
  }

  @Test func aValueOfAClockThatIsAheadDoesNotWinOverWhatWasWrittenOnIt() async throws {
    let server = TinyServer()
    let process = try await QueueProcess(server)
    let version = RemoteVersion(time: UInt64(server.clock.wallMilliseconds()) + 3_600_000, count: 0, writer: 99)
    let payload = try Transformer<String>.standard.encode("base")
    server.put(payload.withBytes { RemoteValue(RemoteEnvelope(version: version), payload: $0) }, "texts:k")
    #expect(try await process.texts.async.value(forKey: "k") == "base")
    process.lose()
    try await process.texts.async.removeValue(forKey: "k")
    try await process.texts.async.set("second", forKey: "k")
    process.find()
    try await process.drain()
    #expect(try server.text("texts:k") == "second")
    await process.tiers.stop()
  }

  /// What was given up may have arrived: the copy in the log says no more what is there.
  @Test func whatWasGivenUpLeavesTheUnknown() async throws {
    let server = TinyServer()
    let process = try await QueueProcess(server) { $0.ageLimit = .seconds(60) }
    try server.foreignWrite("base", "texts:k")
    #expect(try await process.texts.async.value(forKey: "k") == "base")
    server.loop.sync { server.swallowsReplies = true }
    try await process.texts.async.removeValue(forKey: "k")
    #expect(try await eventually { server.loop.sync { server.replays } == 1 })
    process.store.cut()
    #expect(try await eventually { process.queue.state.withLock { $0.book.underWay } == 0 })
    server.clock.advance(milliseconds: 61_000)
    process.queue.pump()
    #expect(try await eventually { process.statistics.count == 0 && process.statistics.failed == 1 })
    server.loop.sync { server.swallowsReplies = false }
    try await process.texts.async.set("new", forKey: "k")
    process.find()
    try await process.drain()
    #expect(try server.text("texts:k") == "new")
    await process.tiers.stop()
  }
}
