import EskerPlatform
import EskerTestSupport
import Testing

@testable import EskerLog

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Stores on the same files, each with threads of its own, that write in turn or are told to let others write.
@Suite(.serialized, .timeLimit(.minutes(60))) struct TurnConcurrencyTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.appending("store")
  }

  private func open(_ sharing: Options.Sharing, _ events: EventLog? = nil) throws(StoreError) -> LogStore {
    var options = Options()
    options.segmentSize = 64 << 10
    options.merge.spaceAmplification = 1.1
    options.sharing = sharing
    options.onEvent = { events?.record($0) }
    return try LogStore(at: path, options: options)
  }

  private func number(_ key: String, _ store: LogStore) throws(StoreError) -> Int {
    try store.get(key).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
  }

  /// Three stores with two threads each count up one number, and numbers of their own, while merges, seals and checkpoints go on.
  @Test func whatManyCountInTurnAddsUp() throws {
    let (storeCount, threadCount, writes) = (3, 2, Rounds.count(300, thorough: 5_000))
    let events = EventLog()
    let stores = try (0..<storeCount).map { _ in try open(.inTurn(), events) }
    let errors = try onThreads(storeCount * threadCount) { thread in
      let store = stores[thread % storeCount]
      var generator = SeededGenerator(seed: UInt64(thread))
      for number in 1...writes {
        try store.transaction(attempts: 100_000) { (tx) throws(StoreError) in
          let before = try tx.get("sum").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
          try tx.put("\(before + 1)", forKey: "sum")
          try tx.put("\(number)", forKey: "thread \(thread)")
        }
        try store.put([UInt8](repeating: 1, count: 2_000), forKey: "\(thread) \(number % 20)")
        if generator.oneIn(50) { try store.sync() }
        if generator.oneIn(10) {
          let snapshot = try store.snapshot()
          let contents = try snapshot.contents()
          let sum = (0..<storeCount * threadCount).reduce(0) { sum, thread in
            sum + (contents[bytes("thread \(thread)")].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0)
          }
          let counted = contents[bytes("sum")].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
          guard counted == sum else {
            throw StoreError.failed(operation: "count \(sum), not \(counted) in", path: path, errno: 0)
          }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    for store in stores {
      try store.refresh()
      #expect(try number("sum", store) == storeCount * threadCount * writes)
    }
    for store in stores { try store.close() }
    #expect(events.damage == [])
    let last = try open(.exclusive)
    #expect(try number("sum", last) == storeCount * threadCount * writes)
    #expect(try last.verify().isClean)
  }

  /// Threads read, write, sync and merge while a store is suspended and resumed: writes are done or refused, and what was done is there.
  @Test func suspensionsBesideEverything() throws {
    let events = EventLog()
    let store = try open(.exclusive, events)
    for number in 0..<200 { try store.put("0", forKey: "key \(number)") }
    let isDone = SharedFlag()
    let rounds = Rounds.count(60, thorough: 2_000)
    let errors = try onThreads(4) { thread in
      if thread == 0 {
        defer { isDone.raise() }
        for round in 0..<rounds {
          try store.suspend()
          if round % 3 == 0 {
            let other = try open(.exclusive)
            for number in 0..<50 { try other.put("by another \(round)", forKey: "other \(number)") }
            if round % 2 == 0 { try other.close() } else { other.probe.kill() }
          }
          try store.resume()
        }
        return
      }
      var written: [Int: String] = [:]
      var generator = SeededGenerator(seed: UInt64(thread))
      var count = 0
      while !isDone.isRaised {
        count += 1
        let key = Int.random(in: 0..<60, using: &generator) * 3 + thread - 1
        if let value = written[key] {
          guard try store.get("key \(key)") == bytes(value) else {
            throw StoreError.failed(operation: "find \(value) in", path: path, errno: Int32(key))
          }
        }
        do throws(StoreError) {
          try store.put("\(count)", forKey: "key \(key)", durability: generator.oneIn(20) ? .synced : .buffered)
          written[key] = "\(count)"
          if generator.oneIn(200) { try store.merge() }
        } catch {
          guard case .suspended = error else { throw error }
        }
      }
      for (key, value) in written where try store.get("key \(key)") != bytes(value) {
        throw StoreError.failed(operation: "find \(value) at last in", path: path, errno: Int32(key))
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(events.damage == [])
    try store.close()
    #expect(try open(.exclusive).verify().isClean)
  }

  /// A store that has the turn and does nothing gives it to one that asks.
  @Test func whoDoesNothingKeepsNobodyWaiting() throws {
    let first = try open(.inTurn())
    try first.put("1", forKey: "a")
    let second = try open(.inTurn())
    #expect(try second.get("a") == bytes("1"))
    for round in 0..<20 {
      try (round % 2 == 0 ? second : first).put("\(round)", forKey: "a")
      try first.refresh()
      try second.refresh()
      #expect(try first.get("a") == bytes("\(round)"))
      #expect(try second.get("a") == bytes("\(round)"))
    }
    try first.close()
    try second.put("2", forKey: "a")
    try second.close()
  }

  /// However many turns are being taken meanwhile: the process has no lock until it is resumed.
  @Test func whatIsSuspendedStaysSo() throws {
    let stores = try (0..<2).map { _ in try open(.inTurn()) }
    let isDone = SharedFlag()
    let rounds = Rounds.count(50, thorough: 2_000)
    let errors = try onThreads(5) { thread in
      if thread == 0 {
        defer { isDone.raise() }
        for round in 0..<rounds {
          try stores[0].suspend()
          for _ in 0..<50 {
            guard stores[0].isSuspended else {
              throw StoreError.failed(operation: "rest in round \(round) of", path: path, errno: 0)
            }
            Platform.yieldThread()
          }
          try stores[0].resume()
          try stores[0].put("1", forKey: "resumed")
        }
        return
      }
      var number = 0
      while !isDone.isRaised {
        number += 1
        do throws(StoreError) { try stores[thread % 2].put("\(number)", forKey: "thread \(thread)") } catch {
          guard case .suspended = error, thread % 2 == 0 else { throw error }
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    for store in stores { try store.close() }
    #expect(try open(.exclusive).verify().isClean)
  }

  @Test func whoComesFirstMakesTheStore() throws {
    for round in 0..<Rounds.count(20, thorough: 500) {
      let path = directory.appending("store \(round)")
      let errors = try onThreads(3) { thread in
        var options = Options()
        options.sharing = .inTurn()
        let store = try LogStore(at: path, options: options)
        try store.increment("count")
        try store.close()
      }
      #expect(errors.isEmpty, "\(errors)")
      #expect(try LogStore(at: path).increment("count", by: 0) == 3)
    }
  }

  /// A write that may wait is done once the store is resumed: each kind, and both of a thread and of a task.
  @Test func writesWaitForTheStoreToBeResumed() async throws {
    let store = try open(.exclusive)
    try store.put("0", forKey: "a")
    try store.suspend(patience: .seconds(86_400))
    let waiting = SharedCounter()
    let writers = try (0..<4).map { number in
      try WorkerThread(name: "writes") {
        waiting.add(1)
        do throws(StoreError) {
          switch number {
          case 0: try store.put("1", forKey: "a")
          case 1: try store.increment("count")
          case 2: try store.write { (batch) throws(StoreError) in try batch.put("1", forKey: "b") }
          default: _ = try store.keyspace("new")
          }
        } catch { Issue.record("write \(number): \(error)") }
        waiting.add(-1)
      }
    }
    let keyspace = store.default
    let tasks = (0..<100).map { number in Task { try await keyspace.async.put("1", forKey: "task \(number)") } }
    while waiting.value < writers.count { Platform.yieldThread() }
    // None of them keeps a thread of the pool: otherwise this task would not go on.
    for _ in 0..<100 { await Task.yield() }
    #expect(try store.get("a") == bytes("0"))
    #expect(try store.keyspaceNames == [])
    try store.resume()
    for task in tasks { _ = try await task.value }
    for writer in writers { writer.join() }
    #expect(waiting.value == 0)
    #expect(try store.count() == 103)
    #expect(try store.keyspaceNames == ["new"])
    try store.close()
  }

  /// Writes that wait end with the store, or once their time has passed.
  @Test func writesThatWaitInVainAreRefused() async throws {
    let store = try open(.exclusive)
    try store.suspend(patience: .milliseconds(1))
    #expect(throws: StoreError.suspended(path: path)) { try store.put("1", forKey: "a") }
    await #expect(throws: StoreError.suspended(path: path)) { try await store.default.async.put("1", forKey: "a") }
    try store.suspend(patience: .seconds(86_400))
    let isWaiting = SharedFlag()
    let error = Guarded<StoreError?>(nil)
    let writer = try WorkerThread(name: "writes") {
      isWaiting.raise()
      do throws(StoreError) { try store.put("1", forKey: "a") } catch let refusal { error.withLock { $0 = refusal } }
    }
    while !isWaiting.isRaised { Platform.yieldThread() }
    try store.close()
    writer.join()
    #expect(error.withLock { $0 } == .closed)
  }

  @Test func whoGetsNoTurnIsTold() throws {
    let shared = try open(.inTurn())
    try shared.put("1", forKey: "a")
    let second = try open(.inTurn(patience: .milliseconds(20)))
    #expect(try second.get("a") == bytes("1"))
    try shared.close()
    let first = try open(.exclusive)
    #expect(throws: StoreError.locked(path: path, holder: getpid())) { try open(.inTurn()) }
    #expect(throws: StoreError.locked(path: path, holder: getpid())) { try second.put("2", forKey: "a") }
    try first.put("3", forKey: "a")
    try first.close()
    try second.put("4", forKey: "a")
    #expect(try second.get("a") == bytes("4"))
  }
}
