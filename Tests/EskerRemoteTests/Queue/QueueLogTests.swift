import Esker
import EskerLog
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import EskerRemote

/// A queue and its log: when that cannot be written, and when nobody uses it any more.
@Suite struct QueueLogTests {
  let server = TinyServer()

  private func underWay(_ process: QueueProcess) -> Int { process.queue.state.withLock { $0.book.underWay } }

  @Test func whatCannotBeGivenUpRests() async throws {
    let process = try await QueueProcess(server, isAway: true) { $0.ageLimit = .seconds(60) }
    try await process.texts.async.set("old", forKey: "k")
    // From now on the log takes nothing.
    process.plan.fail(.sync, on: .suffix(".segment"), sticky: true, .failedSync(code: EIO, marksPagesClean: false))
    #expect(throws: StoreError.self) { try process.log.put([1], forKey: [1], durability: .synced) }
    server.clock.advance(milliseconds: 60_000)
    process.queue.pump()
    #expect(try await eventually { process.statistics.retries > 0 && underWay(process) == 0 })
    for retries in 1...UInt64(4) {
      // The clock stands still, so nothing is tried.
      process.queue.pump()
      #expect(underWay(process) == 0 && process.statistics.retries == retries)
      server.clock.advance(milliseconds: 1_000)
      process.queue.pump()
      #expect(try await eventually { process.statistics.retries > retries && underWay(process) == 0 })
    }
    // It is done by the next process.
    process.plan.heal()
    try? process.log.close()
    try process.kill()
    try await process.start(isAway: true)
    process.queue.pump()
    #expect(try await eventually { process.statistics.count == 0 })
    #expect(process.statistics.failed == 1)
    #expect(await process.losses(1) == [.lost("k", .tooOld)])
    process.find()
    try await process.texts.queueDrained()
    #expect(server.value("texts:k") == nil)
    await process.tiers.stop()
  }

  @Test func aClosedLogEndsTheGivingUp() async throws {
    let process = try await QueueProcess(server, isAway: true) { $0.ageLimit = .seconds(60) }
    try await process.texts.async.set("old", forKey: "k")
    try process.log.close()
    server.clock.advance(milliseconds: 60_000)
    process.queue.pump()
    #expect(try await eventually { process.queue.state.withLock { $0.isStopped && $0.book.underWay == 0 } })
    #expect(process.statistics.count == 1 && process.statistics.retries == 0)
    await process.tiers.stop()
  }

  /// What is refused is given up in time, although it rests.
  @Test func whatIsRefusedIsGivenUpWhileItRests() async throws {
    server.loop.sync { server.refusals[Array("texts:k".utf8)] = .refused(code: "WRONGTYPE", message: "a list") }
    let process = try await QueueProcess(server) {
      $0.ageLimit = .seconds(60)
      $0.greatestPause = .seconds(10_000)
    }
    try await process.texts.async.set("old", forKey: "k")
    for _ in 0..<61 {
      #expect(try await eventually { underWay(process) == 0 })
      server.clock.advance(milliseconds: 1_000)
      process.queue.pump()
    }
    #expect(try await eventually { process.statistics.count == 0 && process.statistics.failed == 1 })
    await process.tiers.stop()
  }

  private final class Gate: Sendable {
    let isReached = Atomic<Bool>(false)
    let isOpen = Atomic<Bool>(false)

    func pass() async {
      isReached.store(true, ordering: .sequentiallyConsistent)
      while !isOpen.load(ordering: .sequentiallyConsistent) { try? await Task.sleep(for: .milliseconds(1)) }
    }
  }

  /// A writer that was let in before waits for what is near while the tiers are stopped.
  @Test func stoppingWaitsForWritersThatWereLetIn() async throws {
    let process = try await QueueProcess(server)
    let queue = process.queue
    let gate = Gate()
    let writer = Task {
      let base = {
        await gate.pass()
        return QueuedBase()
      }
      _ = try await queue.add(
        process.tiers.store.key(Array("texts:k".utf8)),
        length: 0,
        base: base,
        durability: nil,
        { _ in nil }
      )
    }
    #expect(try await eventually { gate.isReached.load(ordering: .sequentiallyConsistent) })
    // The log is others' once the tiers are stopped: it has all that was let in.
    let stopping = Task {
      await process.tiers.stop()
      return try process.log.keyspace("test/p:texts:queue").count()
    }
    #expect(try await eventually { queue.state.withLock { $0.isStopped } })
    // Time enough for a stop that does not wait.
    try await Task.sleep(for: .milliseconds(50))
    gate.isOpen.store(true, ordering: .sequentiallyConsistent)
    #expect(try await stopping.value == 1)
    try await writer.value
  }
}
