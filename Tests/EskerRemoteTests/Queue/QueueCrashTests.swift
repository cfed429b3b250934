import Esker
import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

/// A process is killed between each two steps of a queued write and started again, while a third writes or not.
@Suite struct QueueCrashTests {
  /// How far the write had come.
  enum Crash: CaseIterable {
    /// Acknowledged; the remote store was away.
    case queued
    /// Sent, and what was sent is lost.
    case sent
    /// Sent, and executed after the process was started again, beside its replay.
    case late
    /// Executed; the answer did not come.
    case executed
    /// Answered, and the record removed.
    case done
  }

  enum Third: CaseIterable { case nothing, later, earlier, removal }

  struct Case: CustomStringConvertible {
    var crash: Crash
    var third: Third
    /// Whether there was a value that the writer knew.
    var hasBase: Bool
    var isRemoval: Bool
    /// Killed twice in the same way.
    var isTwice: Bool

    var description: String { "\(crash), third: \(third), base: \(hasBase), removal: \(isRemoval), twice: \(isTwice)" }

    static let all = Crash.allCases.flatMap { crash in
      Third.allCases.flatMap { third in
        [false, true].flatMap { hasBase in
          [false, true].flatMap { isRemoval in
            [false, true].map { Case(crash: crash, third: third, hasBase: hasBase, isRemoval: isRemoval, isTwice: $0) }
          }
        }
      }
    }
  }

  /// What is there in the end, by the rules; nil for nothing.
  static func expected(_ history: Case) -> String? {
    let own = history.isRemoval ? nil : "own"
    switch (history.crash, history.third) {
    // Nobody replays it: the third is right.
    case (.done, .nothing): return own
    case (.done, .later): return "later"
    case (.done, .earlier): return "earlier"
    case (.done, .removal): return nil
    case (_, .nothing): return own
    case (_, .later): return "later"
    // Ours is the later one, whether it is replayed for the first time or again.
    case (_, .earlier): return own
    // A removal wins over a value that was known to be there. Where nothing was known to be there, nothing is no news.
    case (_, .removal): return history.isRemoval || history.hasBase ? nil : "own"
    }
  }

  /// Runs a history; what is there in the end, how many writes arrived or were lost, and whether anything was applied with a version
  /// that is not the acknowledged one.
  static func run(_ history: Case, _ faults: PlantedFaults = []) async throws -> (
    value: String?, told: UInt64, isOwnVersion: Bool
  ) {
    let server = TinyServer()
    let process = try await QueueProcess(server, faults)
    let key = "texts:k"
    if history.hasBase {
      try server.foreignWrite("base", key)
      #expect(try await process.texts.async.value(forKey: "k") == "base")
    }
    let early = RemoteVersion(time: UInt64(server.clock.wallMilliseconds()) + 1, count: 0, writer: 99)
    server.clock.advance(milliseconds: 10)

    // The step up to which it comes.
    switch history.crash {
    case .queued: process.lose()
    case .sent, .late: server.setSilent(true)
    case .executed: server.loop.sync { server.swallowsReplies = true }
    case .done: break
    }
    if history.isRemoval {
      try await process.texts.async.removeValue(forKey: "k")
    } else {
      try await process.texts.async.set("own", forKey: "k")
    }
    // Where the server is silent, a planted error would have the read wait for it.
    let canRead = !history.isRemoval && history.crash != .sent && history.crash != .late
    let acknowledged = canRead ? try await process.texts.find("k")?.version : nil
    for round in 0..<(history.isTwice ? 2 : 1) {
      switch history.crash {
      case .queued: break
      case .sent, .late:
        #expect(
          try await eventually { server.loop.sync { server.waiting.count } > (history.crash == .late ? round : 0) }
        )
      case .executed: #expect(try await eventually { server.loop.sync { server.replays } > round })
      case .done: try await process.texts.queueDrained()
      }
      try process.kill(losingRequests: history.crash == .sent)
      let isLast = round == (history.isTwice ? 1 : 0)
      if !isLast { try await process.start(isAway: history.crash == .queued) }
    }

    server.clock.advance(milliseconds: 10)
    server.loop.sync { server.swallowsReplies = false }
    switch history.third {
    case .nothing: break
    case .later: try server.foreignWrite("later", key)
    case .earlier:
      let payload = try Transformer<String>.standard.encode("earlier")
      server.put(payload.withBytes { RemoteValue(RemoteEnvelope(version: early), payload: $0) }, key)
    case .removal: server.put(nil, key)
    }

    try await process.start()
    server.setSilent(false)
    try await process.drain()
    // Once more: nothing comes of a restart with an empty queue.
    let statistics = process.statistics
    try process.kill()
    try await process.start()
    #expect(process.statistics.count == 0)
    let value = try server.text(key)
    #expect(try await process.texts.async.value(forKey: "k") == value)
    let isOwnVersion = value != "own" || acknowledged == nil || server.value(key)?.version == acknowledged
    await process.tiers.stop()
    return (value, statistics.applied + statistics.superseded, isOwnVersion)
  }

  @Test(arguments: Case.all) func anAcknowledgedWriteArrivesOrLosesToANewerOne(_ history: Case) async throws {
    let outcome = try await Self.run(history)
    #expect(outcome.value == Self.expected(history))
    // Exactly one outcome is told, unless it was told before the crash.
    #expect(outcome.told == (history.crash == .done ? 0 : 1))
    #expect(outcome.isOwnVersion)
  }

  /// How many histories do not end as they must.
  private static func failures(_ faults: PlantedFaults) async throws -> Int {
    var count = 0
    for history in Case.all where !history.isTwice {
      let outcome = try await run(history, faults)
      if outcome.value != expected(history) || outcome.told != (history.crash == .done ? 0 : 1) || !outcome.isOwnVersion
      {
        count += 1
      }
    }
    return count
  }

  @Test func theErrorOfRemovingTheRecordEarlyIsFound() async throws {
    #expect(try await Self.failures(.removeEarly) > 0)
  }

  @Test func theErrorOfANewVersionAtTheReplayIsFound() async throws {
    #expect(try await Self.failures(.newVersionAtReplay) > 0)
  }

  /// A removal by a third, between two writes of one key while the store is away: what is there in the end.
  private static func removedBetweenTwoWrites(_ faults: PlantedFaults) async throws -> String? {
    let server = TinyServer()
    let process = try await QueueProcess(server, faults)
    // Without copies in a log, so that nothing but the record knows the base after a restart.
    func open() throws -> RemoteStorage<String, String> {
      var options = RemoteOptions()
      options.queue = RemoteQueueOptions(log: process.log)
      return try process.tiers.storage("others", options: options)
    }
    var others = try open()
    try server.foreignWrite("base", "others:k")
    #expect(try await others.async.value(forKey: "k") == "base")
    process.lose()
    try await others.async.set("first", forKey: "k")
    server.put(nil, "others:k")
    try process.kill()
    try await process.start(isAway: true)
    others = try open()
    try await others.async.set("second", forKey: "k")
    process.find()
    try await others.queueDrained()
    await process.tiers.stop()
    return try server.text("others:k")
  }

  @Test func theBaseIsThatOfTheFirstWrite() async throws {
    #expect(try await Self.removedBetweenTwoWrites([]) == nil)
  }

  @Test func theErrorOfForgettingTheBaseIsFound() async throws {
    #expect(try await Self.removedBetweenTwoWrites(.forgetBase) == "second")
  }
}
