import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// A store that lets others write, and goes on with what they have written.
@Suite struct SuspensionTests {
  private let machine = Machine()

  private var suspended: StoreError { .suspended(path: machine.path) }

  // MARK: Turns

  @Test func anotherStoreWritesWhileOneIsSuspended() throws {
    let first = try machine.open()
    try first.put("1", forKey: "a")
    try first.put("1", forKey: "b")
    #expect(throws: StoreError.locked(path: machine.path, holder: 4711)) { try machine.open() }
    try first.suspend()
    #expect(first.isSuspended)

    let second = try machine.open()
    #expect(try second.get("a") == bytes("1"))
    try second.put("2", forKey: "a")
    try second.remove("b")
    try first.refresh()
    #expect(try first.get("a") == bytes("2"))
    #expect(try first.get("b") == nil)
    #expect(throws: suspended) { try first.put("3", forKey: "a") }

    #expect(throws: StoreError.locked(path: machine.path, holder: 4711)) { try first.resume() }
    #expect(first.isSuspended)
    try second.put("4", forKey: "c")
    try second.suspend()
    try first.resume()
    #expect(!first.isSuspended)
    #expect(try first.get("c") == bytes("4"))
    #expect(try first.put("5", forKey: "c").rawValue == second.lastSequence.rawValue + 1)
    try second.refresh()
    #expect(try second.contents() == first.contents())
  }

  @Test func whoRestsAloneGoesOnInTheSameSegment() throws {
    let store = try machine.open()
    try store.fill(5)
    let generation = store.probe.generation
    let segments = store.probe.listed.map(\.id)
    for _ in 0..<3 {
      try store.suspend()
      try store.refresh()
      try store.resume()
      try store.put("again", forKey: "fill 1")
    }
    #expect(store.probe.generation == generation)
    #expect(store.probe.listed.map(\.id) == segments)
    let contents = try store.contents()
    var killed = machine
    #expect(try killed.reopenAfterKill().contents() == contents)
  }

  /// Twice each call: neither of them counts.
  @Test func bothCallsMayBeRepeated() throws {
    let store = try machine.open()
    try store.resume()
    try store.put("1", forKey: "a")
    try store.suspend()
    try store.suspend()
    try store.resume()
    try store.resume()
    try store.put("2", forKey: "a")
    #expect(try store.get("a") == bytes("2"))
  }

  /// Of a store that was closed and opened again, and in which nothing was written yet.
  @Test(arguments: [false, true])
  func theTailOfACleanCloseGoesOn(isUsed: Bool) throws {
    try machine.open().fill(20)
    let first = try machine.open()
    try first.suspend()
    if isUsed {
      let second = try machine.open()
      try second.put("2", forKey: "by another")
      try second.close()
      try first.refresh()
      #expect(try first.get("by another") == bytes("2"))
    }
    try first.resume()
    try first.put("3", forKey: "at last")
    #expect(try first.count() == (isUsed ? 22 : 21))
    let contents = try first.contents()
    var killed = machine
    #expect(try killed.reopenAfterKill().contents() == contents)
  }

  @Test(arguments: [true, false])
  func whatAnotherLeftIsTakenOver(isClosed: Bool) throws {
    let first = try machine.open()
    try first.fill(50)
    try first.suspend()
    let second = try machine.open()
    try second.fill(2_000, from: 25)
    for number in 0..<40 { try second.remove("fill \(number)") }
    let contents = try second.contents()
    if isClosed { try second.close() } else { second.probe.kill() }
    try first.resume()
    #expect(try first.contents() == contents)
    try first.put("1", forKey: "fill 1")
    try first.merge()
    #expect(try first.verify().isClean)
    try first.close()
    #expect(try machine.open().count() == contents.count + 1)
  }

