import Esker
import EskerLog
import EskerTestSupport
import Testing

@testable import EskerRemote

/// What a process has written is read by it, whatever else may be served without asking.
@Suite struct OwnWriteTests {
  let server = TinyServer()

  static let options: RemoteOptions = {
    var options = RemoteOptions()
    options.freshness = .bounded(.seconds(1_000))
    options.serveStale = .seconds(1_000)
    return options
  }()

  /// Writes of which nothing is kept, since their changes are told.
  enum Write: CaseIterable {
    case touch, compareAndSet, update, removeIf

    func perform(_ texts: RemoteStorage<String, String>) async throws {
      switch self {
      case .touch: #expect(try await texts.async.touch("k", expiry: .after(.seconds(500))))
      case .compareAndSet:
        let version = try await texts.async.entry(forKey: "k")?.version
        #expect(try await texts.async.compareAndSet("new", forKey: "k", ifVersion: version) != nil)
      case .update: try await texts.async.update(forKey: "k") { $0 = "new" }
      case .removeIf:
        let version = try #require(try await texts.async.entry(forKey: "k")?.version)
        #expect(try await texts.async.removeValue(forKey: "k", ifVersion: version))
      }
    }

    /// Whether something is what the write left.
    func isSeen(in found: RemoteEntry<String>?) -> Bool {
      switch self {
      case .touch: found?.value == "old" && found?.expiry != .never
      case .compareAndSet, .update: found?.value == "new"
      case .removeIf: found == nil
      }
    }

    /// Whether it is known what is there without a question: what was written, which may not be current any more.
    var isKnown: Bool { self == .compareAndSet || self == .update }
  }

