import EskerFormat
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

/// What may happen at one moment of a turn: while it is taken, while it is handed over, or while a store that rests reads on.
@Suite struct TurnMomentTests {
  private let machine = Machine()
  /// Sees the calls of the stores that are opened by ``openWatched(_:)``.
  private let plan = FaultPlan()

  private var suspended: StoreError { .suspended(path: machine.path) }

  private func openInTurn(_ change: (inout Options) -> Void = { _ in }) throws(StoreError) -> LogStore {
    try machine.open {
      $0.sharing = .inTurn()
      change(&$0)
    }
  }

  private func openWatched(_ sharing: Options.Sharing) throws(StoreError) -> LogStore {
    var machine = machine
    machine.calls = plan
    return try machine.open { $0.sharing = sharing }
  }

  /// A store that has taken its turn for something that it has not tried yet, and the clock that it reads.
  private func openInTheMiddleOfItsTurn() throws -> (LogStore, WatchedClock) {
    var machine = machine
    let clock = WatchedClock(machine.clock)
    machine.watch = clock
    let store = try machine.open { $0.sharing = .inTurn() }
    try store.put("1", forKey: "a")
    #expect(try store.probe.claimTurn())
    return (store, clock)
  }

  /// Does something right before the first call of a watched store that matches and at which it is due; what is returned counts how often
  /// it was done: once, or not at all.
  private func before(
    _ operation: FaultOperation,
    of suffix: String,
    when isDue: @escaping @Sendable () throws -> Bool = { true },
    _ body: @escaping @Sendable () throws -> Void
  ) -> SharedCounter {
    let isBusy = Guarded(false)
    let done = SharedCounter()
    plan.onCall { call in
      guard call.operation == operation, call.path.hasSuffix(suffix), done.value == 0 else { return }
      // What is done here may make such calls, too.
      let isWithin = isBusy.withLock { isBusy in
        defer { isBusy = true }
        return isBusy
      }
      guard !isWithin else { return }
      defer { isBusy.withLock { $0 = false } }
      do {
        guard try isDue() else { return }
        done.add()
        try body()
      } catch { Issue.record("before \(call): \(error)") }
    }
    return done
  }

  // MARK: Opening

  /// Who comes while another process makes the store tries again, as there is neither a store yet nor anything foreign.
  @Test func aStoreThatIsBeingMadeIsWaitedFor() throws {
    let attempts = SharedCounter()
    let result = Guarded<Result<LogStore, any Error>?>(nil)
    let thread = Guarded<WorkerThread?>(nil)
    // The first directory that is synced is the one around the store, which is locked then and has no manifest.
    let begun = before(.syncDirectory, of: "") { [machine] in
      let watch = FaultPlan()
      watch.onCall { call in
        if call.operation == .tryLock { attempts.add() }
      }
      let other = try WorkerThread(name: "comes") {
        var machine = machine
        machine.calls = watch
        let opened = Result { try machine.open { $0.sharing = .inTurn() } }
        result.withLock { $0 = opened }
      }
      thread.withLock { $0 = other }
      // More than one attempt makes.
      while attempts.value < 10, result.withLock({ $0 == nil }) { Platform.yieldThread() }
    }
    let store = try openWatched(.inTurn())
    try store.put("1", forKey: "a")
    #expect(begun.value == 1)
    try #require(thread.withLock { $0.take() }).join()
    let second = try #require(result.withLock { $0.take() }).get()
    #expect(try second.get("a") == bytes("1"))
    try second.close()
    try store.close()
  }

  // MARK: Handing over

  /// A turn that was taken for a write is not handed over before that was tried.
  @Test func whatATurnWasTakenForComesFirst() throws {
    let (store, clock) = try openInTheMiddleOfItsTurn()
    let readings = SharedCounter()
    clock.onReading {
      // It has looked several times by then.
      guard readings.add() == 6 else { return }
      #expect(!store.isSuspended)
      store.probe.endClaim()
    }
    store.probe.handOver()
    clock.onReading(nil)
    #expect(readings.value >= 6)
    #expect(store.isSuspended)
  }

