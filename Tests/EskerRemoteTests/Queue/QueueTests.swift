import Esker
import EskerLog
import EskerTestSupport
import Foundation
import Testing

@testable import EskerRemote

/// What a queued write promises, with a server that answers or does not.
@Suite struct QueueTests {
  let server = TinyServer()

  @Test func aWriteIsAcknowledgedWhileTheStoreIsAwayAndReadAtOnce() async throws {
    let process = try await QueueProcess(server, isAway: true)
    try await process.texts.async.set("a", forKey: "k")
    try await process.texts.async.set("b", forKey: "k", durability: .synced)
    let found = try #require(try await process.texts.find("k"))
    #expect(found.value == "b" && found.tier == .queue && !found.isStale && found.age == .zero)
    #expect(server.loop.sync { server.replays } == 0)
    #expect(process.statistics.count == 1 && process.statistics.replaced == 1 && process.statistics.oldestAge == .zero)
    process.find()
    try await process.texts.queueDrained()
    #expect(try server.text("texts:k") == "b")
    #expect(process.statistics.applied == 1 && process.statistics.count == 0 && process.statistics.bytes == 0)
    #expect(process.statistics.oldestAge == nil)
    #expect(try await process.texts.async.value(forKey: "k") == "b")
    try await process.texts.async.removeValue(forKey: "k")
    try await process.texts.queueDrained()
    #expect(server.value("texts:k") == nil)
    await process.tiers.stop()
  }

  @Test func whatWaitsIsReadAfterARestart() async throws {
    let process = try await QueueProcess(server)
    try await process.texts.async.set("old", forKey: "removed")
    try await process.texts.queueDrained()
    process.lose()
    try await process.texts.async.set("a", forKey: "k")
    try await process.texts.async.removeValue(forKey: "removed")
    let version = try await process.texts.find("k")?.version
    try process.kill()
    try await process.start(isAway: true)
    #expect(process.statistics.count == 2)
    let found = try #require(try await process.texts.find("k"))
    #expect(found.value == "a" && found.tier == .queue && found.version == version)
    #expect(try await process.texts.async.value(forKey: "removed") == nil)
    process.find()
    try await process.texts.queueDrained()
    #expect(try server.text("texts:k") == "a" && server.value("texts:removed") == nil)
    #expect(server.value("texts:k")?.version == version)
    await process.tiers.stop()
  }

  /// What a read finds after a write was queued of a key whose copy in memory is trusted.
  private func readBehindAWrite(_ faults: PlantedFaults) async throws -> [String?] {
    let process = try await QueueProcess(server, faults)
    let plain: RemoteStorage<String, String> = try process.tiers.storage("texts", transformer: .jsonText)
    try server.foreignWrite("old", "texts:k")
    #expect(try await process.texts.async.value(forKey: "k") == "old")
    #expect(try await plain.async.value(forKey: "k") == "old")
    process.lose()
    process.find()
    #expect(try await process.texts.find("k")?.tier == .memory)
    server.setSilent(true)
    try await process.texts.async.set("new", forKey: "k")
    var found = [try await process.texts.async.value(forKey: "k")]
    // Another view of the same keys reads it too.
    found.append(try await plain.async.value(forKey: "k"))
    server.setSilent(false)
    try await process.drain()
    found.append(try await process.texts.async.value(forKey: "k"))
    await process.tiers.stop()
    return found
  }

  @Test func nothingNearIsServedWhileAWriteWaits() async throws {
    #expect(try await readBehindAWrite([]) == ["new", "new", "new"])
  }

  @Test func theErrorOfServingWhatIsNearIsFound() async throws {
    #expect(try await readBehindAWrite(.trustQueued)[1] == "old")
  }

  @Test func directWritesAndConditionsComeAfterWhatWaits() async throws {
    let process = try await QueueProcess(server, isAway: true)
    try await process.texts.async.set("a", forKey: "k")
    let texts = process.texts
    let version = try #require(try await texts.async.entry(forKey: "k")?.version)
    async let isSet = texts.async.setIfAbsent("b", forKey: "k")
    process.find()
    #expect(try await !isSet)
    #expect(process.statistics.applied == 1)
    // The version of what was queued is that of what has arrived.
    #expect(try await texts.async.compareAndSet("c", forKey: "k", ifVersion: version) != nil)
    process.lose()
    try await texts.async.set("d", forKey: "k")
    async let updated: Void = { _ = try await texts.async.update(forKey: "k") { $0 = ($0 ?? "") + "!" } }()
    process.find()
    try await updated
    #expect(try server.text("texts:k") == "d!")
    await process.tiers.stop()
  }

