import Esker
import EskerPlatform
import EskerTestSupport
import Foundation
import Synchronization
import Testing

@testable import EskerRemote

@Suite struct RemoteStorageTests {
  let server = TinyServer()

  @Test func whatIsReadOnceIsServedUntilItChanges() async throws {
    let (one, _) = try await server.makeTiers()
    let (two, store) = try await server.makeTiers()
    let writer: RemoteStorage<String, Int> = try one.storage("numbers")
    let reader: RemoteStorage<String, Int> = try two.storage("numbers")
    try await writer.async.set(1, forKey: "a")
    #expect(try await reader.find("a")?.tier == .remote)
    for _ in 0..<3 {
      let found = try #require(try await reader.find("a"))
      #expect(found.value == 1 && found.tier == .memory && found.age == .zero && !found.isStale)
    }
    #expect(store.count("get") == 1)
    // The push is told before the writer's call returns.
    try await writer.async.set(2, forKey: "a")
    #expect(try await reader.async.value(forKey: "a") == 2)
    // What was written is in the writer's memory.
    #expect(try await writer.find("a")?.tier == .memory)
    try await writer.async.removeValue(forKey: "a")
    #expect(try await reader.async.value(forKey: "a") == nil)
    #expect(try await reader.async.value(forKey: "a") == nil)
    #expect(store.count("get") == 3)
  }

  /// A form whose bytes begin with the storage's name and the key.
  private static let labelled = ByteTransformer.bound(id: "labelled") { bytes, key, name, body in
    (Array(name.utf8) + key.copied() + bytes.copied()).withBytes { body($0) }
  } decode: { bytes, key, name, body in
    let label = Array(name.utf8) + key.copied()
    guard bytes.copied().starts(with: label) else { throw StorageError.cancelled }
    try body(bytes.extracting(droppingFirst: label.count))
  }

  @Test func formsAreToldTheEntry() async throws {
    let (one, _) = try await server.makeTiers()
    let (two, _) = try await server.makeTiers()
    let form = Transformer<String>.utf8.then(Self.labelled)
    let writer: RemoteStorage<String, String> = try one.storage("names", transformer: form)
    let reader: RemoteStorage<String, String> = try two.storage("names", transformer: form)
    let plain: RemoteStorage<String, String> = try one.storage("names", transformer: .utf8)
    try await writer.async.set("anna", forKey: "a")
    #expect(try await reader.async.value(forKey: "a") == "anna")
    #expect(try await plain.async.value(forKey: "a") == "namesaanna")
    try await plain.async.set("namesbanna", forKey: "a")
    await #expect(throws: StorageError.self) { try await reader.async.value(forKey: "a") }
  }

  @Test func conditionsAreCheckedByTheServer() async throws {
    let (tiers, _) = try await server.makeTiers()
    let numbers: RemoteStorage<Int, String> = try tiers.storage("numbers")
    #expect(try await numbers.async.setIfAbsent("one", forKey: 1))
    #expect(try await !numbers.async.setIfAbsent("uno", forKey: 1))
    let version = try #require(try await numbers.async.entry(forKey: 1)?.version)
    let next = try #require(try await numbers.async.compareAndSet("eins", forKey: 1, ifVersion: version))
    #expect(try await numbers.async.compareAndSet("un", forKey: 1, ifVersion: version) == nil)
    #expect(try await numbers.async.value(forKey: 1) == "eins")
    #expect(try await numbers.async.removeValue(forKey: 1, ifVersion: next))
    #expect(try await !numbers.async.removeValue(forKey: 1))
    #expect(try await !numbers.async.touch(1, expiry: .after(.seconds(9))))
    await #expect(throws: StorageError.self) { try await numbers.async.set("x", forKey: 1, durability: .synced) }
  }

  /// One that memory keeps as its bytes.
  private struct CountedKey: StorageKey {
    static let encodings = Atomic<Int>(0)
    let text: String

    static var keyTransformer: KeyTransformer<CountedKey> {
      KeyTransformer(
        id: "counted",
        lend: { key, body in
          encodings.wrappingAdd(1, ordering: .relaxed)
          return key.text.withBytes { body($0) }
        },
        decode: { CountedKey(text: try Transformer<String>.utf8.decode($0)) }
      )
    }
  }