  @Test func aThreadThatWasStoppedInItsTurnDoesNotKeepItForEver() throws {
    let (store, clock) = try openInTheMiddleOfItsTurn()
    let time = machine.clock
    clock.onReading { time.advance(milliseconds: 300) }
    store.probe.handOver()
    clock.onReading(nil)
    #expect(store.isSuspended)
    store.probe.endClaim()
  }

  /// Otherwise the next process would find it under way, and take it for one that has failed.
  @Test func aSyncComesToItsEndFirst() throws {
    let store = try openInTurn()
    try store.put("1", forKey: "a")
    let sync = store.probe.lockFileCalls
    sync[0]()
    let isDone = SharedFlag()
    let thread = try WorkerThread(name: "hands over") {
      store.probe.handOver()
      isDone.raise()
    }
    while !store.isSuspended { Platform.yieldThread() }
    for _ in 0..<10_000 where !isDone.isRaised { Platform.yieldThread() }
    #expect(!isDone.isRaised)
    sync[2]()
    thread.join()
    let events = EventLog()
    let next = try openInTurn { $0.onEvent = { events.record($0) } }
    #expect(try next.get("a") == bytes("1"))
    let opening = try #require(events.opening)
    #expect(opening.lastSync == .complete)
  }

  // MARK: Taking the turn

  /// The end of a turn's beginning is not the end of the rest that was asked for meanwhile.
  @Test func whoIsToldToRestWhileTheTurnIsTakenRests() throws {
    let first = try openWatched(.inTurn())
    try first.put("1", forKey: "a")
    first.probe.handOver()
    let second = try openInTurn()
    try second.put("2", forKey: "a")
    second.probe.handOver()
    let thread = Guarded<WorkerThread?>(nil)
    let count = before(.read, of: "manifest.a") {
      let started = try WorkerThread(name: "suspends") {
        do throws(StoreError) { try first.suspend() } catch { Issue.record("\(error)") }
      }
      thread.withLock { $0 = started }
      // From here on, it waits until the turn was taken.
      while !first.probe.isWithdrawn { Platform.yieldThread() }
    }
    try first.probe.takeTurn()
    thread.withLock { $0 }?.join()
    #expect(count.value == 1)
    #expect(first.isSuspended)
    #expect(throws: suspended) { try first.put("3", forKey: "a") }
    try first.resume()
    try first.put("4", forKey: "a")
    try second.refresh()
    #expect(try second.get("a") == bytes("4"))
  }