  /// Before the suspension and after it, records take the room of dead ones: what the segment says of them goes on.
  @Test(arguments: [true, false])
  func recordsReplaceOthersBeforeARestAndAfterIt(isKilled: Bool) throws {
    var machine = machine
    machine.reusesSpace = true
    let store = try machine.open()
    func overwrite() throws {
      let before = store.probe.recordsReplaced
      for number in 0..<2_000 { try store.put("value \(number % 7)", forKey: "key \(number % 5)") }
      #expect(store.probe.recordsReplaced > before)
    }
    try overwrite()
    for _ in 0..<3 {
      try store.suspend()
      try store.resume()
      try overwrite()
    }
    let contents = try store.contents()
    let events = EventLog()
    if isKilled { machine.disk = try machine.disk.processKilled() } else { try store.close() }
    #expect(try machine.open { $0.onEvent = { events.record($0) } }.contents() == contents)
    #expect(events.opening?.cut == nil)
  }

  /// It holds no lock between its reads, so the writer replaces records; but none that it has seen.
  @Test func whatASuspendedStoreHasSeenIsNotReplaced() throws {
    var machine = machine
    machine.reusesSpace = true
    let first = try machine.open()
    try first.put("1", forKey: "a")
    try first.suspend()
    let second = try machine.open()
    func overwrite(_ round: Int) throws {
      for number in 0..<1_000 { try second.put("\(round) \(number + 1_000)", forKey: "key \(number % 5)") }
    }
    try overwrite(1)
    let replaced = second.probe.recordsReplaced
    #expect(replaced > 0)
    for round in 2..<5 {
      try first.refresh()
      let snapshot = try first.snapshot()
      let contents = try snapshot.contents()
      #expect(try contents == second.contents())
      // Some records in whose room others would be.
      for number in 0..<5 { try second.put("\(round) seen", forKey: "key \(number)") }
      second.probe.lookForReaders()
      try overwrite(round)
      #expect(try snapshot.contents() == contents)
    }
    #expect(second.probe.recordsReplaced > replaced)
  }

  // MARK: What is refused

  @Test func everyWriteIsRefusedMeanwhile() async throws {
    let store = try machine.open()
    let other = try store.keyspace("other")
    try store.fill(10)
    let sequence = store.lastSequence
    try store.suspend()
    let files = try machine.disk.list(machine.path).sorted()
    #expect(throws: suspended) { try store.put("1", forKey: "a") }
    #expect(throws: suspended) { try store.remove("fill 1") }
    #expect(throws: suspended) { try other.removeAll() }
    #expect(throws: suspended) { try store.write { batch throws(StoreError) in try batch.put("1", forKey: "a") } }
    #expect(throws: suspended) { try store.transaction { tx in try tx.put("1", forKey: "a") } }
    #expect(throws: suspended) { try store.keyspace("new") }
    #expect(throws: suspended) { try store.removeKeyspace("other") }
    #expect(throws: suspended) { try other.setDefaultExpiry(.seconds(1)) }
    #expect(throws: suspended) { try other.setCapacity(.bytes(1 << 20)) }
    #expect(throws: suspended) { try store.merge() }
    // What was written before may still be made durable.
    try store.sync()
    try store.waitDurable(sequence)
    #expect(throws: suspended) { try store.removeAllExpired() }
    #expect(throws: suspended) { try store.resetClock() }
    await #expect(throws: suspended) { try await store.async.put("1", forKey: "a") }
    await #expect(throws: suspended) { try await store.async.put("1", forKey: "a", durability: .synced) }
    #expect(try machine.disk.list(machine.path).sorted() == files)
    #expect(store.lastSequence == sequence)
    #expect(try store.count() == 10)
    try store.resume()
    try store.put("1", forKey: "a", durability: .synced)
  }

  @Test func aReadOnlyStoreIsNotSuspended() throws {
    let writer = try machine.open()
    try writer.put("1", forKey: "a")
    let reader = try machine.open { $0.readOnly = true }
    try reader.suspend()
    #expect(!reader.isSuspended)
    try reader.resume()
    #expect(throws: StoreError.readOnly) { try reader.put("2", forKey: "a") }
    try writer.put("2", forKey: "a")
    try reader.refresh()
    #expect(try reader.get("a") == bytes("2"))
  }

