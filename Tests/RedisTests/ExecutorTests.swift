import EskerPlatform
import EskerRedis
import EskerRemote
import EskerTestSupport
import Foundation
import Testing

/// Tasks that run on a store's own loop.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct ExecutorTests {
  @Test func tasksThatPreferItChangeNoThreads() async throws {
    let server = try TestServer()
    let client = try await TestClient(server: server.port)
    let threads = Threads()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<50 {
        group.addTask(executorPreference: client.store.executor) {
          for number in 0..<20 {
            let value = TestClient.value("\(task) \(number)")
            try await client.set("k\(task)", value)
            threads.note()
            let read = try await client.get("k\(task)")
            threads.note()
            #expect(read == value)
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(threads.count == 1)
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }

  /// What changes is told by other threads, which hand the executor the task that waits for it.
  @Test(.timeLimit(.minutes(2))) func theyIterateOverChanges() async throws {
    let server = try TestServer()
    let store = try RedisServer(
      RedisConfiguration([.init("127.0.0.1", port: server.port)], logger: TestClient.logger)
    )
    let tiers = try await Processes.tiers(store)
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    let changes = texts.changes()
    let seen = Counts()
    let count = 50
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: store.executor) {
        for await change in changes {
          if case .changed = change { seen.add(other: 1) }
          if seen.total == count { break }
        }
      }
      group.addTask {
        for number in 0..<count {
          try await texts.async.set("a", forKey: number)
          // Most find the other task waiting.
          try await Processes.until("it was told") { seen.total > number }
        }
      }
      try await group.waitForAll()
    }
    await tiers.stop()
  }

  /// A connection that is closed while it is read has no end of that turn of its own.
  @Test(.timeLimit(.minutes(2))) func theyGoOnWhenTheConnectionIsClosedInATurn() async throws {
    let server = try TestServer()
    let proxy = try Proxy(to: server.port)
    let client = try await TestClient(server: proxy.port)
    let value = TestClient.value("x")
    try await client.set("a", value)
    let place = client.sink.count
    proxy.set { $0.refuses = true }
    proxy.inject(Array("?\r\n".utf8))
    try await client.until("the connection is lost") { client.sink.hasRaised(0, from: place) }
    // Nothing comes that would end a later turn.
    await withTaskExecutorPreference(client.store.executor) { await Task.yield() }
    proxy.heal()
    #expect(try await client.get("a") == value)
    await client.store.stop()
    #expect(client.sink.violations() == [])
  }
}

/// The threads that were seen.
private final class Threads: Sendable {
  private let seen = Guarded(Set<String>())

  func note() {
    let thread = "\(pthread_self())"
    seen.withLock { _ = $0.insert(thread) }
  }

  var count: Int { seen.withLock { $0.count } }
}
