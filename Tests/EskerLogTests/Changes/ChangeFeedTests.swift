import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.timeLimit(.minutes(60))) struct ChangeFeedTests {
  let machine = Machine()
  static let start = SequenceNumber(rawValue: 0)

  private func open(_ machine: Machine, readOnly: Bool = false) throws -> LogStore {
    try machine.open { options in
      options.merge.isAutomatic = false
      options.readOnly = readOnly
    }
  }

  /// Writes each key once a round.
  private func fill(_ store: LogStore, keys: Int = 100, rounds: Int = 8) throws {
    for round in 0..<rounds {
      for number in 0..<keys { try store.put([UInt8](repeating: UInt8(round), count: 500), forKey: "key \(number)") }
    }
  }

  private func gone(_ since: UInt64, _ oldest: UInt64) -> StoreError {
    .historyGone(since: SequenceNumber(rawValue: since), oldest: SequenceNumber(rawValue: oldest))
  }

  // MARK: What is shown

  @Test func whatWasShownSurvivesAPowerCut() async throws {
    var generator = SeededGenerator(announcedFor: "whatWasShownSurvivesAPowerCut")
    var machine = machine
    var store = try open(machine)
    var changes = store.changes().makeAsyncIterator()
    for number in 0..<5 {
      try store.put("value \(number)", forKey: "key")
      #expect(try await changes.next()?.sequence.rawValue == UInt64(number) + 1)
      let image = try machine.disk.crashImage(.drop, using: &generator)
      let recovered = try open(Machine.twin(of: machine, disk: image))
      #expect(try recovered.get("key") == bytes("value \(number)"))
    }
    // At once, and not for sure.
    changes = store.changes(includingUnsynced: true).makeAsyncIterator()
    try store.put("lost", forKey: "key")
    #expect(try await changes.next()?.sequence.rawValue == 6)
    machine.disk = try machine.disk.crashImage(.drop, using: &generator)
    store = try open(machine)
    #expect(try store.get("key") == bytes("value 4"))
  }

  @Test func aPollTakesWhatThereIsAndDoesNotWait() throws {
    let store = try open(machine)
    let durable = store.changes()
    let everything = store.changes(includingUnsynced: true)
    #expect(try everything.poll() == nil)
    try store.put("1", forKey: "a")
    try store.remove("a")
    #expect(try durable.poll() == nil)
    #expect(try everything.poll()?.kind == .put(value: bytes("1"), expiry: .never))
    #expect(try everything.poll()?.kind == .remove)
    #expect(try everything.poll() == nil)
    try store.sync()
    #expect(try durable.poll()?.sequence.rawValue == 1)
    try store.close()
    #expect(try durable.poll()?.sequence.rawValue == 2)
    #expect(try durable.poll() == nil)
    #expect(throws: StoreError.closed) { try store.changes().poll() }
  }

  @Test func everyKindOfWriteIsShownInOrder() async throws {
    let store = try open(machine)
    let feed = store.changes()
    let space = try store.keyspace("space")
    let instant = WallTime(millisecondsSince1970: machine.clock.wallMilliseconds() + 5000)
    try store.put("1", forKey: "a")
    try space.put("2", forKey: "b", expiry: .after(.seconds(5)))
    try store.remove("a")
    try store.remove("never there")
    try store.write { (batch) throws(StoreError) in
      try batch.put("3", forKey: "c")
      try batch.remove("d", in: space)
    }
    try space.removeAll()
    try store.increment("n", by: 1)
    try store.append("4", toKey: "c")
    func change(
      _ number: UInt64,
      _ space: String,
      _ key: String,
      _ kind: LogChange.Kind,
      continues: Bool = false
    ) -> LogChange {
      LogChange(
        sequence: SequenceNumber(rawValue: number),
        keyspace: space,
        key: bytes(key),
        kind: kind,
        batchContinues: continues
      )
    }
    let shown = try await feed.take(through: store.lastSequence)
    #expect(
      shown == [
        change(1, "", "a", .put(value: bytes("1"), expiry: .never)),
        change(2, "space", "b", .put(value: bytes("2"), expiry: .at(instant))),
        change(3, "", "a", .remove),
        change(4, "", "c", .put(value: bytes("3"), expiry: .never), continues: true),
        change(5, "space", "d", .remove),
        change(6, "space", "", .removeAll),
        change(7, "", "n", .put(value: [1, 0, 0, 0, 0, 0, 0, 0], expiry: .never)),
        change(8, "", "c", .put(value: bytes("34"), expiry: .never)),
      ]
    )
  }

  @Test func theFeedBeginsAtTheCallOrBehindTheGivenWrite() async throws {
    let store = try open(machine)
    for number in 1...5 { try store.put("\(number)", forKey: "k") }
    let now = store.changes()
    let later = store.changes(since: SequenceNumber(rawValue: 3))
    let all = store.changes(since: Self.start)
    let last = try store.put("6", forKey: "k")
    #expect(try await now.take(through: last).map(\.sequence.rawValue) == [6])
    #expect(try await later.take(through: last).map(\.sequence.rawValue) == [4, 5, 6])
    #expect(try await all.take(through: last).map(\.sequence.rawValue) == [1, 2, 3, 4, 5, 6])
  }

  @Test func aLoopThatWasLeftIsGoneOnWith() async throws {
    let store = try open(machine)
    for number in 1...5 { try store.put("\(number)", forKey: "k") }
    let feed = store.changes(since: Self.start)
    for try await change in feed where change.sequence.rawValue == 2 { break }
    #expect(try await feed.take(2).map(\.sequence.rawValue) == [3, 4])
  }

  @Test func segmentsAndReopeningsArePassed() async throws {
    var store = try open(machine)
    try fill(store)
    for _ in 0..<2 {
      try store.close()
      store = try open(machine)
      try fill(store, rounds: 1)
    }
    let shown = try await store.changes(since: Self.start).take(through: store.lastSequence)
    #expect(shown.map(\.sequence.rawValue) == Array(1...1000))
    #expect(shown[750].key == bytes("key 50"))
    #expect(shown[750].kind == .put(value: [UInt8](repeating: 7, count: 500), expiry: .never))
  }

  @Test func recordsLargerThanASegmentAreShownInTheirPlace() async throws {
    var store = try open(machine)
    for number in 0..<24 {
      if number == 9 {
        try store.close()
        store = try open(machine)
      }
      let length = number % 6 == 5 ? 100_000 : 9000
      try store.put([UInt8](repeating: UInt8(number), count: length), forKey: "key")
    }
    let shown = try await store.changes(since: Self.start).take(through: store.lastSequence)
    #expect(shown.map(\.sequence.rawValue) == Array(1...24))
  }

  // MARK: Merges

  @Test func whatIsMergedAwayIsKeptUntilItWasRead() async throws {
    let store = try open(machine)
    let feed = store.changes(since: Self.start)
    try fill(store)
    try store.merge()
    try fill(store, rounds: 1)
    try store.merge()
    store.probe.collect()
    #expect(store.statistics.pinnedBytes > 300_000)
    #expect(try await feed.take(through: store.lastSequence).map(\.sequence.rawValue) == Array(1...900))
    try store.put("v", forKey: "k")
    #expect(try await feed.take(1).count == 1)
    store.probe.collect()
    #expect(store.statistics.pinnedBytes == 0)
  }

  @Test func aDroppedFeedKeepsNothing() async throws {
    let store = try open(machine)
    var feed: LogStore.Changes? = store.changes(since: Self.start)
    try fill(store)
    try store.merge()
    #expect(try await feed?.take(1).count == 1)
    feed = nil
    store.probe.collect()
    #expect(store.statistics.pinnedBytes == 0)
  }

  @Test func aReaderTooFarBehindIsCutOffAndOthersAreNot() async throws {
    let store = try open(machine)
    let slow = store.changes(since: Self.start, keeping: 100_000)
    let patient = store.changes(since: Self.start)
    let fast = store.changes(since: Self.start, keeping: 0)
    try fill(store)
    #expect(try await fast.take(through: store.lastSequence).count == 800)
    #expect(try await slow.take(10).count == 10)
    try store.merge()
    let floor = store.probe.mergedThrough
    #expect(floor > 600)
    #expect(await slow.nextError() == gone(10, floor))
    #expect(await slow.nextError() == gone(10, floor))
    #expect(try await patient.take(through: store.lastSequence).count == 800)
    let last = try store.put("v", forKey: "k")
    #expect(try await fast.take(1).map(\.sequence) == [last])
  }

  @Test func aPositionFromBeforeAMergeIsGoneAlsoAfterReopening() async throws {
    var store = try open(machine)
    try fill(store)
    try store.merge()
    let floor = store.probe.mergedThrough
    #expect(floor > 600)
    try fill(store, rounds: 2)
    for _ in 0..<2 {
      #expect(await store.changes(since: Self.start).nextError() == gone(0, floor))
      #expect(await store.changes(since: SequenceNumber(rawValue: floor - 1)).nextError() == gone(floor - 1, floor))
      let feed = store.changes(since: SequenceNumber(rawValue: floor))
      #expect(try await feed.take(through: store.lastSequence).map(\.sequence.rawValue) == Array(floor + 1...1000))
      try store.close()
      store = try open(machine)
    }
    var copy = machine
    let copied = try copy.reopenAfterKill { $0.merge.isAutomatic = false }
    #expect(await copied.changes(since: Self.start).nextError() == gone(0, floor))
  }

  @Test func aPositionBeyondTheLastWriteIsRefused() async throws {
    let store = try open(machine)
    try store.put("v", forKey: "k")
    #expect(await store.changes(since: SequenceNumber(rawValue: 2)).nextError() == gone(2, 1))
  }

  @Test func aBackupKnowsWhatWasMergedAway() async throws {
    let store = try open(machine)
    try fill(store)
    try store.merge()
    try fill(store, rounds: 1)
    try store.backup(to: "/backup")
    let copy = try LogStore(at: "/backup", options: machine.options(), host: machine.host)
    let floor = store.probe.mergedThrough
    #expect(await copy.changes(since: Self.start).nextError() == gone(0, floor))
    let feed = copy.changes(since: SequenceNumber(rawValue: floor))
    #expect(try await feed.take(through: copy.lastSequence).map(\.sequence.rawValue) == Array(floor + 1...900))
  }

  @Test func numbersThatRecoverySkippedAreNoLoss() async throws {
    var machine = machine
    var store = try open(machine)
    try fill(store, keys: 10, rounds: 1)
    store.probe.appendUnfinishedBatch(key: bytes("x"), value: bytes("y"))
    store = try machine.reopenAfterKill { $0.merge.isAutomatic = false }
    let feed = store.changes(since: Self.start)
    let position = store.lastSequence
    try fill(store, keys: 10, rounds: 1)
    #expect(store.lastSequence.rawValue == 21)
    let expected: [UInt64] = Array(1...10) + Array(12...21)
    #expect(try await feed.take(through: store.lastSequence).map(\.sequence.rawValue) == expected)
    try store.close()
    store = try open(machine)
    for since in [position, SequenceNumber(rawValue: 5)] {
      let shown = try await store.changes(since: since).take(through: store.lastSequence)
      #expect(shown.map(\.sequence.rawValue) == expected.filter { $0 > since.rawValue })
    }
    let lagging = store.changes(since: Self.start)
    try store.merge()
    try fill(store, keys: 1, rounds: 1)
    #expect(try await lagging.take(through: store.lastSequence).map(\.sequence.rawValue) == expected + [22])
  }

  // MARK: Damage

  @Test(arguments: [8, 40])
  func aDamagedRecordIsAnErrorOnceAndTheFeedGoesOnBehindIt(byte: Int) async throws {
    var store = try open(machine)
    try fill(store, keys: 10)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    // The records are of one size.
    let size = (32 + 5 + 500 + 7) & ~7
    let damaged = try image.flipping(name, 128 + 3 * size + byte, bit: 1).machine()
    store = try open(damaged)
    let feed = store.changes(since: Self.start)
    #expect(try await feed.take(3).count == 3)
    guard case .damaged(let location, _)? = await feed.nextError() else {
      Issue.record("no damage")
      return
    }
    #expect(location.offset == 128 + 3 * size)
    let shown = try await feed.take(through: store.lastSequence)
    #expect(shown.map(\.sequence.rawValue) == Array(5...80))
  }

  @Test func damageAtTheEndOfTheTailIsPassed() async throws {
    var store = try open(machine)
    try fill(store, keys: 4, rounds: 1)
    try store.close()
    let image = try DiskImage(of: machine)
    let name = try #require(image.names.first { $0.hasSuffix(".segment") })
    let size = (32 + 5 + 500 + 7) & ~7
    let damaged = try image.flipping(name, 128 + 3 * size + 8, bit: 1).machine()
    store = try open(damaged)
    let feed = store.changes(since: Self.start)
    #expect(try await feed.take(3).count == 3)
    #expect(await feed.nextError() != nil)
    let last = try store.put("v", forKey: "k")
    #expect(try await feed.take(1).map(\.sequence) == [last])
  }

  // MARK: Waiting and ending

  @Test func whoWaitsIsWokenByEveryKindOfWrite() async throws {
    let store = try open(machine)
    let space = try store.keyspace("space")
    let writes: [@Sendable () throws -> Void] = [
      { try store.put("v", forKey: "k") },
      { try store.remove("k") },
      { try space.removeAll() },
      { try store.write { (batch) throws(StoreError) in try batch.put("v", forKey: "k") } },
    ]
    let feed = store.changes()
    for write in writes {
      let task = Task { try await feed.take(1) }
      while !store.probe.isWriteAwaited { await Task.yield() }
      try write()
      #expect(try await task.value.map(\.sequence) == [store.lastSequence])
    }
  }

  @Test func cancellingATaskThatWaitsEndsItsLoop() async throws {
    let store = try open(machine)
    let feed = store.changes()
    let task = Task { try await feed.take(1) }
    while !store.probe.isWriteAwaited { await Task.yield() }
    task.cancel()
    #expect(try await task.value == [])
    try store.put("v", forKey: "k")
    #expect(try await feed.take(1).count == 1)
  }

  @Test func aCancelledTaskGetsNoMore() async throws {
    let store = try open(machine)
    let feed = store.changes()
    try store.put("v", forKey: "k")
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await feed.take(1)
    }
    task.cancel()
    #expect(try await task.value == [])
  }

  @Test func closingTheStoreEndsTheFeedBehindTheLastWrite() async throws {
    let store = try open(machine)
    let behind = store.changes(since: Self.start)
    try fill(store, rounds: 2)
    try store.keyspace("space").put("v", forKey: "k")
    try store.close()
    let shown = try await behind.take(1000)
    #expect(shown.map(\.sequence.rawValue) == Array(1...201))
    #expect(shown.last?.keyspace == "space")
    #expect(try await behind.take(1) == [])
    #expect(await store.changes().nextError() == .closed)
  }

  @Test func closingWakesWhoWaits() async throws {
    let store = try open(machine)
    let feed = store.changes()
    let task = Task { try await feed.take(1) }
    while !store.probe.isWriteAwaited { await Task.yield() }
    try store.close()
    #expect(try await task.value == [])
  }

  @Test func aFeedThatWasReadKeepsNoUnusedSpaceOfTheTail() async throws {
    let store = try open(machine)
    let feed = store.changes()
    try store.put("v", forKey: "k")
    #expect(try await feed.take(1).count == 1)
    try store.close()
    let file = try #require(try machine.files(".segment").first)
    #expect(try machine.disk.status(file)?.size ?? 0 <= 4096)
    #expect(try await feed.take(1) == [])
  }

  // MARK: Read-only stores

  @Test func aReadOnlyStoreShowsWhatAnotherWrites() async throws {
    let writer = try open(machine)
    try fill(writer, keys: 10, rounds: 1)
    let reader = try open(machine, readOnly: true)
    let feed = reader.changes()
    let all = reader.changes(since: Self.start)
    #expect(try await all.take(10).count == 10)
    let task = Task { try await feed.take(401) }
    try fill(writer, rounds: 4)
    try writer.keyspace("new").put("v", forKey: "k")
    // A reader that met a segment's end before the writer went on looks again later, and time passes only here.
    machine.clock.advance(milliseconds: 10)
    let shown = try await task.value
    #expect(shown.map(\.sequence.rawValue) == Array(11...411))
    #expect(shown.last?.keyspace == "new")
    #expect(try await all.take(401) == shown)
    try reader.close()
    #expect(try await feed.take(1) == [])
  }

  @Test func aReadOnlyStoreKeepsWhatTheWriterMergesAway() async throws {
    let writer = try open(machine)
    let reader = try open(machine, readOnly: true)
    let behind = reader.changes(since: Self.start)
    let bounded = reader.changes(since: Self.start, keeping: 1000)
    try fill(writer)
    try reader.refresh()
    try writer.merge()
    try fill(writer, rounds: 1)
    try reader.refresh()
    let floor = writer.probe.mergedThrough
    #expect(await bounded.nextError() == gone(0, floor))
    #expect(try await behind.take(900).map(\.sequence.rawValue) == Array(1...900))
    #expect(await reader.changes(since: Self.start).nextError() == gone(0, floor))
  }

  @Test func aReadOnlyStoreTellsOfWritesThatItNeverSaw() async throws {
    let writer = try open(machine)
    try fill(writer, keys: 10, rounds: 1)
    let reader = try open(machine, readOnly: true)
    let feed = reader.changes(since: Self.start)
    try fill(writer)
    try writer.merge()
    try fill(writer, keys: 10, rounds: 1)
    var shown: [UInt64] = []
    var failure: StoreError?
    var iterator = feed.makeAsyncIterator()
    while failure == nil, shown.count < 1000 {
      do throws(StoreError) {
        if let change = try await iterator.next() { shown.append(change.sequence.rawValue) }
      } catch { failure = error }
    }
    #expect(shown == Array(1...UInt64(shown.count)))
    #expect(failure == gone(UInt64(shown.count), writer.probe.mergedThrough))
  }
}