  @Test func aStoreThatWasReplacedIsNotResumed() throws {
    let store = try machine.open()
    try store.put("1", forKey: "a")
    try store.suspend()
    let lock = "\(machine.path)/LOCK"
    try machine.disk.remove(lock)
    #expect(throws: StoreError.otherStore(path: machine.path)) { try store.resume() }
    #expect(store.isSuspended)
    #expect(try store.get("a") == bytes("1"))
    #expect(throws: suspended) { try store.put("2", forKey: "a") }
    try store.close()
    #expect(try machine.open().get("a") == bytes("1"))
  }

  // MARK: The end

  @Test func aSuspendedStoreThatIsClosedHasSyncedWhatItWrote() throws {
    var machine = machine
    let store = try machine.open()
    try store.fill(30)
    try store.suspend()
    try store.close()
    #expect(throws: StoreError.closed) { try store.resume() }
    #expect(throws: StoreError.closed) { try store.suspend() }
    var generator = SeededGenerator(seed: 1)
    machine.disk = try machine.disk.crashImage(.drop, using: &generator)
    #expect(try machine.open().count() == 30)
  }

  @Test func aSuspendedStoreIsClosedBesideAWriter() throws {
    let first = try machine.open()
    try first.fill(30)
    try first.suspend()
    let second = try machine.open()
    try second.fill(30, from: 30)
    try first.refresh()
    try first.close()
    try second.fill(30, from: 60)
    #expect(throws: StoreError.locked(path: machine.path, holder: 4711)) { try machine.open() }
    try second.close()
    #expect(try machine.open().count() == 90)
  }

  /// What another process has written is not for this one to sync.
  @Test func nobodyWaitsForTheSyncsOfOthers() throws {
    var machine = machine
    let clock = WatchedClock(machine.clock)
    machine.watch = clock
    let first = try machine.open()
    let own = try first.put("1", forKey: "a")
    try first.suspend()
    let second = try self.machine.open()
    let theirs = try second.put("2", forKey: "b")
    try first.refresh()
    try first.waitDurable(own)
    let readings = SharedCounter()
    clock.onReading {
      // It would time one sync after the other.
      if readings.add() == 20 { first.probe.failSync(PlatformError.inputOutput) }
    }
    #expect(throws: suspended) { try first.waitDurable(theirs) }
    clock.onReading(nil)
    try first.sync()
  }

  // MARK: Keyspaces

  @Test func keyspacesOfOthersAreKnownAfterwards() throws {
    let first = try machine.open()
    let kept = try first.keyspace("kept")
    let gone = try first.keyspace("gone")
    try kept.put("1", forKey: "a")
    try gone.put("1", forKey: "a")
    try first.suspend()

    let second = try machine.open()
    try second.keyspace("new").put("2", forKey: "a")
    try second.keyspace("kept").setDefaultExpiry(.seconds(10))
    try second.keyspace("kept").setCapacity(.entries(2))
    try second.removeKeyspace("gone")
    try second.close()

    try first.resume()
    #expect(try Set(first.keyspaceNames) == ["kept", "new"])
    #expect(try first.keyspace("new").get("a") == bytes("2"))
    #expect(kept.defaultExpiry == .seconds(10))
    for number in 0..<5 { try kept.put("3", forKey: "\(number)") }
    #expect(try kept.count() == 2)
    #expect(throws: StoreError.keyspaceRemoved("gone")) { try gone.put("2", forKey: "a") }
    try first.close()
    let third = try machine.open()
    #expect(try third.keyspace("kept").count() == 2)
    #expect(try third.keyspaceNames.sorted() == ["kept", "new"])
  }

  // MARK: Time

  /// A clock that one process has set back is so for the next.
  @Test func aClockThatWasResetIsHandedOver() throws {
    let first = try machine.open { $0.sharing = .inTurn() }
    try first.put("1", forKey: "a", expiry: .after(.seconds(100)))
    let wall = machine.clock.wallMilliseconds()
    machine.clock.setWall(milliseconds: wall + 200_000)
    #expect(try first.get("a") == nil)
    machine.clock.setWall(milliseconds: wall + 10_000)
    #expect(try first.get("a") == nil)
    first.probe.handOver()
    let second = try machine.open { $0.sharing = .inTurn() }
    #expect(try second.get("a") == nil)
    try second.probe.takeTurn()
    #expect(try second.get("a") == nil)
    try second.resetClock()
    #expect(try second.get("a") == bytes("1"))
    second.probe.handOver()
    try first.probe.takeTurn()
    #expect(try first.get("a") == bytes("1"))
  }

