import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What feeds show of batches that are taken as a whole.
@Suite(.timeLimit(.minutes(60))) struct BatchFeedTests {
  let machine = Machine()
  private static let start = SequenceNumber(rawValue: 0)

  private func open(_ machine: Machine, readOnly: Bool = false) throws -> LogStore {
    try machine.open { options in
      options.merge.isAutomatic = false
      options.readOnly = readOnly
    }
  }

  /// Writes the keys in a batch, and returns its number.
  @discardableResult
  private func write(_ keys: [String], _ store: LogStore, in space: Keyspace? = nil, size: Int = 1) throws -> UInt64 {
    try store.write { (batch) throws(StoreError) in
      for key in keys { try batch.put([UInt8](repeating: 7, count: size), forKey: key, in: space) }
    }
    return store.lastSequence.rawValue
  }

  /// The batches that there are, by the numbers of their changes.
  private func shown(_ batches: LogStore.Changes.Batches) throws -> [[UInt64]] {
    var result: [[UInt64]] = []
    while let batch = try batches.poll() {
      result.append(batch.changes.map(\.sequence.rawValue))
      #expect(batch.sequence == batch.changes.last?.sequence)
    }
    return result
  }

  @Test func batchesAndTransactionsAreWholeAndAllElseIsAlone() async throws {
    let store = try open(machine)
    let space = try store.keyspace("space")
    let feed = store.changes().batches
    try store.put("v", forKey: "alone")
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "b", in: space)
      try batch.remove("a")
    }
    #expect(try write(["only"], store) == 5)
    try store.transaction { (transaction) throws(StoreError) in
      let value = try transaction.get("b", in: space)
      try transaction.put(value ?? [], forKey: "c")
      try transaction.remove("b", in: space)
    }
    try space.removeAll()
    try store.close()
    var taken: [LogChange.Batch] = []
    for try await batch in feed { taken.append(batch) }
    #expect(taken.map { $0.changes.map(\.sequence.rawValue) } == [[1], [2, 3, 4], [5], [6, 7], [8]])
    #expect(taken.map(\.sequence.rawValue) == [1, 4, 5, 7, 8])
    #expect(taken[1].changes.map(\.keyspace) == ["", "space", ""])
    #expect(
      taken[1].changes.map(\.kind) == [
        .put(value: bytes("1"), expiry: .never), .put(value: bytes("2"), expiry: .never), .remove,
      ]
    )
    #expect(taken[3].changes.map(\.key) == [bytes("c"), bytes("b")])
  }

  @Test func whoeverWaitsGetsTheWholeBatch() async throws {
    let store = try open(machine)
    let feed = store.changes().batches
    let task = Task {
      var iterator = feed.makeAsyncIterator()
      return try await iterator.next()?.changes.count
    }
    while !store.probe.isWriteAwaited { await Task.yield() }
    try write(["a", "b", "c"], store)
    #expect(try await task.value == 3)
    let cancelled = Task {
      var iterator = feed.makeAsyncIterator()
      return try await iterator.next()
    }
    cancelled.cancel()
    #expect(try await cancelled.value == nil)
  }

  /// Both kinds of reading share a position, which may be within a batch.
  @Test func aBatchThatWasBegunIsGoneOnWith() throws {
    let store = try open(machine)
    let changes = store.changes(since: Self.start, includingUnsynced: true)
    try write(["a", "b", "c"], store)
    try write(["d", "e"], store)
    #expect(try changes.poll()?.sequence.rawValue == 1)
    #expect(try changes.batches.poll()?.changes.map(\.sequence.rawValue) == [2, 3])
    #expect(try changes.poll()?.sequence.rawValue == 4)
    #expect(try shown(changes.batches) == [[5]])
    let within = store.changes(since: SequenceNumber(rawValue: 2), includingUnsynced: true)
    #expect(try shown(within.batches) == [[3], [4, 5]])
  }

  /// A merge that takes a batch takes all of it, and a feed that has not read it keeps it.
  @Test func aBatchOutlivesTheMergeOfItsSegment() async throws {
    let store = try open(machine)
    let behind = store.changes(since: Self.start).batches
    var expected: [[UInt64]] = []
    for number in 0..<60 {
      let last = try write(["a", "b", "key \(number % 5)", "c"], store, size: 1500)
      expected.append(Array(last - 3...last))
      // What is written again leaves little of the batch alive.
      try store.put("v", forKey: number % 2 == 0 ? "a" : "c")
      expected.append([last + 1])
    }
    try store.merge()
    let floor = store.probe.mergedThrough
    #expect(floor > 100)
    try store.sync()
    #expect(try shown(behind) == expected)
    // Whoever begins behind what was merged away begins with a whole one, too.
    let late = store.changes(since: SequenceNumber(rawValue: floor)).batches
    #expect(try shown(late) == expected.filter { $0[0] > floor })
    #expect(expected.contains { $0.last == floor })
    let gone = store.changes(since: SequenceNumber(rawValue: floor - 1)).batches
    #expect(throws: StoreError.self) { try gone.poll() }
  }

  @Test func aReaderInAnotherOpeningIsShownWholeBatches() throws {
    let writer = try open(machine)
    try writer.put("v", forKey: "first")
    let reader = try open(machine, readOnly: true)
    let feed = reader.changes().batches
    #expect(try feed.poll() == nil)
    try write(["a", "b", "c"], writer)
    // A keyspace comes amid a batch that it does not know yet.
    let new = try writer.keyspace("new")
    try writer.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a")
      try batch.put("2", forKey: "b", in: new)
      try batch.put("3", forKey: "c")
    }
    #expect(try shown(feed) == [[2, 3, 4], [5, 6, 7]])
    // One that is not complete is not there.
    writer.probe.appendUnfinishedBatch(key: bytes("x"), value: bytes("y"))
    #expect(try shown(feed) == [])
    try reader.close()
    let again = try open(machine, readOnly: true)
    #expect(try shown(again.changes(since: Self.start).batches) == [[1], [2, 3, 4], [5, 6, 7]])
    try again.close()
  }

  @Test func aCrashLeavesWholeBatches() throws {
    var generator = SeededGenerator(announcedFor: "aCrashLeavesWholeBatches")
    for policy in [CrashPolicy.drop, .keep] {
      var machine = Machine()
      var store = try open(machine)
      let feed = store.changes().batches
      try write(["a", "b", "c"], store)
      // Not yet durable.
      #expect(try shown(feed) == [])
      try store.sync()
      try write(["d", "e"], store)
      #expect(try shown(feed) == [[1, 2, 3]])
      store.probe.appendUnfinishedBatch(key: bytes("x"), value: bytes("y"))
      machine.disk = try machine.disk.crashImage(policy, using: &generator)
      store = try open(machine)
      try store.sync()
      let left = try shown(store.changes(since: Self.start).batches)
      #expect(left == (policy == .drop ? [[1, 2, 3]] : [[1, 2, 3], [4, 5]]))
    }
  }

  @Test func whatWasWrittenToARemovedKeyspaceIsLeftOut() throws {
    let store = try open(machine)
    let gone = try store.keyspace("gone")
    let feed = store.changes(since: Self.start).batches
    try store.write { (batch) throws(StoreError) in
      try batch.put("1", forKey: "a", in: gone)
      try batch.put("2", forKey: "b")
      try batch.put("3", forKey: "c", in: gone)
      try batch.put("4", forKey: "d")
      try batch.put("5", forKey: "e", in: gone)
    }
    try write(["f", "g"], store)
    try store.removeKeyspace("gone", durability: .synced)
    try store.probe.writeManifest()
    #expect(try shown(feed) == [[2, 4], [6, 7], [8]])
  }

  /// No manifest lists it, so that is damage, too.
  @Test func anUnknownKeyspaceSplitsABatch() throws {
    let store = try open(machine)
    try store.put("v", forKey: "first")
    let feed = store.changes(includingUnsynced: true).batches
    let unknown = KeyspaceTag(id: 99, incarnation: 0)
    let headers = [KeyspaceTag.default, unknown, .default].enumerated().map { position, tag in
      RecordHeader(
        sequence: 0,
        kind: .put,
        keyHash: 1,
        keyLength: 1,
        valueLength: 1,
        keyspace: tag,
        batchContinues: position < 2
      )
    }
    store.probe.append(headers.map { ($0, [1], [2]) })
    try store.put("v", forKey: "last")
    #expect(try feed.poll()?.changes.map(\.sequence.rawValue) == [2])
    #expect(throws: StoreError.self) { try feed.poll() }
    #expect(try shown(feed) == [[4], [5]])
  }

  /// A record that cannot be read, whether its header or its value: what is left of the batch comes before and behind the error.
  @Test(arguments: [8, 40], [0, 1, 2])
  func damageSplitsABatch(byte: Int, record: Int) throws {
    var store = try open(machine)
    try write(["a", "b", "c"], store, size: 500)
    try write(["d", "e"], store, size: 500)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let size = (32 + 1 + 500 + 7) & ~7
    store = try open(try image.flipping(name, 128 + record * size + byte, bit: 1).machine())
    let feed = store.changes(since: Self.start).batches
    var seen: [[UInt64]] = []
    for _ in 0..<6 {
      do throws(StoreError) {
        guard let batch = try feed.poll() else { break }
        seen.append(batch.changes.map(\.sequence.rawValue))
      } catch {
        seen.append([])
      }
    }
    let parts = [[1, 2, 3].prefix(record), [], [1, 2, 3].suffix(2 - record)].map { $0.map { UInt64($0) } }
    #expect(seen == (record == 0 ? [] : [parts[0]]) + [[]] + (record == 2 ? [] : [parts[2]]) + [[4, 5]])
  }
}