  @Test(arguments: Write.allCases, [true, false])
  func whatAWriteHasReplacedIsNotServed(_ write: Write, isInMemory: Bool) async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: Self.options)
    // A view with other types, of the same keys.
    let others: RemoteStorage<String, Substitute> = try tiers.storage(
      "texts",
      transformer: Substitute.transformer,
      log: log,
      options: Self.options
    )
    try await texts.async.set("old", forKey: "k")
    #expect(try await others.find("k")?.value.text == "old")
    let keyspace = try log.keyspace("test/p:texts")
    #expect(try keyspace.count() == 1)
    try await write.perform(texts)
    // What was there before is not in the log any more when the write is acknowledged.
    #expect(try keyspace.count() == (write.isKnown ? 1 : 0))
    if !isInMemory {
      texts.removeAllInMemory()
      others.removeAllInMemory()
    }
    store.suspend()
    store.setFailure(.unavailable(until: nil))
    func expectNothingOlder(_ storage: RemoteStorage<String, String>) async throws {
      if write.isKnown {
        let found = try await storage.find("k")
        #expect(found?.value == "new" && found?.isStale == true)
      } else {
        await #expect(throws: StorageError.self) { try await storage.find("k") }
      }
    }
    try await expectNothingOlder(texts)
    if write.isKnown {
      #expect(try await others.find("k")?.value.text == "new")
    } else {
      await #expect(throws: StorageError.self) { try await others.find("k") }
    }
    store.setFailure(nil)
    #expect(write.isSeen(in: try await texts.find("k")))
    #expect(try await others.find("k")?.value.text == (try await texts.find("k")?.value))
    await tiers.stop()
    // Nor is it after a restart.
    let (again, _) = try await server.makeTiers(isLeased: false)
    server.loop.sync { for client in server.clients { client.failure = .unavailable(until: nil) } }
    let restarted: RemoteStorage<String, String> = try again.storage("texts", log: log, options: Self.options)
    try await expectNothingOlder(restarted)
    await again.stop()
    try log.close()
  }

  struct Substitute: Sendable {
    var text: String

    static let transformer = Transformer<Substitute>(id: "test.substitute") {
      try Transformer<String>.standard.encode($0.text)
    } decode: { bytes throws in
      Substitute(text: try Transformer<String>.standard.decode(bytes))
    }
  }

  @Test func aValueThatIsKeptIsInTheLogWhenItIsAcknowledged() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: Self.options)
    let others: RemoteStorage<String, Substitute> = try tiers.storage(
      "texts",
      transformer: Substitute.transformer,
      options: Self.options
    )
    let keyspace = try log.keyspace("test/p:texts")
    for text in ["a", "b", "c"] {
      try await texts.async.set(text, forKey: "k")
      let stored = try #require(try keyspace.get(Array("k".utf8)))
      #expect(
        try Array(RemoteValue(stored: stored).payload).withBytes { try Transformer<String>.standard.decode($0) } == text
      )
      // The other view has what was before.
      store.suspend()
      #expect(try await others.find("k")?.value.text == text)
      store.trust(for: .seconds(1_000))
      #expect(try await others.find("k")?.value.text == text)
    }
    // Written by a view without the log.
    try await others.async.set(Substitute(text: "d"), forKey: "k")
    #expect(try keyspace.count() == 0)
    try await texts.async.removeValue(forKey: "k")
    #expect(try keyspace.count() == 0)
    await tiers.stop()
    try log.close()
  }

  @Test func whatAWriteMayHaveReplacedIsServedOnlyAsStale() async throws {
    let (tiers, store) = try await server.makeTiers()
    var bounded = Self.options
    bounded.serveStale = nil
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: bounded)
    let stale: RemoteStorage<String, Substitute> = try tiers.storage(
      "texts",
      transformer: Substitute.transformer,
      options: Self.options
    )
    try await texts.async.set("old", forKey: "k")
    #expect(try await stale.find("k")?.value.text == "old")
    store.setFailure(.unknownOutcome)
    await #expect(throws: StorageError.self) { try await texts.async.set("new", forKey: "k") }
    store.setFailure(.unavailable(until: nil))
    store.suspend()
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    let found = try #require(try await stale.find("k"))
    #expect(found.value.text == "old" && found.isStale)
    // Found current after all: it is served as before.
    store.setFailure(nil)
    let write = try #require(store.lastWrite)
    server.loop.sync { store.sink?.settled(write, .notExecuted) }
    store.trust(for: .seconds(1_000))
    #expect(try await texts.find("k")?.isStale == false)
    store.suspend()
    #expect(try await texts.find("k")?.isStale == true)
    // It was made after all: nothing older is served.
    store.setFailure(.unknownOutcome)
    await #expect(throws: StorageError.self) { try await texts.async.set("new", forKey: "k") }
    store.setFailure(.unavailable(until: nil))
    let last = try #require(store.lastWrite)
    let stamp = server.loop.sync { store.stamp() }
    server.loop.sync {
      store.sink?.settled(last, .answered(.done(isEchoed: false, wasThere: true), at: stamp))
    }
    await #expect(throws: StorageError.self) { try await stale.find("k") }
    await tiers.stop()
  }

  /// The store tells nobody of a write whose own connection it came by.
  @Test func aWriteThatIsFoundToBeMadeLaterIsTold() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts")
    var changes = texts.changes().makeAsyncIterator()
    store.setFailure(.unknownOutcome)
    await #expect(throws: StorageError.self) { try await texts.async.set("a", forKey: "given up") }
    store.setFailure(nil)
    let write = try #require(store.lastWrite)
    let watch = tiers.core.watch(try texts.view.remote("given up"))
    let stamp = server.loop.sync { store.stamp() }
    server.loop.sync { store.sink?.settled(write, .answered(.done(isEchoed: false, wasThere: true), at: stamp)) }
    #expect(await changes.next() == .changed("given up"))
    guard case .landed = await watch.promise.outcome(within: .seconds(600)) else {
      Issue.record("who waits is not told")
      return
    }
    // Answered while nobody knew whether the owner was still the owner.
    server.setSilent(true)
    async let confirmed: Void = texts.async.set("b", forKey: "confirmed")
    #expect(try await eventually { server.loop.sync { !server.waiting.isEmpty } })
    store.suspend()
    server.setSilent(false)
    #expect(try await eventually { tiers.core.state.withLock { !$0.confirming.isEmpty } })
    store.trust(for: .seconds(1_000))
    try await confirmed
    var last = await changes.next()
    while last != .changed("confirmed"), last != nil { last = await changes.next() }
    #expect(last == .changed("confirmed"))
    tiers.core.unwatch(watch)
    await tiers.stop()
  }

  @Test func whoeverIsRefusedFindsWhatIsThere() async throws {
    let (tiers, _) = try await server.makeTiers()
    let (other, _) = try await server.makeTiers()
    let counts: RemoteStorage<String, Int> = try tiers.storage("counts", options: Self.options)
    let others: RemoteStorage<String, Int> = try other.storage("counts")
    try await counts.async.set(1, forKey: "k")
    try await others.async.set(10, forKey: "k")
    let found = try #require(try await counts.find("k"))
    #expect(found.value == 1)
    let version = SequenceNumber(rawValue: try #require(found.version).digest)
    #expect(try await counts.async.compareAndSet(2, forKey: "k", ifVersion: version) == nil)
    #expect(try await counts.find("k")?.value == 10)
    await tiers.stop()
    await other.stop()
  }

  @Test func aQueuedWriteIsSeenByAllViewsOnceItHasArrived() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let (tiers, store) = try await server.makeTiers()
    var queued = Self.options
    queued.queue = RemoteQueueOptions()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: queued)
    let others: RemoteStorage<String, Substitute> = try tiers.storage(
      "texts",
      transformer: Substitute.transformer,
      options: Self.options
    )
    try await texts.async.set("old", forKey: "k")
    try await texts.queueDrained()
    #expect(try await others.find("k")?.value.text == "old")
    try await texts.async.set("new", forKey: "k")
    try await texts.queueDrained()
    store.suspend()
    store.setFailure(.unavailable(until: nil))
    await #expect(throws: StorageError.self) { try await others.find("k") }
    // What arrived is in the log.
    #expect(try await texts.find("k")?.value == "new")
    await tiers.stop()
    try log.close()
  }

  @Test func aLogThatCannotBeWrittenServesNothingThatWasReplaced() async throws {
    let directory = try TemporaryDirectory()
    do {
      let log = try LogStore(at: directory.path)
      let (tiers, _) = try await server.makeTiers()
      let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: Self.options)
      for key in ["a", "b"] { try await texts.async.set("old", forKey: key) }
      await tiers.stop()
      try log.close()
    }
    var readOnly = Options()
    readOnly.readOnly = true
    let log = try LogStore(at: directory.path, options: readOnly)
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", log: log, options: Self.options)
    #expect(try await texts.async.touch("a", expiry: .after(.seconds(500))))
    store.suspend()
    store.setFailure(.unavailable(until: nil))
    await #expect(throws: StorageError.self) { try await texts.find("a") }
    #expect(try await texts.find("b")?.value == "old")
    await tiers.stop()
    try log.close()
  }

  @Test func aTagThatWasInvalidatedMakesNothingStaleServed() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: Self.options)
    try await texts.tagged("t").async.set("old", forKey: "k")
    // Nothing is known of the tag any more, and nobody knows whether it was invalidated.
    tiers.known("#tag", String.self, TagMark.self)?.cache.removeAll()
    store.setFailure(.unknownOutcome)
    await #expect(throws: StorageError.self) { try await tiers.invalidate(tag: "t") }
    store.setFailure(.unavailable(until: nil))
    store.suspend()
    await #expect(throws: StorageError.self) { try await texts.find("k") }
    await tiers.stop()
  }
}