  /// Also if that process has closed the store since, and time has passed.
  @Test func aClockThatWasResetBeforeACloseIsSo() throws {
    let first = try machine.open { $0.sharing = .inTurn() }
    let wall = machine.clock.wallMilliseconds()
    machine.clock.setWall(milliseconds: wall + 200_000)
    try first.put("1", forKey: "a", expiry: .at(WallTime(millisecondsSince1970: wall + 100_000)))
    machine.clock.setWall(milliseconds: wall)
    #expect(try first.get("a") == nil)
    first.probe.handOver()
    let second = try machine.open { $0.sharing = .inTurn() }
    try second.resetClock()
    try second.close()
    machine.clock.advance(milliseconds: 50_000)
    try first.probe.takeTurn()
    #expect(try first.get("a") == bytes("1"))
    first.probe.handOver()
    // Nobody has the turn meanwhile: time goes on.
    machine.clock.advance(milliseconds: 60_000)
    machine.clock.setWall(milliseconds: wall)
    #expect(try first.get("a") == nil)
    try first.probe.takeTurn()
    #expect(try first.get("a") == nil)
  }

  @Test func whatOthersSetCountsForTheNextWrite() throws {
    let first = try machine.open { $0.sharing = .inTurn() }
    let space = try first.keyspace("space")
    try space.put("1", forKey: "a")
    first.probe.handOver()
    let second = try machine.open { $0.sharing = .inTurn() }
    try second.keyspace("space").setDefaultExpiry(.seconds(10))
    try second.keyspace("new").put("1", forKey: "a")
    second.probe.handOver()
    try first.refresh()
    #expect(space.defaultExpiry == .seconds(10))
    try space.put("2", forKey: "a")
    first.probe.handOver()
    machine.clock.advance(milliseconds: 20_000)
    #expect(try space.get("a") == nil)
    second.probe.handOver()
    #expect(try first.removeKeyspace("new"))
    #expect(try first.keyspaceNames == ["space"])
  }

  // MARK: Cuts

