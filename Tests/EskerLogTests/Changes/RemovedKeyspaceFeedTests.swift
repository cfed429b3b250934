import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What feeds show of keyspaces that were removed.
@Suite(.timeLimit(.minutes(60))) struct RemovedKeyspaceFeedTests {
  private static let start = SequenceNumber(rawValue: 0)

  /// The contents of a store, by keyspace and key.
  private typealias Contents = [String: [[UInt8]: [UInt8]]]

  private func contents(of store: LogStore) throws -> Contents {
    var result: Contents = [:]
    for entry in try store.snapshot() { result[entry.keyspace, default: [:]][try entry.key()] = try entry.value() }
    return result
  }

  private func apply(_ change: LogChange, to copy: inout Contents) {
    switch change.kind {
    case .put(let value, _): copy[change.keyspace, default: [:]][change.key] = value
    case .remove: copy[change.keyspace, default: [:]][change.key] = nil
    case .removeAll: copy[change.keyspace] = nil
    }
  }

  /// A removal that is logged and not durable: whoever follows durable writes, and resumes after a power failure, lacks nothing.
  @Test(arguments: [false, true], [CrashPolicy.drop, .keep])
  func aRemovalThatMayBeUndoneHidesNothing(isReopened: Bool, crash: CrashPolicy) async throws {
    var generator = SeededGenerator(seed: 7)
    var machine = Machine()
    var store = try machine.open()
    try store.keyspace("gone").put("v", forKey: "k", durability: .synced)
    let second = try store.put("w", forKey: "l", durability: .synced)
    try store.removeKeyspace("gone")
    if isReopened { store = try machine.reopenAfterKill() }
    #expect(store.engine.durableSequence == second.rawValue)
    var copy: Contents = [:]
    for change in try await store.changes(since: Self.start).take(through: second) { apply(change, to: &copy) }
    #expect(store.engine.durableSequence == second.rawValue)
    machine.disk = try machine.disk.crashImage(crash, using: &generator)
    store = try machine.open()
    #expect(try store.keyspaceNames == (crash == .drop ? ["gone"] : []))
    let rest = try await store.changes(since: second).take(through: store.lastSequence, after: second)
    for change in rest { apply(change, to: &copy) }
    #expect(try copy == contents(of: store))
  }

  /// The store is open for writing, and for reading in another process, and the removal durable or not.
  @Test(arguments: [false, true], [false, true])
  func whatWasWrittenBeforeIsLeftOutOrShownUnderItsName(isDurable: Bool, readOnly: Bool) async throws {
    let machine = Machine()
    let store = try machine.open()
    try store.keyspace("gone").put("v", forKey: "k", durability: .synced)
    try store.removeKeyspace("gone", durability: isDurable ? .synced : .buffered)
    if isDurable { try store.probe.writeManifest() }
    let last = try store.put("w", forKey: "l")
    let reader = readOnly ? try machine.open { $0.readOnly = true } : store
    let shown = try await reader.changes(since: Self.start, includingUnsynced: true).take(through: last)
    #expect(shown.map(\.sequence.rawValue) == (isDurable ? [2, 3] : [1, 2, 3]))
    #expect(shown.map(\.keyspace) == (isDurable ? ["gone", ""] : ["gone", "gone", ""]))
  }

  @Test func aFeedOfAClosedStoreReportsNoDamage() async throws {
    let store = try Machine().open()
    let feed = store.changes(since: Self.start)
    let gone = try store.keyspace("gone")
    try gone.put("v", forKey: "k")
    try store.write { (batch) throws(StoreError) in
      try batch.put("v", forKey: "first")
      try batch.put("v", forKey: "second", in: gone)
    }
    try store.removeKeyspace("gone")
    try store.keyspace("kept").put("v", forKey: "k")
    try store.close()
    let shown = try await feed.take(10)
    #expect(shown.map(\.sequence.rawValue) == [2, 4, 5])
    #expect(shown.map(\.keyspace) == ["", "gone", "kept"])
    // What follows in its batch is not shown.
    #expect(shown.allSatisfy { !$0.batchContinues })
  }

  /// The feed ends at the last durable write, before the removal.
  @Test func aFeedOfAStoreThatFailedShowsWhatIsThere() async throws {
    let store = try Machine().open()
    let feed = store.changes(since: Self.start)
    try store.keyspace("gone").put("v", forKey: "k", durability: .synced)
    try store.removeKeyspace("gone")
    store.probe.failSync(5)
    #expect(throws: StoreError.self) { try store.close() }
    let shown = try await feed.take(10)
    #expect(shown.map(\.sequence.rawValue) == [1])
    #expect(shown.map(\.keyspace) == ["gone"])
  }

  @Test(arguments: [false, true]) func aDamagedRemovalIsAnErrorOnce(isForgotten: Bool) async throws {
    let name = "vanishing"
    var machine = Machine()
    var store = try machine.open()
    try store.keyspace(name).put("v", forKey: "k")
    try store.removeKeyspace(name, durability: .synced)
    let last = try store.put("v", forKey: "k", durability: .synced)
    if isForgotten { try store.probe.writeManifest() }
    store.probe.kill()
    let image = try DiskImage(of: machine)
    let file = try #require(image.names.first { $0.hasSuffix(".segment") })
    let contents = try #require(image.files[file])
    let place = try #require(contents.indices.first { contents[$0...].starts(with: bytes(name)) })
    machine = try image.flipping(file, place, bit: 0).machine()
    store = try machine.open()
    let feed = store.changes(since: Self.start)
    var shown: [UInt64] = []
    var damage = 0
    while shown.last != last.rawValue, damage < 5 {
      do throws(StoreError) {
        var iterator = feed.makeAsyncIterator()
        while shown.last != last.rawValue, let change = try await iterator.next() {
          shown.append(change.sequence.rawValue)
        }
      } catch {
        guard case .damaged = error else { throw error }
        damage += 1
      }
    }
    #expect(damage == 1)
    #expect(shown == (isForgotten ? [3] : [1, 3]))
  }
}