  /// An opening that has cut something off goes on above its numbers, and has given out none of its own when it hands over.
  @Test func numbersThatAnOpeningHasSkippedStaySo() throws {
    let first = try openInTurn()
    try first.put("1", forKey: "a")
    first.probe.handOver()
    let second = try openInTurn()
    try second.put("broken", forKey: "b")
    for number in 0..<5 { try second.put("2", forKey: "\(number)") }
    let last = second.lastSequence
    let tail = try #require(second.probe.tail)
    tail.store(0, at: try #require(tail.offset(of: bytes("broken"))))
    second.probe.kill()

    let third = try openInTurn()
    #expect(try third.contents() == [bytes("a"): bytes("1")])
    // It gets a segment for that, and then there is nothing to write.
    #expect(try third.putIfAbsent("3", forKey: "a") == nil)
    #expect(third.probe.isReadyToAppend)
    let generation = third.probe.generation
    third.probe.handOver()
    #expect(try first.put("4", forKey: "a") > last)
    // Without a look for the end of the log.
    #expect(first.probe.generation == generation)
    let contents = try first.contents()
    var killed = machine
    #expect(try killed.reopenAfterKill().contents() == contents)
  }

  /// A store that could not read what another one has written does not go on behind it.
  @Test func whoCouldNotReadOnLooksForTheEnd() throws {
    let events = EventLog()
    let first = try openInTurn { $0.onEvent = { events.record($0) } }
    try first.put("1", forKey: "a")
    first.probe.handOver()
    let second = try openInTurn()
    try second.put("broken", forKey: "b")
    try second.put("2", forKey: "c")
    try second.sync()
    // It says that those before it are durable: so the log goes on behind the damage.
    try second.put("2", forKey: "e")
    let tail = try #require(second.probe.tail)
    tail.store(0, at: try #require(tail.offset(of: bytes("broken"))))
    second.probe.handOver()
    try first.put("3", forKey: "d")
    #expect(try first.get("c") == bytes("2"))
    #expect(try first.get("d") == bytes("3"))
    #expect(events.damage.count == 1)
  }

  /// A file without a place in any manifest has its name nevertheless.
  @Test func idsThatWereGivenInVainArePassed() throws {
    let first = try openInTurn()
    try first.put("1", forKey: "a")
    first.probe.handOver()
    let second = try openWatched(.inTurn())
    try second.put("2", forKey: "b")
    let generation = second.probe.generation
    let segments = try machine.files(".segment")
    plan.fail(.write, on: .suffix(".segment"), .error(PlatformError.inputOutput))
    plan.fail(.remove, on: .suffix(".segment"), .error(PlatformError.inputOutput))
    second.probe.prepareSpare()
    #expect(second.probe.spares.isEmpty)
    #expect(try machine.files(".segment").count == segments.count + 1)
    second.probe.handOver()
    try first.probe.takeTurn()
    // Without a look at the files.
    #expect(first.probe.generation == generation)
    first.probe.prepareSpare()
    #expect(first.probe.spares.count == 1)
  }

  /// A store is closed, which cuts the file of its tail to what is used, and another one makes it less long than it was.
  @Test func aTailThatWasCutMeanwhileIsLeft() throws {
    let first = try openInTurn { $0.segmentSize = 256 << 10 }
    first.probe.stopBackground()
    // Of such sizes that much is mapped and not accessible yet.
    for length in [100_000, 40_000] { try first.put([UInt8](repeating: 1, count: length), forKey: "\(length)") }
    let (accessible, mapped) = try #require(first.probe.tail.map { ($0.accessibleLength, $0.mappedLength) })
    let second = try openInTurn()
    first.probe.handOver()
    try second.probe.takeTurn()
    try second.close()
    let third = try openInTurn()
    third.probe.stopBackground()
    try third.fill(10)
    let tail = try #require(third.probe.tail)
    #expect(tail.id == first.probe.tailID)
    #expect((accessible..<mapped).contains(tail.mappedLength))
    third.probe.handOver()
    // From this one on, room is made without a write to it.
    try first.put("1", forKey: "a", durability: .synced)
    try first.fill(100, from: 10)
    try first.sync()
    #expect(first.probe.tailID != tail.id)
    let contents = try first.contents()
    #expect(contents.count == 113)
    var killed = machine
    #expect(try killed.reopenAfterKill().contents() == contents)
  }

  // MARK: Resting

  @Test func nothingIsListedMeanwhile() throws {
    let store = try machine.open()
    try store.fill(100)
    try store.suspend()
    func files() throws -> [[UInt8]] {
      try FileName.manifests.map { name in
        let file = try machine.disk.open("\(machine.path)/\(name)", .read)
        defer { file.close() }
        return try file.bytes(in: 0..<file.status().size)
      }
    }
    let before = try files()
    #expect(throws: suspended) { try store.probe.writeManifest() }
    // Work that is asked for in the background, and would list what it has done.
    store.probe.sealFinished()
    store.probe.writeCheckpoint()
    store.probe.prepareSpare()
    #expect(try files() == before)
    try store.resume()
    try store.probe.writeManifest()
    #expect(try files() != before)
  }

  /// A look would take back what others tell each other in the lock file.
  @Test func nobodyLooksForReadersMeanwhile() throws {
    var machine = machine
    machine.reusesSpace = true
    let first = try machine.open()
    try first.put("1", forKey: "a")
    try first.suspend()
    let second = try machine.open()
    let reader = try machine.open { $0.readOnly = true }
    try second.put("2", forKey: "a")
    let lock = try LockFile(in: machine.path, machine.disk)
    defer { lock.close() }
    for _ in 0..<2 {
      #expect(try lock.words()?.areReaders == true)
      #expect(try lock.words()?.published == second.lastSequence.rawValue)
      first.probe.requestLook()
    }
    withExtendedLifetime(reader) {}
  }

  /// A file that was to be removed once the manifest says so, which failed, may be another one by the time that it does.
  @Test func whatWasToBeRemovedMayBeAnothersFile() throws {
    let former = try machine.open()
    try former.put("1", forKey: "a")
    let id = (former.probe.listed.map(\.id).max() ?? 0) + 1
    // It was about to sync a segment that it would list then.
    let path = "\(machine.path)/\(FileName.segment(id))"
    try machine.disk.open(path, .create).close()
    former.probe.lockFileCalls[0]()
    former.probe.kill()

    let first = try openWatched(.exclusive)
    #expect(try machine.disk.status(path) != nil)
    plan.fail(.write, on: .prefix("manifest"), .error(PlatformError.noSpace))
    let generation = first.probe.generation
    try first.suspend()
    #expect(first.probe.generation == generation)
    // One finds the file and removes it, and ends without a word about that.
    let second = try machine.open()
    second.probe.kill()
    #expect(try machine.disk.status(path) == nil)
    let third = try machine.open()
    try third.put("3", forKey: "c")
    #expect(third.probe.tailID == id)
    try third.suspend()

    try first.resume()
    #expect(try machine.disk.status(path) != nil)
    let contents = try first.contents()
    #expect(try contents == third.contents())
    var killed = machine
    #expect(try killed.reopenAfterKill().contents() == contents)
  }

  /// What a store is about to meet while it reads on stays where it is, also if the writer comes by at that moment.
  @Test func nothingIsReplacedWhileItIsRead() throws {
    var machine = machine
    machine.reusesSpace = true
    let first = try openWatched(.exclusive)
    try first.put("1", forKey: "a")
    try first.suspend()
    let second = try machine.open()
    @Sendable func overwrite(_ round: Int) throws {
      second.probe.lookForReaders()
      for number in 0..<1_000 { try second.put("\(round) \(number + 1_000)", forKey: "key \(number % 5)") }
    }
    try overwrite(1)
    let replaced = second.probe.recordsReplaced
    #expect(replaced > 0)
    let count = before(.fileStatus, of: ".segment") {
      try overwrite(2)
      #expect(second.probe.recordsReplaced == replaced)
    }
    try first.refresh()
    #expect(count.value == 1)
    #expect(try first.contents() == second.contents())
    try overwrite(3)
    #expect(second.probe.recordsReplaced > replaced)
  }

  /// While a store that rests reads on, its index is between two instants.
  @Test func aTransactionSeesNoStoreThatNeverWas() throws {
    let first = try openWatched(.exclusive)
    try first.put("1", forKey: "a")
    try first.put("1", forKey: "b")
    let (isAmid, goesOn) = (SharedFlag(), SharedFlag())
    var outcome: Result<[UInt8]?, StoreError>?
    #expect(throws: suspended) {
      try first.transaction(attempts: 1) { tx in
        #expect(try tx.get("a") == bytes("1"))
        try first.suspend()
        let second = try machine.open()
        try second.put("2", forKey: "a")
        try second.put("2", forKey: "b")
        // So many that those are in the index before the last ones are.
        try second.fill(100, length: 10)
        let count = before(.fileStatus, of: ".segment", when: { try first.text("b") == "2" }) {
          isAmid.raise()
          while !goesOn.isRaised { Platform.yieldThread() }
        }
        let reader = try WorkerThread(name: "reads on") {
          do throws(StoreError) { try first.refresh() } catch { Issue.record("\(error)") }
          isAmid.raise()
        }
        while !isAmid.isRaised { Platform.yieldThread() }
        #expect(count.value == 1)
        #expect(first.lastSequence.rawValue == 2)
        do throws(StoreError) { outcome = .success(try tx.get("b")) } catch { outcome = .failure(error) }
        goesOn.raise()
        reader.join()
      }
    }
    #expect(outcome == .failure(suspended))
    #expect(try first.text("b") == "2")
  }
}