  @Test func twoProcessesAgreeOnTheLaterWrite() async throws {
    for firstIsLast in [false, true] {
      let (one, two) = (try await QueueProcess(server, isAway: true), try await QueueProcess(server, isAway: true))
      let key = "k\(firstIsLast)"
      try await one.texts.async.set("earlier", forKey: key)
      server.clock.advance(milliseconds: 10)
      try await two.texts.async.set("later", forKey: key)
      let order = firstIsLast ? [two, one] : [one, two]
      for process in order {
        process.find()
        try await process.texts.queueDrained()
      }
      #expect(try server.text("texts:\(key)") == "later")
      #expect(two.statistics.applied == 1 && two.statistics.superseded == 0)
      if firstIsLast {
        let winner = try #require(server.value("texts:\(key)")?.version)
        #expect(await one.losses(1) == [.lost(key, .superseded(by: .version(winner)))])
      }
      #expect(one.statistics.superseded == (firstIsLast ? 1 : 0))
      for process in order {
        #expect(try await process.texts.async.value(forKey: key) == "later")
        await process.tiers.stop()
      }
    }
  }

  @Test func aRemovalByAThirdWinsOverAWriteOnWhatItRemoved() async throws {
    let process = try await QueueProcess(server)
    try await process.texts.async.set("known", forKey: "k")
    try await process.texts.queueDrained()
    #expect(try await process.texts.async.value(forKey: "k") == "known")
    process.lose()
    try await process.texts.async.set("queued", forKey: "k")
    server.put(nil, "texts:k")
    process.find()
    try await process.texts.queueDrained()
    #expect(server.value("texts:k") == nil)
    #expect(await process.losses(1) == [.lost("k", .superseded(by: .absent))])
    // The next one knows.
    process.lose()
    try await process.texts.async.set("again", forKey: "k")
    process.find()
    try await process.texts.queueDrained()
    #expect(try server.text("texts:k") == "again")
    await process.tiers.stop()
  }

  @Test func aForeignValueWinsAndIsTold() async throws {
    let process = try await QueueProcess(server, isAway: true)
    try await process.texts.async.set("queued", forKey: "k")
    server.put(RemoteValue(stored: [1]), "texts:k")
    process.find()
    try await process.texts.queueDrained()
    #expect(await process.losses(1) == [.lost("k", .superseded(by: .foreign))])
    await process.tiers.stop()
  }

  @Test func unknownKeysArriveOnlyIfThatIsWanted() async throws {
    for unknown in [RemoteQueueOptions.Unknown.absent, .something] {
      let process = try await QueueProcess(server, isAway: true) { $0.unknown = unknown }
      let key = "new \(unknown)"
      try await process.texts.async.set("a", forKey: key)
      process.find()
      try await process.texts.queueDrained()
      #expect(try server.text("texts:\(key)") == (unknown == .absent ? "a" : nil))
      #expect(process.statistics.superseded == (unknown == .absent ? 0 : 1))
      await process.tiers.stop()
    }
  }

  @Test func aBaseThatHasExpiredWasRemovedByNobody() async throws {
    let process = try await QueueProcess(server)
    try await process.texts.async.set("short", forKey: "k", expiry: .after(.seconds(1)))
    try await process.texts.queueDrained()
    #expect(try await process.texts.async.value(forKey: "k") == "short")
    process.lose()
    try await process.texts.async.set("queued", forKey: "k")
    server.clock.advance(milliseconds: 2_000)
    server.put(nil, "texts:k")
    process.find()
    try await process.drain()
    #expect(try server.text("texts:k") == "queued")
    await process.tiers.stop()
  }

  @Test func whatExpiresWhileItWaitsIsGone() async throws {
    let process = try await QueueProcess(server)
    try await process.texts.async.set("known", forKey: "k")
    try await process.texts.queueDrained()
    #expect(try await process.texts.async.value(forKey: "k") == "known")
    process.lose()
    try await process.texts.async.set("short", forKey: "k", expiry: .after(.seconds(1)))
    server.clock.advance(milliseconds: 2_000)
    #expect(try await process.texts.async.value(forKey: "k") == nil)
    process.find()
    try await process.drain()
    #expect(server.value("texts:k") == nil && process.statistics.applied == 2)
    await process.tiers.stop()
  }