  @Test func aKeyIsEncodedOnceForACall() async throws {
    let (tiers, _) = try await server.makeTiers()
    let numbers: RemoteStorage<CountedKey, Int> = try tiers.storage("numbers")
    let key = CountedKey(text: "a")
    func encodings(of call: () async throws -> Void) async throws -> Int {
      let before = CountedKey.encodings.load(ordering: .relaxed)
      try await call()
      return CountedKey.encodings.load(ordering: .relaxed) - before
    }
    #expect(try await encodings { _ = try await numbers.find(key) } == 1)
    #expect(try await encodings { try await numbers.async.set(1, forKey: key) } == 1)
    #expect(try await encodings { _ = try await numbers.find(key) } == 1)
    #expect(try await numbers.find(key)?.value == 1)
  }

  @Test func noUpdateIsLost() async throws {
    let parties = [try await server.makeTiers().tiers, try await server.makeTiers().tiers]
    let counters: [RemoteStorage<String, Int>] = try parties.map { try $0.storage("counters") }
    await withThrowingTaskGroup(of: Void.self) { group in
      for counter in counters {
        for _ in 0..<4 {
          group.addTask { for _ in 0..<25 { try await counter.async.increment("n") } }
        }
      }
    }
    for counter in counters { #expect(try await counter.async.value(forKey: "n") == 200) }
    for party in parties { #expect(party.core.state.withLock { $0.active.count } == 0) }
  }

  @Test func copiesInTheLogSurviveRestartsAndAreChecked() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let count = 20
    do {
      let (tiers, _) = try await server.makeTiers()
      let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log)
      for key in 0..<count { try await texts.async.set("\(key)", forKey: key) }
      let keyspace = try log.keyspace("test/p:texts")
      #expect(try await eventually { try keyspace.count() == count })
      await tiers.stop()
    }
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log)
    server.put(nil, "texts:gone")
    for key in 0..<count {
      let found = try #require(try await texts.find(key))
      #expect(found.value == "\(key)" && found.tier == .log && !found.isStale)
    }
    #expect(store.count("check") == count && store.count("get") == 0)
    // Memory lost, the log verified: nothing is asked.
    texts.removeAllInMemory()
    for key in 0..<count { #expect(try await texts.find(key)?.tier == .log) }
    #expect(store.count("check") == count)
    // A new generation: all is checked anew.
    store.raise()
    store.trust(for: .seconds(100))
    for key in 0..<count { #expect(try await texts.find(key)?.value == "\(key)") }
    #expect(store.count("check") == 2 * count && store.count("get") == 0)
    // What another wrote is not taken for what is in the log.
    let (others, _) = try await server.makeTiers()
    let other: RemoteStorage<Int, String> = try others.storage("texts")
    try await other.async.set("new", forKey: 3)
    texts.removeAllInMemory()
    #expect(try await texts.async.value(forKey: 3) == "new")
    await tiers.stop()
    try log.close()
  }

  @Test func copiesAreCheckedTogether() async throws {
    let directory = try TemporaryDirectory()
    let log = try LogStore(at: directory.path)
    let count = 2_500
    let (former, _) = try await server.makeTiers()
    let written: RemoteStorage<Int, String> = try former.storage("texts", log: log)
    for key in 0..<count { try await written.async.set("\(key)", forKey: key) }
    await former.stop()
    let (others, _) = try await server.makeTiers()
    let other: RemoteStorage<Int, String> = try others.storage("texts")
    try await other.async.set("new", forKey: 3)

    let store = server.store()
    let tiers = RemoteTiers(store, named: "test", prefix: "p:", 1 << 14, .system) { [server] in server.now }
    try await tiers.start()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", log: log)
    #expect(try await texts.checkCopies() == count - 1)
    #expect(tiers.statistics.asked == count && tiers.statistics.same == count - 1)
    // A line of the table of what is known may be full.
    let checked = store.count("check")
    for key in 0..<count { #expect(try await texts.find(key)?.value == (key == 3 ? "new" : "\(key)")) }
    #expect(store.count("check") - checked < count / 20 && store.count("get") <= 1)
    // What is told afterwards is not served any more, nor what was read in another generation.
    try await other.async.set("newer", forKey: 4)
    texts.removeAllInMemory()
    #expect(try await texts.find(4)?.value == "newer")
    #expect(try await texts.find(5)?.tier == .log)
    server.put(nil, "texts:gone")
    store.setFailure(.unavailable(until: nil))
    await #expect(throws: StorageError.self) { try await texts.checkCopies() }
    for tiers in [tiers, others] { await tiers.stop() }
    try log.close()
  }

  @Test func oneProducerRunsForAll() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts")
    let runs = Runs()
    let values = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 {
        group.addTask { try await texts.async.value(forKey: "a") { await runs.next() } }
      }
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(Set(values) == ["1"])
  }

  actor Runs {
    private var count = 0

    func next() -> String {
      count += 1
      return "\(count)"
    }
  }

  @Test func staleValuesAreServedOnlyAsLongAsIsAllowed() async throws {
    let (tiers, store) = try await server.makeTiers()
    var options = RemoteOptions()
    options.serveStale = .seconds(60)
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options)
    try await texts.async.set("a", forKey: "k")
    #expect(try await texts.find("k")?.isStale == false)
    store.suspend()
    server.clock.advance(milliseconds: 10_000)
    let found = try #require(try await texts.find("k"))
    #expect(found.isStale && found.tier == .memory && found.age == .seconds(10) && found.value == "a")
    #expect(store.count("get") + store.count("check") == 0)
    // Too old: the owner is asked, although there is no lease.
    server.clock.advance(milliseconds: 60_000)
    #expect(try await texts.find("k")?.isStale == false)
    #expect(store.count("check") == 1)
  }

