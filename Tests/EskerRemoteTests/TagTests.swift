import Esker
import EskerPlatform
import EskerTestSupport
import Synchronization
import Testing

@testable import EskerRemote

/// Values that are made invalid together, by processes over one server that answers at once.
@Suite struct TagTests {
  let server = TinyServer()

  @Test func oneWriteMakesAllValuesOfATagInvalidInAllProcesses() async throws {
    let (one, store) = try await server.makeTiers()
    let (two, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try one.storage("texts")
    let numbers: RemoteStorage<Int, Int> = try one.storage("numbers")
    let theirs: RemoteStorage<Int, String> = try two.storage("texts")
    try await texts.tagged("a", "b").async.set("ab", forKey: 1)
    try await texts.tagged("b").async.set("b", forKey: 2)
    try await texts.async.set("none", forKey: 3)
    try await numbers.tagged("a").async.set(7, forKey: 1)
    for key in 1...3 { #expect(try await theirs.async.value(forKey: key) != nil) }
    let asked = store.count("get")
    for _ in 0..<3 { #expect(try await texts.find(1)?.tier == .memory) }
    // Hits of values with tags ask nobody, and suspend for nothing.
    #expect(store.count("get") == asked)
    if case .entry(let entry) = try texts.held(1, StorageRequest.Read()) {
      #expect(entry.value == "ab")
    } else {
      Issue.record("not held")
    }
    try await two.invalidate(tag: "a")
    for storage in [texts, theirs] {
      #expect(try await storage.async.value(forKey: 1) == nil)
      #expect(try await storage.async.value(forKey: 2) == "b")
      #expect(try await storage.async.value(forKey: 3) == "none")
    }
    #expect(try await numbers.async.value(forKey: 1) == nil)
    // That it is invalid is known without asking again.
    let known = store.count("get")
    #expect(try await texts.async.value(forKey: 1) == nil)
    #expect(store.count("get") == known)
    try await texts.tagged("a").async.set("new", forKey: 1)
    for storage in [texts, theirs] { #expect(try await storage.async.value(forKey: 1) == "new") }
    for party in [one, two] { #expect(party.core.state.withLock { $0.active.count } == 0) }
  }

  @Test func aTagThatWasEvictedInvalidates() async throws {
    let (one, _) = try await server.makeTiers()
    let (two, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try one.storage("texts")
    let theirs: RemoteStorage<Int, String> = try two.storage("texts")
    try await texts.tagged("a").async.set("one", forKey: 1)
    try await texts.tagged("a").async.set("two", forKey: 2)
    #expect(try await theirs.async.value(forKey: 1) == "one")
    let first = server.loop.sync { server.values[Array("#tag:a".utf8)]?.version }
    server.put(nil, "#tag:a")
    for storage in [texts, theirs] { #expect(try await storage.async.value(forKey: 1) == nil) }
    // Made anew, with a version of its own.
    try await theirs.tagged("a").async.set("again", forKey: 1)
    let second = server.loop.sync { server.values[Array("#tag:a".utf8)]?.version }
    #expect(first != nil && second != nil && first != second)
    for storage in [texts, theirs] {
      #expect(try await storage.async.value(forKey: 1) == "again")
      #expect(try await storage.async.value(forKey: 2) == nil)
    }
    // What is no tag is replaced.
    server.put(RemoteValue(stored: Array("7".utf8)), "#tag:a")
    #expect(try await texts.async.value(forKey: 1) == nil)
    try await texts.tagged("a").async.set("more", forKey: 1)
    #expect(try await theirs.async.value(forKey: 1) == "more")
  }

  /// Runs a producer during which the tag is invalidated by `invalidate`; what is there afterwards.
  private func produced(
    _ storage: RemoteStorage<Int, String>,
    _ invalidate: @escaping @Sendable () async throws -> Void
  ) async throws -> String? {
    let tagged = try storage.tagged("a")
    let value = try await tagged.async.value(forKey: 1) {
      try await invalidate()
      return "old"
    }
    #expect(value == "old")
    return try await storage.async.value(forKey: 1)
  }

  @Test func whatIsProducedDuringAnInvalidationIsInvalid() async throws {
    let (one, store) = try await server.makeTiers()
    let (two, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try one.storage("texts")
    let theirs: RemoteStorage<Int, String> = try two.storage("texts")
    let own = try await produced(texts) { try await one.invalidate(tag: "a") }
    #expect(own == nil)
    #expect(try await theirs.async.value(forKey: 1) == nil)
    let others = try await produced(texts) { try await two.invalidate(tag: "a") }
    #expect(others == nil)
    let evicted = try await produced(texts) { [server] in server.put(nil, "#tag:a") }
    #expect(evicted == nil)
    // The producer's process is told late, and neither serves nor resurrects what it made.
    let late = try await produced(texts) {
      store.setDeaf(true)
      try await two.invalidate(tag: "a")
    }
    #expect(late == "old")
    #expect(try await theirs.async.value(forKey: 1) == nil)
    store.setDeaf(false)
    #expect(try await texts.async.value(forKey: 1) == nil)
    // Without an invalidation it stays, and is not made again.
    let calm = try await produced(texts) {}
    #expect(calm == "old")
    let again = try await texts.tagged("a").async.value(forKey: 1) { "new" }
    #expect(again == "old")
    #expect(try await theirs.async.value(forKey: 1) == "old")
  }

  @Test func whoComesAfterAnInvalidationDoesNotWaitForAnOlderProducer() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    let tagged = try texts.tagged("a")
    let (begun, went) = (Gate(), Gate())
    async let first = tagged.async.value(forKey: 1) {
      begun.open()
      await went.pass()
      return "old"
    }
    await begun.pass()
    try await tiers.invalidate(tag: "a")
    let second = try await tagged.async.value(forKey: 1) { "new" }
    #expect(second == "new")
    went.open()
    // What is there stays, and is newer than what its caller had asked for.
    #expect(try await first == "new")
    #expect(try await texts.async.value(forKey: 1) == "new")
  }

  @Test func operatorsAndOtherProductionsKeepTheMoment() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    let numbers = try texts.tagged("a").mapValues {
      Int($0) ?? 0
    } from: {
      "\($0)"
    }
    let number = try await numbers.async.value(forKey: 1) {
      try await tiers.invalidate(tag: "a")
      return 1
    }
    #expect(number == 1)
    #expect(try await texts.async.value(forKey: 1) == nil)
    let production = StorageRequest.Production(lifetime: .seconds(60))
    _ = try await texts.tagged("a").async.value(forKey: 1, production) {
      try await tiers.invalidate(tag: "a")
      return "2"
    }
    #expect(try await texts.async.value(forKey: 1) == nil)
    // A value that is made by hand.
    let writer = try await texts.tagged("a").startingNow()
    try await tiers.invalidate(tag: "a")
    try await writer.async.set("3", forKey: 1)
    #expect(try await texts.async.value(forKey: 1) == nil)
    try await texts.tagged("a").async.set("4", forKey: 1)
    #expect(try await texts.async.value(forKey: 1) == "4")
  }

  @Test func whatIsInvalidCountsAsAbsent() async throws {
    let (tiers, _) = try await server.makeTiers()
    let numbers: RemoteStorage<Int, Int> = try tiers.storage("numbers")
    let tagged = try numbers.tagged("a")
    for isInMemory in [true, false] {
      for key in 1...3 { try await tagged.async.set(40, forKey: key) }
      try await tiers.invalidate(tag: "a")
      if !isInMemory { numbers.removeAllInMemory() }
      #expect(try await tagged.async.increment(1) == 1)
      #expect(try await tagged.async.setIfAbsent(2, forKey: 2))
      #expect(try await !tagged.async.setIfAbsent(3, forKey: 2))
      let third = try await tagged.async.value(forKey: 3) { 3 }
      #expect(third == 3)
      for key in 1...3 { #expect(try await numbers.async.value(forKey: key) == key) }
    }
    let version = try #require(try await numbers.async.entry(forKey: 1)?.version)
    try await tiers.invalidate(tag: "a")
    #expect(try await numbers.async.compareAndSet(5, forKey: 1, ifVersion: version) == nil)
    #expect(try await !numbers.async.contains(1))
  }

  @Test func anUpdateKeepsTheTagsAndTheirVersions() async throws {
    let (tiers, _) = try await server.makeTiers()
    let numbers: RemoteStorage<Int, Int> = try tiers.storage("numbers")
    try await numbers.tagged("a").async.set(1, forKey: 1)
    try await numbers.async.update(forKey: 1) { $0? += 1 }
    try await numbers.tagged("b").async.update(forKey: 1) { $0? += 1 }
    #expect(try await numbers.async.value(forKey: 1) == 3)
    #expect(try await numbers.find(1)?.tags.map(\.name) == ["a", "b"])
    #expect(try await numbers.async.touch(1, expiry: .after(.seconds(60))))
    #expect(try await numbers.find(1)?.tags.map(\.name) == ["a", "b"])
    try await tiers.invalidate(tag: "a")
    #expect(try await numbers.async.value(forKey: 1) == nil)
    try await numbers.tagged("b").async.set(1, forKey: 1)
    #expect(try await numbers.find(1)?.tags.map(\.name) == ["b"])
    try await numbers.async.set(1, forKey: 1)
    #expect(try await numbers.find(1)?.tags.isEmpty == true)
  }

  @Test func aStorageIsClearedByOneWrite() async throws {
    let (one, store) = try await server.makeTiers()
    let (two, _) = try await server.makeTiers()
    var options = RemoteOptions()
    options.isClearable = true
    options.tags = ["all"]
    let texts: RemoteStorage<Int, String> = try one.storage("texts", options: options)
    let others: RemoteStorage<Int, String> = try one.storage("others", options: options)
    let theirs: RemoteStorage<Int, String> = try two.storage("texts")
    for key in 0..<50 { try await texts.async.set("\(key)", forKey: key) }
    try await others.async.set("other", forKey: 0)
    #expect(try await theirs.async.value(forKey: 7) == "7")
    let written = store.count("set")
    try await texts.clear()
    #expect(store.count("set") == written + 1)
    for key in 0..<50 { #expect(try await texts.async.value(forKey: key) == nil) }
    #expect(try await theirs.async.value(forKey: 7) == nil)
    #expect(try await others.async.value(forKey: 0) == "other")
    // Without a tag of its own in the call.
    let value = try await texts.async.value(forKey: 1) {
      try await texts.clear()
      return "old"
    }
    #expect(value == "old")
    #expect(try await texts.async.value(forKey: 1) == nil)
    try await one.invalidate(tag: "all")
    #expect(try await others.async.value(forKey: 0) == nil)
    await #expect(throws: StorageError.self) { try await theirs.clear() }
  }

  @Test func copiesInTheLogAreNotServedOnceATagHasChanged() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    do {
      let (tiers, _) = try await server.makeTiers()
      let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log)
      for key in 0..<20 { try await texts.tagged(key < 10 ? "a" : "b").async.set("\(key)", forKey: key) }
      let keyspace = try log.keyspace("test/p:texts")
      #expect(try await eventually { try keyspace.count() == 20 })
      await tiers.stop()
    }
    let (others, _) = try await server.makeTiers()
    try await others.invalidate(tag: "a")
    // Nobody but the tiers has what is held of tags.
    await others.stop()
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log)
    for key in 0..<20 {
      let found = try await texts.find(key)
      #expect(found?.value == (key < 10 ? nil : "\(key)") && (key < 10 || found?.tier == .log))
    }
    // The values were not moved, and each tag was read once.
    #expect(store.count("check") == 20 && store.count("get") == 2)
    await tiers.stop()
    try log.close()
  }

  @Test func tagsAreCheckedWhenAllBecameDoubtful() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    for key in 0..<10 { try await texts.tagged("a").async.set("\(key)", forKey: key) }
    let asked = store.count("get")
    store.raise()
    store.trust(for: .seconds(100))
    for key in 0..<10 { #expect(try await texts.find(key)?.value == "\(key)") }
    // One tag and ten values, without moving any.
    #expect(store.count("check") == 11 && store.count("get") == asked)
  }

  @Test func aStaleValueIsNotServedOnceItsTagIsKnownToHaveChanged() async throws {
    let (tiers, store) = try await server.makeTiers()
    let (others, _) = try await server.makeTiers()
    var options = RemoteOptions()
    options.serveStale = .seconds(60)
    options.softTimeout = .milliseconds(20)
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", options: options)
    try await texts.tagged("a").async.set("a", forKey: 1)
    try await texts.tagged("b").async.set("b", forKey: 2)
    try await others.invalidate(tag: "b")
    store.suspend()
    server.clock.advance(milliseconds: 1_000)
    #expect(try await texts.find(1)?.isStale == true)
    #expect(try await texts.find(1)?.age == .seconds(1))
    // The double answers without a lease.
    #expect(try await texts.find(2)?.value == nil)
    #expect(store.count("check") == 1)
  }

  @Test func namesThatCannotBeTagsAreRefused() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    for name in ["", "*texts", String(repeating: "a", count: 256)] {
      #expect(throws: StorageError.self) { try texts.tagged(name) }
      await #expect(throws: StorageError.self) { try await tiers.invalidate(tag: name) }
    }
    #expect(throws: StorageError.self) { try texts.tagged((0..<255).map { "\($0)" }) }
    let many = try texts.tagged((0..<254).map { "\($0)" })
    try await many.async.set("a", forKey: 1)
    #expect(try await texts.find(1)?.tags.count == 254)
    await #expect(throws: StorageError.self) {
      try await texts.tagged("x", "y").async.update(forKey: 1) { $0 = "b" }
    }
    var options = RemoteOptions()
    options.tags = [""]
    #expect(throws: StorageError.self) {
      let _: RemoteStorage<Int, String> = try tiers.storage("others", options: options)
    }
    // Names of other scalars are other tags.
    try await texts.tagged("\u{E9}", "e\u{301}").async.set("a", forKey: 2)
    #expect(try await texts.find(2)?.tags.count == 2)
  }

  /// Two processes produce what a source has, which changes all the time; each change invalidates the tag.
  @Test func noReadIsOlderThanTheLastInvalidation() async throws {
    var random = SeededGenerator(announcedFor: "noReadIsOlderThanTheLastInvalidation")
    let pauses = (0..<64).map { _ in Int.random(in: 0...8, using: &random) }
    let tally = Tally()
    let parties = [try await server.makeTiers().tiers, try await server.makeTiers().tiers]
    let storages: [RemoteStorage<Int, Int>] = try parties.map { try $0.storage("numbers") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (party, storage) in storages.enumerated() {
        for reader in 0..<3 {
          group.addTask {
            let tagged = try storage.tagged("source")
            var round = reader
            while !tally.isOver.load(ordering: .acquiring) {
              let least = tally.floor.load(ordering: .acquiring)
              round += 1
              let pause = pauses[round % 64]
              let value = try await tagged.async.value(forKey: round % 2) {
                let value = tally.source.load(ordering: .acquiring)
                for _ in 0..<pause { await Task.yield() }
                return value
              }
              if value < least { Issue.record("process \(party) read \(value) after \(least)") }
              // A hit suspends for nothing, and readers must not hold all threads.
              await Task.yield()
            }
          }
        }
      }
      for round in 0..<300 {
        let number = tally.source.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
        try await parties[round % 2].invalidate(tag: "source")
        tally.floor.store(number, ordering: .releasing)
        for _ in 0..<pauses[round % 64] { await Task.yield() }
      }
      tally.isOver.store(true, ordering: .releasing)
      try await group.waitForAll()
    }
    for storage in storages {
      let last = try await storage.tagged("source").async.value(forKey: 0) { 300 }
      #expect(last == 300)
    }
  }
}

private final class Tally: Sendable {
  let source = Atomic(0)
  /// What the source had when an invalidation was complete.
  let floor = Atomic(0)
  let isOver = Atomic(false)
}

/// Opens once.
final class Gate: Sendable {
  private let stream = AsyncStream<Void>.makeStream()

  func open() { stream.continuation.finish() }

  func pass() async { for await _ in stream.stream {} }
}
