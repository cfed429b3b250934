import Esker
import EskerTestSupport
import Testing

@testable import EskerRemote

/// A time that is over before anybody waits is not missed.
@Suite struct TimeoutTests {
  @Test func aLandingIsWaitedForInTime() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        group.addTask {
          guard case .tooLate = await FlightPromise<Int>().outcome(within: .zero) else {
            Issue.record("it has not landed")
            return
          }
        }
      }
    }
  }

  @Test func aQueuedKeyIsWaitedForInTime() async throws {
    let process = try await QueueProcess(TinyServer(), isAway: true)
    try await process.texts.async.set("x", forKey: "k")
    for _ in 0..<200 {
      await #expect(throws: StorageError.self) {
        try await process.queue.settled(Array("texts:k".utf8), within: .zero)
      }
    }
    await process.tiers.stop()
  }

  @Test func aWriteBehindAnotherIsWaitedForInTime() async throws {
    let server = TinyServer()
    let (tiers, store) = try await server.makeTiers()
    server.setSilent(true)
    let key = store.key(Array("texts:k".utf8))
    tiers.core.write(key, .remove(.always), by: .distantFuture) { _ in }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          guard case .failure(.timedOut) = await tiers.core.write(key, .remove(.always), within: .zero) else {
            Issue.record("the first write is under way")
            return
          }
        }
      }
    }
    await tiers.stop()
  }
}