  @Test func aSlowStoreIsNotWaitedForWhereAStaleValueDoes() async throws {
    let (tiers, store) = try await server.makeTiers()
    var options = RemoteOptions()
    options.serveStale = .seconds(60)
    options.softTimeout = .milliseconds(20)
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options)
    try await texts.async.set("a", forKey: "k")
    store.raise()
    store.trust(for: .seconds(100))
    server.setSilent(true)
    #expect(try await texts.find("k")?.isStale == true)
    server.setSilent(false)
    // The read went on, and was kept.
    #expect(try await eventually { try texts.heldIsTrusted("k") })
    #expect(store.count("check") == 1)
  }

  @Test func aBoundedStorageServesWhatWasCurrentLately() async throws {
    let (tiers, store) = try await server.makeTiers()
    var options = RemoteOptions()
    options.freshness = .bounded(.seconds(5))
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options)
    try await texts.async.set("a", forKey: "k")
    let (others, _) = try await server.makeTiers()
    let other: RemoteStorage<String, String> = try others.storage("texts")
    try await other.async.set("b", forKey: "k")
    server.clock.advance(milliseconds: 2_000)
    let found = try #require(try await texts.find("k"))
    #expect(found.value == "a" && found.isStale && found.age == .seconds(2))
    server.clock.advance(milliseconds: 4_000)
    #expect(try await texts.async.value(forKey: "k") == "b")
    #expect(store.count("get") == 1)
  }

  /// What was read without a lease is not trusted, and still known to have been there.
  @Test func thatAWriteIsLostIsToldAlsoIfItWasOnlySeen() async throws {
    let (tiers, store) = try await server.makeTiers()
    let (others, _) = try await server.makeTiers()
    let reader: RemoteStorage<String, String> = try tiers.storage("texts")
    let writer: RemoteStorage<String, String> = try others.storage("texts")
    try await writer.async.set("a", forKey: "k")
    #expect(try await reader.async.value(forKey: "k") == "a")
    let former = server.value("texts:k")
    store.suspend()
    try await writer.async.set("b", forKey: "k")
    #expect(try await reader.async.value(forKey: "k") == "b")
    server.put(former, "texts:k")
    store.trust(for: .seconds(100))
    #expect(try await reader.find("k")?.value == "a" && tiers.statistics.rolledBack == 1)
    #expect(try await reader.find("k")?.tier == .memory && tiers.statistics.rolledBack == 1)
  }

  /// Nothing that is current or later gives way to what may not be.
  @Test func whatMayNotBeCurrentReplacesOnlyWhatIsOlder() async throws {
    let (tiers, _) = try await server.makeTiers()
    let view = (try tiers.storage("texts") as RemoteStorage<String, String>).view
    let held = try view.held("k")
    let key = try view.remote("k")
    func keep(_ number: UInt64, in generation: UInt32) {
      let envelope = RemoteEnvelope(version: RemoteVersion(time: number, count: 0, writer: 1))
      let value = RemoteValue(envelope, payload: ContiguousArray<UInt8>().span.bytes)
      view.keep("\(number)", value, held, 0, cost: 1, in: generation, since: view.core.now())
    }
    let generation = tiers.core.domains.generation(0)
    var seen: [String?] = []
    func look() { seen.append(view.cache.look(held)?.value.value) }
    keep(5, in: generation)
    keep(9, in: 0)
    look()
    key.bytes.withBytes { view.distrust($0, unless: nil, at: view.core.now()) }
    keep(4, in: 0)
    look()
    keep(9, in: 0)
    look()
    #expect(view.trusted(held, at: view.core.now()) == nil)
    keep(7, in: generation)
    look()
    #expect(seen == ["5", "5", "9", "7"])
  }

  @Test func anUpdateOfABoundedStorageIsExact() async throws {
    let (tiers, _) = try await server.makeTiers()
    let (others, _) = try await server.makeTiers()
    var options = RemoteOptions()
    options.freshness = .bounded(.seconds(5))
    let texts: RemoteStorage<String, String> = try tiers.storage("texts", options: options)
    let other: RemoteStorage<String, String> = try others.storage("texts")
    try await texts.async.set("a", forKey: "k")
    try await other.async.set("b", forKey: "k")
    #expect(try await texts.async.value(forKey: "k") == "a")
    try await texts.async.update(forKey: "k") { $0?.append("!") }
    #expect(try await other.async.value(forKey: "k") == "b!")
  }

  @Test func valuesExpireALittleEarlyByTheServersClock() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts")
    try await texts.async.set("a", forKey: "k", expiry: .after(.seconds(1)))
    server.clock.advance(milliseconds: 900)
    #expect(try await texts.find("k")?.tier == .memory)
    server.clock.advance(milliseconds: 97)
    // The server still has it; it is returned and not kept.
    #expect(try await texts.find("k")?.value == "a")
    #expect(try await texts.find("k")?.value == "a")
    #expect(store.count("get") == 2)
    #expect(try await texts.async.touch("k", expiry: .never))
    #expect(try await texts.find("k")?.expiry == .never)
    #expect(try await texts.find("k")?.tier == .memory)
  }

  @Test func anExpiryIsShortenedAtRandom() async throws {
    let (tiers, _) = try await server.makeTiers()
    var options = RemoteOptions()
    options.jitter = 0.5
    options.defaultExpiry = .seconds(1_000)
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts", options: options)
    let now = server.clock.wallMilliseconds()
    var lives: Set<Int64> = []
    for key in 0..<50 {
      try await texts.async.set("a", forKey: key)
      guard case .at(let end) = try await texts.find(key)?.expiry else { return #expect(Bool(false)) }
      lives.insert(end.millisecondsSince1970 - now)
    }
    #expect(lives.allSatisfy { (500_000...1_000_000).contains($0) } && lives.count > 25)
  }

  @Test func viewsOfOtherTypesSeeEachOthersWrites() async throws {
    let (tiers, _) = try await server.makeTiers()
    let numbers: RemoteStorage<String, Int> = try tiers.storage("mixed", transformer: .json)
    let fractions: RemoteStorage<String, Double> = try tiers.storage("mixed", transformer: .json)
    try await numbers.async.set(1, forKey: "k")
    #expect(try await fractions.async.value(forKey: "k") == 1)
    try await numbers.async.set(2, forKey: "k")
    #expect(try await fractions.async.value(forKey: "k") == 2)
    #expect(try await numbers.find("k")?.tier == .memory)
    #expect(try await fractions.mapValues { "\($0)" }.async.value(forKey: "k") == "2.0")
  }

  @Test func foreignAndDamagedValuesAreRefusedAndLeft() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<String, Int> = try tiers.storage("texts", transformer: .json)
    server.put(RemoteValue(stored: Array("7".utf8)), "texts:k")
    await #expect(throws: StorageError.self) { try await texts.async.value(forKey: "k") }
    let envelope = RemoteEnvelope(version: RemoteVersion(time: 1, count: 0, writer: 0))
    server.put(Array("x".utf8).withBytes { RemoteValue(envelope, payload: $0) }, "texts:k")
    await #expect(throws: StorageError.self) { try await texts.async.value(forKey: "k") }
    #expect(throws: StorageError.self) {
      let _: RemoteStorage<String, Int> = try tiers.storage("#tag")
    }
    try await texts.async.set(8, forKey: "k")
    #expect(try await texts.async.value(forKey: "k") == 8)
  }

  @Test func changesAreToldByKey() async throws {
    let (tiers, store) = try await server.makeTiers()
    let (others, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    let other: RemoteStorage<Int, String> = try others.storage("texts")
    let elsewhere: RemoteStorage<Int, String> = try others.storage("elsewhere")
    var changes = texts.changes().makeAsyncIterator()
    try await other.async.set("a", forKey: 1)
    try await elsewhere.async.set("a", forKey: 2)
    try await texts.async.set("b", forKey: 3)
    store.raise()
    store.trust(for: .seconds(100))
    try await other.async.removeValue(forKey: 1)
    #expect(await changes.next() == .changed(1))
    #expect(await changes.next() == .changed(3))
    #expect(await changes.next() == .doubtful)
    #expect(await changes.next() == .changed(1))
  }

  @Test func changesThatDoNotFitAreToldAsDoubt() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    var changes = texts.changes().makeAsyncIterator()
    for key in 0..<1_030 { try await texts.async.set("a", forKey: key) }
    for key in 0..<1_024 { #expect(await changes.next() == .changed(key)) }
    // Also if nothing more is told.
    #expect(await changes.next() == .doubtful)
    try await texts.async.set("a", forKey: 7)
    #expect(await changes.next() == .doubtful)
    #expect(await changes.next() == .changed(7))
    try await texts.async.set("a", forKey: 8)
    #expect(await changes.next() == .changed(8))
  }

  /// An executor takes a lock of the last rank when it is handed a task, so none may be held then.
  @Test func changesAreToldWithoutALock() async throws {
    let (tiers, _) = try await server.makeTiers()
    let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
    let changes = texts.changes()
    let executor = LockingExecutor()
    let seen = Guarded(0)
    let task = Task(executorPreference: executor) {
      for await _ in changes.prefix(20) { seen.withLock { $0 += 1 } }
    }
    for number in 0..<20 {
      try await texts.async.set("a", forKey: number)
      #expect(try await eventually { seen.withLock { $0 } > number })
    }
    await task.value
    #expect(executor.jobs > 1)
  }

  /// What users give to be called may do what it likes.
  @Test func costsAreAskedForWithoutALock() async throws {
    let (tiers, _) = try await server.makeTiers()
    let (others, _) = try await server.makeTiers()
    let asked = Guarded(0)
    func storage(_ tiers: RemoteTiers) throws -> RemoteStorage<Int, String> {
      try tiers.storage("texts", transformer: .standard, memory: MemoryLimits(cost: 100)) { text in
        tiers.core.observe()
        asked.withLock { $0 += 1 }
        return text.utf8.count
      }
    }
    let (texts, other) = (try storage(tiers), try storage(others))
    try await texts.async.set("a", forKey: 1)
    #expect(try await other.async.value(forKey: 1) == "a")
    #expect(asked.withLock { $0 } == 2)
    #expect(try await texts.find(1)?.tier == .memory)
    #expect(try await other.find(1)?.tier == .memory)
  }

  @Test func stoppedTiersAreReleased() async throws {
    weak var released: RemoteTiers?
    do {
      let (tiers, _) = try await server.makeTiers()
      let texts: RemoteStorage<Int, String> = try tiers.storage("texts")
      try await texts.async.set("a", forKey: 1)
      released = tiers
      await tiers.stop()
    }
    #expect(try await eventually { released == nil })
  }

  @Test func whoIsCancelledStopsWaitingAndTheReadGoesOn() async throws {
    let (tiers, store) = try await server.makeTiers()
    let texts: RemoteStorage<String, String> = try tiers.storage("texts")
    try await texts.async.set("a", forKey: "k")
    texts.removeAllInMemory()
    server.setSilent(true)
    let task = Task { try await texts.async.value(forKey: "k") }
    #expect(try await eventually { store.count("get") == 1 })
    task.cancel()
    await #expect(throws: StorageError.self) { try await task.value }
    server.setSilent(false)
    #expect(try await eventually { try texts.heldIsTrusted("k") })
  }
}

extension RemoteStorage {
  fileprivate func heldIsTrusted(_ key: Key) throws -> Bool {
    if case .entry = try held(key, StorageRequest.Read()) { return true }
    return false
  }
}

/// As that of a client.
///
/// Safety: a job runs once.
private final class LockingExecutor: TaskExecutor, @unchecked Sendable {
  private let count = Guarded(0, .leaf)
  private let queue = DispatchQueue(label: "executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    count.withLock { $0 += 1 }
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  var jobs: Int { count.withLock { $0 } }
}