  /// What has arrived of two writes, of which the second is made while the first is being applied.
  private func writeDuringReplay(_ faults: PlantedFaults, _ second: String?) async throws -> (String?, UInt64) {
    let process = try await QueueProcess(server, faults)
    server.setSilent(true)
    try await process.texts.async.set("first", forKey: "k")
    #expect(try await eventually { server.loop.sync { server.waiting.count } == 1 })
    if let second {
      try await process.texts.async.set(second, forKey: "k")
    } else {
      try await process.texts.async.removeValue(forKey: "k")
    }
    server.setSilent(false)
    try await process.drain()
    let read = try await process.texts.async.value(forKey: "k")
    #expect(try server.text("texts:k") == read)
    await process.tiers.stop()
    return (read, process.statistics.applied)
  }

  @Test func aWriteDuringTheReplayOfAnOlderOneIsNotLost() async throws {
    #expect(try await writeDuringReplay([], "second") == ("second", 2))
    #expect(try await writeDuringReplay([], nil) == (nil, 2))
  }

  @Test func theErrorOfRemovingWhatWasNotAppliedIsFound() async throws {
    #expect(try await writeDuringReplay(.removeUnseen, "second").0 == "first")
  }

  @Test func aFullQueueSaysSoAndTakesWritesAgain() async throws {
    let process = try await QueueProcess(server, isAway: true) {
      $0.countLimit = 3
      $0.byteLimit = 1_000
    }
    for key in ["a", "b", "c"] { try await process.texts.async.set("x", forKey: key) }
    let full = try await fullness { try await process.texts.async.set("x", forKey: "d") }
    #expect(full.count == 3 && full.bytes == process.statistics.bytes)
    #expect("\(full)".contains("queueDrained"))
    // A key that waits may be written again, within the limit of bytes.
    try await process.texts.async.set("y", forKey: "a")
    _ = try await fullness { try await process.texts.async.set(String(repeating: "z", count: 900), forKey: "a") }
    #expect(try await process.texts.async.value(forKey: "a") == "y")
    // What it replaces gives its bytes back.
    for count in [600, 700, 1] { try await process.texts.async.set(String(repeating: "y", count: count), forKey: "a") }
    process.find()
    try await process.texts.queueDrained()
    try await process.texts.async.set("x", forKey: "d")
    try await process.texts.queueDrained()
    #expect(process.statistics.applied == 4 && process.queue.state.withLock { $0.book.reserved == (0, 0) })
    await process.tiers.stop()
  }

  private func fullness(_ body: () async throws -> Void) async throws -> RemoteQueueFull {
    do { try await body() } catch StorageError.back(_, let error as RemoteQueueFull) { return error }
    Issue.record("it is not full")
    return RemoteQueueFull(count: 0, bytes: 0, needed: 0)
  }

  @Test func whatIsTooOldIsGivenUpAndTold() async throws {
    let process = try await QueueProcess(server, isAway: true) { $0.ageLimit = .seconds(60) }
    try await process.texts.async.set("old", forKey: "k")
    server.clock.advance(milliseconds: 30_000)
    try await process.texts.async.set("young", forKey: "l")
    #expect(process.statistics.oldestAge == .seconds(30))
    // Its age counts on over a restart.
    try process.kill()
    try await process.start(isAway: true)
    #expect(process.statistics.oldestAge == .seconds(30))
    server.clock.advance(milliseconds: 30_000)
    process.queue.pump()
    #expect(try await eventually { process.statistics.count == 1 })
    #expect(process.statistics.failed == 1)
    #expect(await process.losses(1) == [.lost("k", .tooOld)])
    #expect(try await process.texts.find("l")?.tier == .queue)
    process.find()
    try await process.texts.queueDrained()
    #expect(server.value("texts:k") == nil)
    #expect(try server.text("texts:l") == "young")
    await process.tiers.stop()
  }