  /// What an opening has cut off stays so, also if the store is suspended before the manifest says so.
  @Test(arguments: [false, true])
  func whatWasCutOffStaysSo(isUsed: Bool) throws {
    var machine = machine
    let store = try machine.open()
    store.probe.stopBackground()
    var (expected, end, path) = ([[UInt8]: [UInt8]](), 0, "")
    for number in 0..<40 {
      if number == 20 {
        path = try #require(store.probe.tail?.path)
        try store.probe.rotate()
        try store.probe.writeManifest()
      }
      if number < 15 { expected[bytes("key \(number)")] = bytes("\(number)") }
      if number == 15 { end = try #require(store.probe.tailEnd) }
      try store.put("\(number)", forKey: "key \(number)")
    }
    try store.probe.writeManifest()
    machine.disk = try machine.disk.processKilled()
    let file = try machine.disk.open(path, .readWrite)
    try file.writeAll([UInt8](repeating: 0, count: try file.status().size - end), at: end)
    file.close()
    let first = try machine.open()
    #expect(try first.contents() == expected)
    try first.suspend()
    try first.refresh()
    #expect(try first.contents() == expected)
    if isUsed {
      let second = try machine.open()
      #expect(try second.contents() == expected)
      try second.put("new", forKey: "key 0")
      expected[bytes("key 0")] = bytes("new")
      try second.close()
    }
    try first.resume()
    #expect(try first.contents() == expected)
    try first.put("last", forKey: "key 1")
    expected[bytes("key 1")] = bytes("last")
    try first.merge()
    #expect(try first.contents() == expected)
    try first.close()
    #expect(try machine.open().contents() == expected)
    withExtendedLifetime(store) {}
  }

  // MARK: Who listens

  /// A writer that does not know of the feed replaces what it has not read: it says so, and skips nothing.
  @Test func aFeedSaysWhatWasReplaced() throws {
    var machine = machine
    machine.reusesSpace = true
    let first = try machine.open()
    try first.put("0", forKey: "key 0")
    try first.suspend()
    let changes = first.changes(includingUnsynced: true)
    let second = try machine.open()
    while second.probe.recordsReplaced == 0 {
      for number in 0..<200 { try second.put("\(number + 1_000)", forKey: "key \(number % 5)") }
    }
    try first.refresh()
    var (seen, isGone) = (UInt64(0), false)
    do throws(StoreError) {
      while let change = try changes.poll() {
        if seen != 0, change.sequence.rawValue != seen + 1 { Issue.record("\(change.sequence) comes after \(seen)") }
        seen = change.sequence.rawValue
      }
    } catch {
      if case .historyGone = error { isGone = true } else { throw error }
    }
    #expect(isGone)
  }

  @Test func aFeedGoesOnThroughTurns() throws {
    let first = try machine.open()
    let changes = first.changes(includingUnsynced: true)
    var seen: [UInt64] = []
    func take() throws {
      while let change = try changes.poll() { seen.append(change.sequence.rawValue) }
    }
    try first.fill(5)
    try take()
    try first.suspend()
    let second = try machine.open()
    try second.fill(300, from: 5)
    try take()
    try second.fill(5, from: 305)
    try second.suspend()
    try first.resume()
    try first.fill(5, from: 310)
    try take()
    #expect(seen == Array(1...315))
  }

  @Test func listenersHearOfWhatOthersWrote() throws {
    let first = try machine.open()
    let space = try first.keyspace("space")
    try space.put("1", forKey: "a")
    try space.put("1", forKey: "b")
    let listener = Recorder()
    try space.addListener(listener)
    try first.suspend()
    let second = try machine.open()
    let its = try second.keyspace("space")
    try its.put("2", forKey: "a")
    try its.remove("b")
    try its.put("3", forKey: "c")
    try first.refresh()
    #expect(listener.changes == ["a: 1 -> 2", "b: 1 -> gone", "c: nothing -> 3"])
    try its.removeAll()
    try second.close()
    try first.resume()
    #expect(listener.changes.last == "emptied")
    try space.put("4", forKey: "d")
    #expect(listener.changes.last == "d: nothing -> 4")
  }

  /// A watcher that is added before or during a suspension is told as often of its end as of its beginning.
  @Test func watchersAreToldOfBothEnds() throws {
    let first = try machine.open()
    let watchers = (0..<3).map { _ in EndCounter() }
    first.default.addWatcher(watchers[0])
    try first.suspend()
    first.default.addWatcher(watchers[1])
    let second = try machine.open()
    try second.put("1", forKey: "a")
    second.probe.kill()
    try first.refresh()
    first.default.addWatcher(watchers[2])
    #expect(watchers.map(\.open) == [1, 1, 1])
    try first.resume()
    #expect(watchers.map(\.open) == [0, 0, 0])
    try first.removeAll()
    #expect(watchers.map(\.open) == [0, 0, 0])
  }
}

extension SuspensionTests {
  /// Writes down what it hears.
  private final class Recorder: ChangeListener {
    private let list = Guarded<[String]>([])

    var changes: [String] { list.withLock { $0 } }

    func receive(_ key: [UInt8]?, _ change: () -> KeyspaceChange) {
      func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
      let line =
        switch change() {
        case .put(let key, let before, let after): "\(text(key)): \(text(try? before?.get())) -> \(text(after))"
        case .loss(let key, let before, _): "\(text(key)): \(text(try? before.get())) -> gone"
        case .emptied: "emptied"
        }
      list.withLock { $0.append(line) }
    }
  }

  /// Counts removals of everything that have begun and not ended.
  private final class EndCounter: WriteWatcher {
    private let count = Guarded(0)

    var open: Int { count.withLock { $0 } }

    func willWrite(_ key: RawSpan) {}
    func didWrite(_ key: RawSpan, _ sequence: UInt64?) {}
    func willEmpty() { count.withLock { $0 += 1 } }
    func didEmpty() { count.withLock { $0 -= 1 } }
    func afterEmptying() {}
    func didEnd() {}
  }
}
