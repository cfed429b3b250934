import Esker
import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

/// What replicas answer while the owner cannot be asked.
@Suite struct ReplicaTests {
  let server = TinyServer()

  private func options(_ change: (inout RemoteOptions) -> Void) -> RemoteOptions {
    var options = RemoteOptions()
    options.asksReplicas = true
    options.softTimeout = .milliseconds(20)
    options.hardTimeout = .milliseconds(200)
    change(&options)
    return options
  }

  private var bounded: RemoteOptions { options { $0.freshness = .bounded(.seconds(10)) } }

  private func lose(_ store: TinyStore) {
    store.suspend()
    store.setFailure(.unavailable(until: nil))
  }

  @Test func aBoundedReadIsAnsweredByAReplicaThatIsShownToBeRecent() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: bounded)
    server.clock.advance(milliseconds: 10)
    try server.foreignWrite("a", "texts:k")
    store.replicate()
    try server.foreignWrite("b", "texts:k")
    // As long as the owner has a lease it is asked.
    #expect(try await texts.find("k")?.value == "b")
    texts.removeAllInMemory()
    server.clock.advance(milliseconds: 4_000)
    lose(store)
    for count in 1...3 {
      let found = try #require(try await texts.find("k"))
      #expect(found.value == "a" && found.tier == .replica && found.isStale && found.age == .seconds(4))
      // Nothing of it is kept.
      #expect(store.count("replica") == count && texts.view.cache.look("k".held(by: texts.view.keys)) == nil)
    }
    #expect(tiers.statistics.kept == 1 && tiers.statistics.rolledBack == 0)
    server.clock.advance(milliseconds: 6_001)
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    // Nor is it served if nobody knows how old it is, or if it says that there is nothing.
    store.replicate(isShown: false)
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    store.replicate()
    #expect(try await texts.find("k")?.value == "b")
    await #expect(throws: StorageError.self) { try await texts.find("absent") }
    store.setFailure(nil)
    store.trust(for: .seconds(1_000))
    #expect(try await texts.find("k")?.tier == .remote)
    await tiers.stop()
  }

  @Test func whatMemoryKnowsIsNotForgottenForAReplica() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: bounded)
    server.clock.advance(milliseconds: 10)
    try server.foreignWrite("a", "texts:k")
    store.replicate()
    server.clock.advance(milliseconds: 4_000)
    try server.foreignWrite("b", "texts:k")
    #expect(try await texts.find("k")?.value == "b")
    lose(store)
    // It is younger than what the replica has.
    server.clock.advance(milliseconds: 7_000)
    #expect(try await texts.find("k")?.tier == .memory)
    store.setFailure(nil)
    store.trust(for: .seconds(1_000))
    #expect(try await texts.find("k")?.value == "b")
    #expect(tiers.statistics.rolledBack == 0 && store.count("replica") == 0)
    await tiers.stop()
  }

  @Test func ofAReplicaAndMemoryTheYoungerIsServed() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage(
      "texts",
      options: options {
        $0.freshness = .bounded(.seconds(5))
        $0.serveStale = .seconds(100)
      }
    )
    server.clock.advance(milliseconds: 10)
    try server.foreignWrite("a", "texts:k")
    store.replicate()
    server.clock.advance(milliseconds: 4_000)
    try server.foreignWrite("b", "texts:k")
    #expect(try await texts.find("k")?.value == "b")
    lose(store)
    server.clock.advance(milliseconds: 7_000)
    let found = try #require(try await texts.find("k"))
    #expect(found.value == "b" && found.tier == .memory && found.age == .seconds(7) && store.count("replica") == 1)
    // A replica that has come further is younger.
    server.clock.advance(milliseconds: 2_000)
    store.replicate()
    server.clock.advance(milliseconds: 1_000)
    let other = try #require(try await texts.find("k"))
    #expect(other.value == "b" && other.tier == .replica && other.age == .seconds(1))
    await tiers.stop()
  }

  @Test func nothingOlderThanAnOwnWriteIsServed() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: bounded)
    server.clock.advance(milliseconds: 10)
    try server.foreignWrite("a", "texts:k")
    store.replicate()
    server.clock.advance(milliseconds: 10)
    #expect(try await texts.async.touch("k", expiry: .after(.seconds(500))))
    lose(store)
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    server.clock.advance(milliseconds: 10)
    store.replicate()
    #expect(try await texts.find("k")?.tier == .replica)
    // It may have been made, or not.
    store.setFailure(.unknownOutcome)
    await #expect(throws: StorageError.self) { try await texts.async.set("b", forKey: "k") }
    store.setFailure(.unavailable(until: nil))
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    await tiers.stop()
  }

  @Test func inFailSafeAReplicaIsAskedOnlyIfThereIsNothingElse() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage(
      "texts",
      options: options { $0.serveStale = .seconds(100) }
    )
    for key in ["known", "other"] { try server.foreignWrite("a", "texts:\(key)") }
    #expect(try await texts.find("known")?.value == "a")
    server.clock.advance(milliseconds: 10)
    store.replicate()
    lose(store)
    server.clock.advance(milliseconds: 50_000)
    #expect(try await texts.find("known")?.tier == .memory)
    #expect(store.count("replica") == 0)
    let found = try #require(try await texts.find("other"))
    #expect(found.tier == .replica && found.isStale && found.age == .seconds(50))
    server.clock.advance(milliseconds: 50_001)
    await #expect(throws: StorageError.self) { try await texts.find("other") }
    // Of itself the option serves nothing.
    let strict: RemoteStorage<Int, String> = try tiers.storage("strict", options: options { _ in })
    try server.foreignWrite("a", "strict:1")
    store.replicate()
    let before = store.count("replica")
    await #expect(throws: StorageError.self) { try await strict.find(1) }
    #expect(store.count("replica") == before)
    await tiers.stop()
  }

  @Test func aReplicaAnswersWhoWaitsWhenTheLeaseEnds() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage(
      "texts",
      options: options {
        $0.freshness = .bounded(.seconds(10))
        $0.hardTimeout = .seconds(600)
      }
    )
    server.clock.advance(milliseconds: 10)
    try server.foreignWrite("a", "texts:k")
    store.replicate()
    server.setSilent(true)
    let waiting = Task { try await texts.find("k") }
    #expect(try await eventually { store.count("get") == 1 })
    // The owner is slow, which is no reason to ask another.
    try await Task.sleep(for: .milliseconds(60))
    #expect(store.count("replica") == 0)
    store.suspend()
    #expect(try await waiting.value?.tier == .replica)
    // The read went on.
    server.setSilent(false)
    store.trust(for: .seconds(1_000))
    #expect(try await texts.find("k")?.isStale == false)
    await tiers.stop()
  }

  @Test func ownerAndReplicaTogetherTakeTheHardTimeoutAtMost() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage(
      "texts",
      options: options {
        $0.freshness = .bounded(.seconds(10))
        $0.softTimeout = nil
        $0.hardTimeout = .milliseconds(40)
      }
    )
    server.setSilent(true)
    let waiting = Task { try await texts.find("k") }
    #expect(try await eventually { store.count("get") == 1 })
    store.suspend()
    // Each has half of it; what the replica says is no answer.
    #expect(try await eventually { store.count("replica") > 0 })
    let began = server.now
    #expect(server.loop.sync { store.replicaDeadline } == began.advanced(by: .milliseconds(20)))
    server.clock.advance(milliseconds: 30)
    let end = began.advanced(by: .milliseconds(40))
    #expect(try await eventually { server.loop.sync { store.replicaDeadline } == end })
    server.clock.advance(milliseconds: 10)
    await #expect(throws: StorageError.self) { try await waiting.value }
    server.setSilent(false)
    await tiers.stop()
  }

  @Test func whatHasTagsIsServedOnlyIfTheyAreKnown() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: bounded)
    try await texts.tagged("t").async.set("a", forKey: "k")
    server.clock.advance(milliseconds: 10)
    store.replicate()
    texts.removeAllInMemory()
    lose(store)
    #expect(try await texts.find("k")?.tier == .replica)
    let tags = try #require(tiers.known("#tag", String.self, TagMark.self))
    tags.cache.removeAll()
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    await tiers.stop()
  }
}