  @Test func whatIsRefusedHindersNobodyAndIsToldOnce() async throws {
    server.loop.sync { server.refusals[Array("texts:bad".utf8)] = .refused(code: "WRONGTYPE", message: "a list") }
    let process = try await QueueProcess(server) { $0.concurrency = 1 }
    try await process.texts.async.set("x", forKey: "bad")
    for key in 0..<20 { try await process.texts.async.set("x", forKey: "\(key)") }
    #expect(
      try await eventually {
        server.clock.advance(milliseconds: 50)
        process.queue.pump()
        return process.statistics.count == 1 && process.statistics.retries > 3
      }
    )
    #expect(
      await process.losses(1) == [.lost("bad", .refused(.refused(code: "WRONGTYPE", message: "a list")))]
    )
    server.loop.sync { server.refusals = [:] }
    try await process.drain()
    #expect(try server.text("texts:bad") == "x")
    #expect(process.statistics.applied == 21 && process.statistics.failed == 0)
    await process.tiers.stop()
  }

  @Test func failuresThatPassAreRepeatedMoreAndMoreSeldom() async throws {
    let keys = (0..<50).map { "\($0)" }
    server.loop.sync { for key in keys { server.refusals[Array("texts:\(key)".utf8)] = .notExecuted("OOM") } }
    let process = try await QueueProcess(server, isAway: true) {
      $0.concurrency = 4
      $0.greatestPause = .seconds(1)
    }
    for key in keys { try await process.texts.async.set("x", forKey: key) }
    process.find()
    #expect(try await eventually { process.statistics.retries == 4 })
    // The clock stands still, so nothing is tried.
    process.queue.pump()
    #expect(process.queue.state.withLock { $0.book.underWay } == 0)
    server.clock.advance(milliseconds: 60)
    process.queue.pump()
    #expect(try await eventually { process.statistics.retries == 8 })
    server.clock.advance(milliseconds: 19)
    process.queue.pump()
    #expect(process.queue.state.withLock { $0.book.underWay } == 0)
    for pause in [40, 80, 160, 320, 640, 1_000, 1_000, 1_000] {
      #expect(rest(process) <= .milliseconds(pause) && rest(process) > .milliseconds(pause / 2 - 20))
      let retries = process.statistics.retries
      server.clock.advance(milliseconds: 1_000)
      process.queue.pump()
      #expect(try await eventually { process.statistics.retries == retries + 4 })
    }
    server.loop.sync { server.refusals = [:] }
    try await process.drain()
    #expect(process.statistics.applied == 50)
    // After a success it begins anew.
    server.loop.sync { server.refusals[Array("texts:k".utf8)] = .notExecuted("OOM") }
    let retries = process.statistics.retries
    try await process.texts.async.set("x", forKey: "k")
    #expect(try await eventually { process.statistics.retries == retries + 1 })
    #expect(rest(process) <= .milliseconds(20))
    await process.tiers.stop()
  }

  /// For how long nothing is tried.
  private func rest(_ process: QueueProcess) -> Duration {
    let end = process.queue.state.withLock { $0.book.nextEnd } ?? .distantFuture
    return end.duration(since: server.now)
  }

  @Test func noMoreThanAllowedIsReplayedAtATime() async throws {
    let process = try await QueueProcess(server, isAway: true) { $0.concurrency = 3 }
    for key in 0..<30 { try await process.texts.async.set("x", forKey: "\(key)") }
    server.setSilent(true)
    process.find()
    #expect(try await eventually { server.loop.sync { server.waiting.count } == 3 })
    process.queue.pump()
    #expect(process.queue.state.withLock { $0.book.underWay } == 3)
    server.setSilent(false)
    try await process.texts.queueDrained()
    #expect(process.statistics.applied == 30)
    await process.tiers.stop()
  }

  @Test func waitingEndsWithTheTaskAndWithTheTiers() async throws {
    let process = try await QueueProcess(server, isAway: true)
    try await process.texts.async.set("x", forKey: "k")
    let cancelled = Task { try await process.texts.queueDrained() }
    let stopped = Task { try await process.texts.queueDrained() }
    cancelled.cancel()
    await #expect(throws: StorageError.self) { try await cancelled.value }
    await process.tiers.stop()
    await #expect(throws: StorageError.self) { try await stopped.value }
    await #expect(throws: StorageError.self) { try await process.texts.async.set("y", forKey: "k") }
    // The log is not used any more.
    try process.log.close()
    try await process.start()
    try await process.texts.queueDrained()
    #expect(try server.text("texts:k") == "x")
    await process.tiers.stop()
  }

  @Test func stoppingWaitsForWhatIsUnderWay() async throws {
    let process = try await QueueProcess(server)
    server.setSilent(true)
    try await process.texts.async.set("x", forKey: "k")
    #expect(try await eventually { server.loop.sync { server.waiting.count } == 1 })
    await process.tiers.stop()
    #expect(process.queue.state.withLock { $0.book.underWay } == 0)
    try process.log.close()
  }

  @Test func aQueueNeedsALogThatKeepsWhatIsWritten() async throws {
    let directory = try TemporaryDirectory()
    let tiers = RemoteTiers(server.store(), named: "test", prefix: "p:", 64, .system) { [server] in server.now }
    var options = RemoteOptions()
    options.queue = RemoteQueueOptions()
    let cache = try LogStore(at: directory.appending("cache"), options: Options(capacity: 1 << 20))
    let written = try LogStore(at: directory.appending("log"))
    let reader = try LogStore(at: directory.appending("log"), options: Options(readOnly: true))
    for (log, reason) in [(nil, "without a log"), (cache, "with a capacity")] as [(LogStore?, String)] {
      do {
        let _: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: options)
        Issue.record("it was made")
      } catch StorageError.unsupported(let operation, let view) {
        #expect(operation.contains(reason) && view == "texts")
      }
    }
    options.queue = RemoteQueueOptions(log: reader)
    #expect(throws: StorageError.self) {
      let _: RemoteStorage<String, String> = try tiers.storage("texts", log: cache, options: options)
    }
    options.queue = RemoteQueueOptions(log: written)
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: cache, options: options)
    try await texts.async.set("x", forKey: "k")
    #expect(try written.keyspace("test/p:texts:queue").count() == 1)
    await tiers.stop()
  }

  @Test func recordsThatCannotBeReadAreToldAndLeft() async throws {
    let process = try await QueueProcess(server, isAway: true)
    try await process.texts.async.set("good", forKey: "k")
    try process.log.keyspace("test/p:texts:queue").put([9, 9, 9], forKey: Array("texts:bad".utf8))
    try process.kill()
    try await process.start(isAway: true)
    #expect(process.statistics.count == 1 && process.statistics.failed == 1)
    #expect(await process.losses(1) == [.lost("bad", .unreadable)])
    #expect(try process.log.keyspace("test/p:texts:queue").count() == 2)
    // A new write takes its place.
    try await process.texts.async.set("new", forKey: "bad")
    process.find()
    try await process.texts.queueDrained()
    #expect(try server.text("texts:bad") == "new")
    #expect(try process.log.keyspace("test/p:texts:queue").count() == 0)
    await process.tiers.stop()
  }

  /// Many tasks, few keys, and a store that comes and goes: every write is accounted for, and the last one of each key has arrived.
  @Test func everyWriteOfManyTasksIsAccountedFor() async throws {
    let process = try await QueueProcess(server)
    let (tasks, writes) = (8, 150)
    let texts = process.texts
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0..<writes {
            let key = "\(number % 5)"
            if number % 7 == 6 {
              try await texts.async.removeValue(forKey: key)
            } else {
              try await texts.async.set("\(task) \(number)", forKey: key)
            }
            if number % 50 == 25 { task % 2 == 0 ? process.lose() : process.find() }
          }
        }
      }
      try await group.waitForAll()
    }
    var last: [String?] = []
    for key in 0..<5 { last.append(try await texts.async.value(forKey: "\(key)")) }
    process.find()
    try await process.drain()
    for key in 0..<5 {
      #expect(try server.text("texts:\(key)") == last[key], "\(key)")
      #expect(try await texts.async.value(forKey: "\(key)") == last[key])
    }
    let statistics = process.statistics
    #expect(statistics.applied + statistics.replaced == UInt64(tasks * writes) && statistics.superseded == 0)
    #expect(process.tiers.core.state.withLock { $0.held.isEmpty && $0.active.count == 0 })
    await process.tiers.stop()
  }
}

extension Transformer<String> {
  /// The standard form under another name, for a view of its own.
  fileprivate static var jsonText: Transformer<String> {
    Transformer(id: standard.id + "'") {
      try standard.encode($0)
    } decode: {
      try standard.decode($0)
    }
  }
}
