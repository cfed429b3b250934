import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

@Suite(.serialized, .timeLimit(.minutes(60))) struct LifecycleConcurrencyTests {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func seals(_ log: EventLog) -> Int {
    log.events.count { if case .segmentSealed = $0 { true } else { false } }
  }

  @Test func segmentsOfABurstAreSealedOnceItIsOver() async throws {
    let log = EventLog()
    var options = WriterConcurrencyTests.options
    options.onEvent = { log.record($0) }
    let store = try LogStore(at: path, options: options)
    for key in 0..<40 { try store.put([UInt8](repeating: 0, count: 4000), forKey: "key \(key)") }
    let areSealed = try await eventually { seals(log) >= 2 }
    #expect(areSealed && seals(log) == 2)
    try store.close()
  }

  @Test func lastReferenceMayGoOnAThreadOfTheStore() async throws {
    let last = Guarded<LogStore?>(nil)
    let hasGone = Guarded(false)
    var options = WriterConcurrencyTests.options
    options.onEvent = { event in
      guard case .segmentSealed = event, let store = last.withLock({ $0.take() }) else { return }
      #expect(WorkerThread.isCurrentThread)
      hasGone.withLock { $0 = true }
      withExtendedLifetime(store) {}
    }
    let keys = 40
    do {
      let store = try LogStore(at: path, options: options)
      for key in 0..<keys { try store.put([UInt8](repeating: 0, count: 4000), forKey: "key \(key)") }
      last.withLock { $0 = store }
    }
    while !hasGone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
    // It closes meanwhile, and lets go of the store's lock when it has.
    var count: Int?
    while count == nil {
      do throws(StoreError) { count = try LogStore(at: path).count() } catch {
        guard case .locked = error else { throw error }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    #expect(count == keys)
  }

  @Test func closingSealsWhatABurstLeft() throws {
    let log = EventLog()
    var options = WriterConcurrencyTests.options
    options.onEvent = { log.record($0) }
    let store = try LogStore(at: path, options: options)
    for key in 0..<40 { try store.put([UInt8](repeating: 0, count: 4000), forKey: "key \(key)") }
    try store.close()
    #expect(seals(log) == 2)
  }

  @Test func aCloseUnderWayEndsEveryOperationWithClosedAndLosesNothing() throws {
    for round in 0..<10 {
      let path = "\(path)\(round)"
      let store = try LogStore(at: path, options: WriterConcurrencyTests.options)
      for key in 0..<50 { try store.put("v", forKey: "key \(key)") }
      let acknowledged = Guarded<[Int]>([0, 0, 0])
      let errors = try onThreads(8) { thread in
        do throws(StoreError) {
          for step in 0..<1_000_000 {
            switch thread {
            case 0...2:
              let durability: Durability = thread == 2 ? .synced : .buffered
              try store.put("\(step)", forKey: "written \(thread)", durability: durability)
              acknowledged.withLock { $0[thread] = step }
            case 3: _ = try store.get("key \(step % 50)")
            case 4: for entry in try store.snapshot() { _ = try entry.value() }
            case 5: _ = try store.verify()
            case 6:
              _ = store.statistics
              _ = try store.countExpired()
              try store.removeAllExpired()
            default:
              guard step == 3 else {
                Platform.system.pause()
                continue
              }
              try store.close()
              return
            }
          }
        } catch {
          guard error == .closed else { throw error }
        }
      }
      #expect(errors.isEmpty, "\(errors)")
      let again = try LogStore(at: path, options: WriterConcurrencyTests.options)
      for thread in 0..<3 {
        let value = try again.get("written \(thread)").map { String(decoding: $0, as: UTF8.self) }
        let number = value.flatMap { Int($0) } ?? 0
        let least = acknowledged.withLock { $0[thread] }
        #expect(number >= least && number <= least + 1, "thread \(thread) of round \(round)")
      }
      #expect(try again.verify().isClean)
    }
  }

  @Test func aCloseBesideACheckpointUnderWayComesToAnEnd() throws {
    for round in 0..<40 {
      let store = try LogStore(at: path, options: WriterConcurrencyTests.options)
      for key in 0..<20 { try store.put("\(round)", forKey: "key \(key)") }
      store.probe.requestCheckpoint()
      for _ in 0..<(round * 20) { _ = try store.get("key 1") }
      try store.close()
    }
    #expect(try LogStore(at: path).count() == 20)
  }

  @Test func aThousandTasksShareSyncs() async throws {
    let plan = FaultPlan()
    let gate = Gate()
    plan.onCall { call in
      if call.operation == .sync, call.path.hasSuffix(".segment") { gate.pass() }
    }
    var host = StoreHost.system
    host.platform.fileSystem = FaultyFileSystem(OSFileSystem(), plan: plan)
    var options = WriterConcurrencyTests.options
    // So large that nothing else is to be synced.
    options.segmentSize = 1 << 20
    let store = try LogStore(at: path, options: options, host: host)
    try store.put("v", forKey: "first", durability: .synced)
    gate.close()
    let sequences = try await withThrowingTaskGroup(of: SequenceNumber.self) { group in
      for number in 0..<1000 {
        group.addTask {
          let sequence = try await store.async.put("v", forKey: "key \(number)", durability: .synced)
          guard store.durableSequence >= sequence else { throw StoreError.cancelled }
          return sequence
        }
      }
      // The disk stands still until all are written, and then makes them durable together.
      let areWritten = try await eventually { store.lastSequence.rawValue == 1001 }
      #expect(areWritten)
      gate.open()
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(sequences.count == 1000)
    #expect(try store.count() == 1001)
    #expect(store.durableSequence == store.lastSequence)
    #expect(store.statistics.syncs.count < 10)
  }

  @Test func aCancelledTaskAbandonsTheWaitAndNotTheWrite() async throws {
    let plan = FaultPlan()
    let gate = Gate()
    plan.onCall { call in
      if call.operation == .sync, call.path.hasSuffix(".segment") { gate.pass() }
    }
    let host = StoreHost(
      platform: .simulated(fileSystem: FaultyFileSystem(SimulatedDisk(), plan: plan)),
      background: .inline
    )
    let store = try LogStore(at: "/store", options: WriterConcurrencyTests.options, host: host)
    try store.put("first", forKey: "first")
    gate.close()
    let waiting = Task { try await store.async.put("v", forKey: "k", durability: .synced) }
    while try store.get("k") == nil { await Task.yield() }
    waiting.cancel()
    await #expect(throws: StoreError.cancelled) { _ = try await waiting.value }
    #expect(try store.get("k") == bytes("v"))
    gate.open()
    try await store.async.sync()
    #expect(store.durableSequence == store.lastSequence)
  }

  @Test func aTaskCancelledBeforehandStillWrites() async throws {
    let store = try LogStore(at: path, options: WriterConcurrencyTests.options)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await store.async.put("v", forKey: "k", durability: .synced)
    }
    task.cancel()
    let result = await task.result
    if case .failure(let error) = result { #expect(error as? StoreError == .cancelled) }
    #expect(try store.get("k") == bytes("v"))
  }

  @Test func tasksThatWaitWhenTheStoreClosesComeToAnEnd() async throws {
    for round in 0..<5 {
      let store = try LogStore(at: "\(path)\(round)", options: WriterConcurrencyTests.options)
      let outcomes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<200 {
          group.addTask {
            do throws(StoreError) {
              try await store.async.put("v", forKey: "key \(number)", durability: .synced)
              return true
            } catch {
              return error == .closed
            }
          }
        }
        group.addTask {
          await Task.yield()
          return (try? store.close()) != nil
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.count { !$0 } == 0)
    }
  }

  @Test func periodicWritersOfManyThreadsComeToBeDurable() throws {
    let store = try LogStore(at: path, options: WriterConcurrencyTests.options)
    let errors = try onThreads(4) { number in
      for step in 0..<200 {
        try store.put("v", forKey: "\(number) \(step)", durability: .periodic(.milliseconds(Int64(1 + step % 3))))
      }
    }
    #expect(errors.isEmpty)
    while store.durableSequence < store.lastSequence { Platform.system.pause() }
  }
}

/// Lets threads through, or holds them until it is opened.
final class Gate: Sendable {
  private let isClosed = Guarded(false)

  func close() { isClosed.withLock { $0 = true } }
  func open() { isClosed.withLock { $0 = false } }

  func pass() {
    while isClosed.withLock({ $0 }) { Platform.system.pause() }
  }
}
