import Esker
import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerRemote

/// The agreement of processes on who produces, where one of them, the store or the connection fails.
@Suite struct SingleFlightFailureTests {
  let server = TinyServer()
  let producer = ProducerDouble()

  static func options(_ life: Duration) -> RemoteOptions {
    var options = RemoteOptions()
    options.singleFlight = RemoteSingleFlight()
    options.singleFlight?.lockLifetime = life
    // However long a test takes beside others: a producer that waits for it does not hang.
    options.singleFlight?.producerLimit = .seconds(86_400)
    return options
  }

  /// One whose producer runs, and some that wait for it; with a life of an hour they wait for what is told.
  private func makeProcesses(
    _ count: Int,
    life: Duration = .seconds(3_600),
    isWaiting: Bool = true
  ) async throws -> (processes: [TinyProcess], tasks: [Task<String, any Error>]) {
    server.loop.sync { server.isExpiring = true }
    var processes: [TinyProcess] = []
    var tasks: [Task<String, any Error>] = []
    for number in 0..<count {
      let process = try await TinyProcess(server, Self.options(life))
      processes.append(process)
      guard isWaiting || number == 0 else { continue }
      tasks.append(
        Task { [producer] in try await process.texts.async.value(forKey: "a") { try await producer.make() } }
      )
      #expect(try await eventually { number == 0 ? producer.runs == 1 : isAsleep(process) })
    }
    return (processes, tasks)
  }

  /// Whether one of its tasks has found another's lock, and waits.
  private func isAsleep(_ process: TinyProcess) -> Bool {
    process.tiers.core.state.withLock { $0.watches.everyone }.contains { $0.promise.waiterCount > 0 }
  }

  private func expectQuiet(_ processes: some Sequence<TinyProcess>) async throws {
    #expect(try await eventually { server.locks == 0 && processes.allSatisfy(\.isQuiet) })
  }

  @Test(arguments: [true, false]) func anotherProducesOnceTheLockOfADeadProcessHasRunOut(isTold: Bool) async throws {
    let life = isTold ? Duration.seconds(3_600) : .milliseconds(20)
    let (processes, tasks) = try await makeProcesses(3, life: life)
    processes[0].store.setFailure(.stopped)
    #expect(producer.runs == 1)
    // The server's clock goes on. Either the removal is told, or those who wait look by themselves.
    server.clock.advance(milliseconds: 3_700_000)
    if isTold { server.expire() }
    #expect(try await eventually { producer.runs == 2 })
    producer.permit()
    for task in tasks.dropFirst() {
      let value = try await task.value
      #expect(value == "made 1" || value == "made 2")
    }
    // The dead one's value cannot be stored.
    await #expect(throws: StorageError.self) { try await tasks[0].value }
    #expect(producer.runs == 2)
    try await expectQuiet(processes.dropFirst())
  }

