import Esker
import EskerLog
import EskerTestSupport
import Foundation
import Testing

@testable import EskerRemote

/// A log has copies of one tiers at a time.
@Suite struct LogClaimTests {
  let server = TinyServer()

  private func tiers(named name: String = "test", prefix: String = "p:") -> RemoteTiers {
    RemoteTiers(server.store(), named: name, prefix: prefix, 64, .system) { [server] in server.now }
  }

  private func storage(_ tiers: RemoteTiers, _ log: LogStore?) throws -> RemoteStorage<String, String> {
    try tiers.storage("texts", log: log)
  }

  private func isRefused(_ tiers: RemoteTiers, _ log: LogStore) -> Bool {
    do {
      _ = try storage(tiers, log)
      return false
    } catch {
      guard case .back("texts", let reason as RemoteLogInUse) = error as? StorageError else { return false }
      return reason.name == "test" && reason.prefix == "p:" && "\(error)".contains(log.path)
    }
  }

  /// Whoever claims what it has already, and is stopped meanwhile, does not take it from the next.
  @Test func whatTheNextHasIsNotGivenBackByTheFormer() throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    for _ in 0..<5_000 {
      let (former, next, third) = (LogClaims(), LogClaims(), LogClaims())
      try former.claim(log, "test", "p:", for: "texts")
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        guard number == 1 else { return _ = try? former.claim(log, "test", "p:", for: "texts") }
        former.release()
        #expect(throws: Never.self) { try next.claim(log, "test", "p:", for: "texts") }
      }
      #expect(throws: StorageError.self) { try third.claim(log, "test", "p:", for: "texts") }
      next.release()
    }
    try log.close()
  }

  @Test func aSecondIsRefusedUntilTheFirstIsStopped() async throws {
    let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
    let log = try LogStore(at: directory.path)
    let (first, second) = (tiers(), tiers())
    // Two storages of one tiers share it.
    let texts = try storage(first, log)
    let _: RemoteStorage<String, Int> = try first.storage("numbers", log: log)
    #expect(isRefused(second, log))
    // A queue in it is refused too.
    var queued = RemoteOptions()
    queued.queue = RemoteQueueOptions(log: log)
    #expect(throws: StorageError.self) {
      let _: RemoteStorage<String, String> = try second.storage("queued", options: queued)
    }
    // What is not in the log is nobody's.
    let plain: RemoteStorage<String, Int> = try second.storage("plain")
    #expect(plain.name == "plain")
    let (named, prefixed, elsewhere) = (tiers(named: "another"), tiers(prefix: "q:"), tiers())
    let another = try LogStore(at: other.path)
    _ = try storage(named, log)
    _ = try storage(prefixed, log)
    _ = try storage(elsewhere, another)
    try await first.start()
    try await texts.async.set("a", forKey: "k")
    await first.stop()
    #expect(throws: StorageError.self) { let _: RemoteStorage<String, Double> = try first.storage("more", log: log) }
    try await second.start()
    #expect(try await storage(second, log).find("k")?.tier == .log)
    #expect(isRefused(tiers(), log))
    for one in [second, named, prefixed, elsewhere] { await one.stop() }
    try log.close()
    try another.close()
  }

  @Test func tiersThatAreGoneHoldNothing() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let _: LogStorage<UInt64, String> = try LogStorage(log, "test/p:texts", of: String.self)
    do {
      // The keys of the keyspace have another form, so there is no storage that would keep the tiers.
      let tiers = tiers()
      #expect(throws: StorageError.self) { _ = try storage(tiers, log) }
      let second = self.tiers()
      #expect(throws: StorageError.self) {
        let _: RemoteStorage<UInt64, String> = try second.storage("texts", log: log)
      }
    }
    let tiers = tiers()
    let _: RemoteStorage<UInt64, String> = try tiers.storage("texts", log: log)
    await tiers.stop()
    try log.close()
  }

  @Test func ofManyAtATimeOneGetsIt() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    for _ in 0..<20 {
      let all = (0..<8).map { _ in tiers() }
      let refused = await withTaskGroup(of: Bool.self) { group in
        for one in all { group.addTask { isRefused(one, log) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(refused == 7)
      for one in all { await one.stop() }
    }
    try log.close()
  }

  @Test func aLogThatIsOnlyReadIsNobodys() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let first = tiers()
    try await first.start()
    try await storage(first, log).async.set("a", forKey: "k")
    // Nobody opens it for writing beside the first, in this process or another.
    #expect(throws: StoreError.self) { try LogStore(at: directory.path) }
    var options = Options()
    options.readOnly = true
    let reading = try LogStore(at: directory.path, options: options)
    let readers = [tiers(), tiers()]
    for reader in readers {
      try await reader.start()
      #expect(try await storage(reader, reading).find("k")?.tier == .log)
    }
    for one in readers + [first] { await one.stop() }
    try reading.close()
    try log.close()
  }
}
