import Esker
import EskerRedis
import EskerTestSupport
import Foundation
import Testing

@testable import EskerRemote

/// A process reads what it has written, also from what it would serve while its server is stopped.
@Suite(.serialized, .enabled(if: TestServer.isInstalled, TestServer.missing)) struct OwnWriteTests {
  @Test func nothingOlderThanAnOwnWriteIsServedWhileTheServerIsStopped() async throws {
    let server = try TestServer()
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path + "/copies")
    let tiers = try await Processes.tiers(server)
    var options = RemoteOptions()
    options.freshness = .bounded(.seconds(1_000))
    options.hardTimeout = .milliseconds(500)
    let bounded: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: options)
    options.freshness = .coherent
    options.serveStale = .seconds(1_000)
    let stale: RemoteStorage<String, Substitute> = try tiers.storage(
      "texts",
      transformer: Substitute.transformer,
      log: log,
      options: options
    )
    try await bounded.async.set("old", forKey: "k")
    try await Processes.until("both have it") {
      let found = (try await bounded.find("k")?.tier, try await stale.find("k")?.tier)
      return found == (.memory, .memory)
    }
    try await bounded.async.update(forKey: "k") { $0 = "new" }
    server.signal(SIGSTOP)
    try await Processes.until("the lease is over") { !tiers.core.hasLease(0) }
    // What was written is known, and nothing older is.
    #expect(try await bounded.find("k")?.value == "new")
    #expect(try await stale.find("k")?.value.text == "new")
    server.signal(SIGCONT)
    try await Processes.until("it is served from memory again") {
      let found = (try? await bounded.find("k")?.tier, try? await stale.find("k")?.tier)
      return found == (.memory, .memory)
    }
    // Stopped while there is a lease: a write that is sent, and not answered.
    while try await !isLost("newer", bounded, server) {}
    await #expect(throws: StorageError.self) { try await bounded.find("k") }
    let found = try #require(try await stale.find("k"))
    #expect(found.value.text == "new" && found.isStale)
    server.signal(SIGCONT)
    try await Processes.until("the write has been made") { (try? await bounded.async.value(forKey: "k")) == "newer" }
    try await Processes.until("it is kept again") { (try? await stale.find("k")?.tier) == .memory }
    #expect(try await stale.async.value(forKey: "k")?.text == "newer")
    await tiers.stop()
    try log.close()
  }

  /// Stops the server and writes; whether nobody knows what came of it. If not, the server goes on, and the write was not sent in time.
  private func isLost(
    _ text: String,
    _ texts: RemoteStorage<String, String>,
    _ server: TestServer
  ) async throws -> Bool {
    server.signal(SIGSTOP)
    // The signal may take a moment.
    try await Task.sleep(for: .milliseconds(20))
    do {
      try await texts.async.set(text, forKey: "k")
      throw TestFailure("a server that is stopped has answered")
    } catch StorageError.back(_, let reason as RemoteError) {
      if reason == .unknownOutcome { return true }
      server.signal(SIGCONT)
      try await Processes.until("there is a lease") { (try? await texts.find("k")?.tier) == .memory }
      return false
    }
  }
}