  @Test func aLongProducerKeepsItsLock() async throws {
    let (processes, tasks) = try await makeProcesses(2, life: .milliseconds(200))
    var touches = 0
    for _ in 0..<12 {
      // Less than a life after the lock was renewed, and ten lives in all.
      #expect(try await eventually { processes[0].store.count("lock touch") > touches })
      // Before the time that lets it be renewed again.
      touches = processes[0].store.count("lock touch")
      server.clock.advance(milliseconds: 180)
      #expect(server.locks == 1)
    }
    let asked = processes[1].store.count("lock set")
    #expect(try await eventually { processes[1].store.count("lock set") > asked + 1 })
    #expect(producer.runs == 1)
    producer.permit()
    for task in tasks { #expect(try await task.value == "made 1") }
    try await expectQuiet(processes)
  }

  @Test func aProducerThatHangsHoldsUpNobodyForever() async throws {
    var options = Self.options(.milliseconds(20))
    options.singleFlight?.producerLimit = .zero
    server.loop.sync { server.isExpiring = true }
    let processes = [try await TinyProcess(server, options), try await TinyProcess(server, options)]
    let second = ProducerDouble()
    let hanging = Task { [producer] in
      try await processes[0].texts.async.value(forKey: "a") { try await producer.make() }
    }
    #expect(try await eventually { producer.runs == 1 })
    let other = Task { try await processes[1].texts.async.value(forKey: "a") { try await second.make() } }
    #expect(try await eventually { isAsleep(processes[1]) })
    server.clock.advance(milliseconds: 21)
    #expect(try await eventually { second.runs == 1 })
    #expect(processes[0].store.count("lock touch") == 0)
    // What it makes in the end is stored, as the first, and the lock is the other one's.
    producer.permit()
    #expect(try await hanging.value == "made 1")
    #expect(try await eventually { processes[0].isQuiet })
    #expect(server.locks == 1)
    second.permit()
    #expect(try await other.value == "made 1" && second.runs == 1)
    try await expectQuiet(processes)
  }

  @Test(arguments: [
    RemoteError.refused(code: "NOPERM", message: ""), .unavailable(until: nil), .notExecuted("LOADING"),
    .unknownOutcome,
  ]) func whereTheLockCannotBeHadEachProcessProducesAtOnce(_ failure: RemoteError) async throws {
    let processes = [
      try await TinyProcess(server, Self.options(.seconds(3_600))),
      try await TinyProcess(server, Self.options(.seconds(3_600))),
    ]
    processes[0].store.setLockFailure(failure)
    processes[1].store.setLockFailure(failure == .unknownOutcome ? .timedOut : failure)
    let tasks = processes.map { process in
      Task { [producer] in try await process.texts.async.value(forKey: "a") { try await producer.make() } }
    }
    #expect(try await eventually { producer.runs == 2 })
    for process in processes { process.store.setLockFailure(nil) }
    producer.permit()
    #expect(try await tasks[0].value == tasks[1].value)
    // What may have become a lock is removed, once it is known.
    #expect(server.locks == (failure == .unknownOutcome ? 1 : 0))
    if failure == .unknownOutcome {
      let id = processes[0].tiers.core.state.withLock { $0.abandoned.keys.first }
      processes[0].tiers.core.settled(RemoteWriteID(try #require(id)), .lost)
    }
    try await expectQuiet(processes)
  }

  @Test func aProcessThatIsRaisedOrSuspendedLooksAgain() async throws {
    for isSuspended in [true, false] {
      let key = "\(isSuspended)"
      let processes = [
        try await TinyProcess(server, Self.options(.seconds(3_600))),
        try await TinyProcess(server, Self.options(.seconds(3_600))),
      ]
      let producer = ProducerDouble()
      let first = Task { try await processes[0].texts.async.value(forKey: key) { try await producer.make() } }
      #expect(try await eventually { producer.runs == 1 })
      let second = Task { try await processes[1].texts.async.value(forKey: key) { try await producer.make() } }
      #expect(try await eventually { isAsleep(processes[1]) })
      // The changes are lost.
      processes[1].store.setDeaf(true)
      producer.permit()
      #expect(try await first.value == "made 1")
      #expect(try await eventually { server.locks == 0 })
      #expect(isAsleep(processes[1]))
      if isSuspended { processes[1].store.suspend() } else { processes[1].store.raise() }
      processes[1].store.trust(for: .seconds(1_000_000))
      #expect(try await second.value == "made 1")
      #expect(producer.runs == 1)
      try await expectQuiet(processes)
    }
  }

  @Test func whoTakesALockLooksAtTheOwnerFirst() async throws {
    let processes = [
      try await TinyProcess(server, Self.options(.seconds(3_600))),
      try await TinyProcess(server, Self.options(.seconds(3_600))),
    ]
    // It knows that there is nothing, and is told late that there is.
    #expect(try await processes[1].texts.async.value(forKey: "a") == nil)
    processes[1].store.setDeaf(true)
    #expect(try await processes[0].texts.async.value(forKey: "a") { "first" } == "first")
    #expect(try await eventually { server.locks == 0 })
    #expect(try await processes[1].texts.async.value(forKey: "a") { "second" } == "first")
    #expect(processes[1].tiers.statistics.productions == 0)
    processes[1].store.setDeaf(false)
    try await expectQuiet(processes)
  }

  @Test func whatWasStoredBeforeTheWaitBeganIsSeen() async throws {
    let (processes, _) = try await makeProcesses(2, isWaiting: false)
    // The first one has died after it had stored its value, and before it removed its lock.
    let lock = try #require(try processes[1].texts.productionLock(of: "a"))
    var looks = 0
    let value = try await lock.value { () async throws(StorageError) -> String? in
      looks += 1
      return "stored"
    } orProduce: { () async throws(StorageError) -> String in
      "never"
    }
    #expect(value == "stored" && looks == 1)
    producer.permit()
    try await expectQuiet(processes)
  }

  @Test func whatIsToldBetweenTheLookAndTheWaitIsNotMissed() async throws {
    let (processes, tasks) = try await makeProcesses(2, isWaiting: false)
    let lock = try #require(try processes[1].texts.productionLock(of: "a"))
    var looks = 0
    let value = try await lock.value { [server, producer] () async throws(StorageError) -> String? in
      looks += 1
      if looks > 1 { return "later" }
      // It ends while the other one looks, which finds what was there before.
      producer.permit()
      _ = try? await tasks[0].value
      _ = try? await eventually { server.locks == 0 }
      server.loop.sync {}
      return nil
    } orProduce: { () async throws(StorageError) -> String in
      "never"
    }
    #expect(value == "later" && looks == 2)
    try await expectQuiet(processes)
  }

  @Test(arguments: [false, true]) func whatItsOwnProcessWritesMeanwhileEndsTheWait(isSuspended: Bool) async throws {
    let (processes, tasks) = try await makeProcesses(2)
    let store = processes[1].store
    if isSuspended { store.suspend() }
    // Stores do not tell a process what it has written itself.
    let writing = Task { try await processes[1].texts.async.set("written", forKey: "a") }
    if isSuspended {
      #expect(try await eventually { server.value("texts:a") != nil && isAsleep(processes[1]) })
      // The lease goes on, so the write counts.
      store.trust(for: .seconds(1_000_000))
    }
    try await writing.value
    #expect(try await tasks[1].value == "written")
    producer.permit()
    #expect(try await tasks[0].value == "written")
    try await expectQuiet(processes)
  }

  @Test func whoIsCancelledWaitsNoMore() async throws {
    let (processes, tasks) = try await makeProcesses(3)
    tasks[1].cancel()
    await #expect(throws: StorageError.self) { try await tasks[1].value }
    #expect(try await eventually { processes[1].isQuiet })
    // The one that produces: the next takes over.
    #expect(producer.cancelled == 0)
    tasks[0].cancel()
    await #expect(throws: StorageError.self) { try await tasks[0].value }
    #expect(try await eventually { producer.cancelled == 1 && producer.runs == 2 })
    producer.permit()
    #expect(try await tasks[2].value == "made 2")
    try await expectQuiet(processes)
  }

  @Test func aCallFailsInTimeWhileAnotherProcessProduces() async throws {
    let (processes, tasks) = try await makeProcesses(2, isWaiting: false)
    let production = StorageRequest.Production(lifetime: .seconds(60), hardTimeout: .milliseconds(5))
    await #expect(throws: StorageError.self) {
      try await processes[1].texts.async.value(forKey: "a", production) { "never" }
    }
    producer.permit()
    #expect(try await tasks[0].value == "made 1")
    #expect(try await processes[1].texts.async.value(forKey: "a") == "made 1")
    try await expectQuiet(processes)
  }

  @Test func stoppedTiersWaitForNobody() async throws {
    let (processes, tasks) = try await makeProcesses(2)
    await processes[1].tiers.stop()
    producer.permit()
    #expect(try await tasks[0].value == "made 1")
    await #expect(throws: StorageError.self) { try await tasks[1].value }
  }
}
