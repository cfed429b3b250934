import CLimits
import CacheTraces
import Foundation
import Synchronization

/// Measures a store that an earlier process filled, with less memory than it has bytes, from a cold start and for a given time.
struct BeyondMemory {
  let assignment: Assignment
  /// The directory with the store's files.
  let path: String

  private var length: Int { assignment.valueLength }

  func measure<E: Engine>(_ open: () throws -> E) throws -> Measurement {
    sync()
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      let code = bench_forget_pages("\(path)/\(name)")
      if code != 0 && code != EISDIR { throw BenchmarkError.limit(workload: "forgetting pages", errno: code) }
    }
    return try MemoryGroup.limiting(toBytes: assignment.memory) {
      let engine = try open()
      let (readBefore, faultsBefore) = reads()
      var measurement = try measure(engine)
      let (read, faults) = reads()
      let operations = Double(measurement.operations)
      measurement.figures["KB read an operation"] = Double(read - readBefore) / 1024 / operations
      measurement.figures["page faults that waited, an operation"] = Double(faults - faultsBefore) / operations
      try engine.close()
      return measurement
    }
  }

  private func measure<E: Engine>(_ engine: E) throws -> Measurement {
    if assignment.workload == .beyondAsync { return try measureTasks(esker(engine)) }
    if assignment.workload == .beyondGetMerging { return try measureBesideMerging(esker(engine)) }
    return try measureThreads(engine)
  }

  private func esker<E: Engine>(_ engine: E) throws -> EskerStore {
    if let esker = engine as? EskerStore { return esker }
    throw BenchmarkError.noSuchCombination(
      workload: assignment.workload.rawValue,
      subject: assignment.subject.rawValue
    )
  }

  private func measureThreads<E: Engine>(_ engine: E, round: Int = 0) throws -> Measurement {
    var recorder = LatencyRecorder()
    var tally = Tally()
    let begin = bench_nanoseconds()
    _ = try together(assignment.threads) { thread in
      let session = try engine.session()
      var worker = Worker(assignment, number: thread + round * assignment.threads)
      while bench_nanoseconds() - begin < UInt64(assignment.seconds * 1e9) { try worker.turn(session) }
      try session.end()
      return worker
    } collect: { (worker: Worker) in
      recorder.add(worker.recorder)
      tally += worker.tally
    }
    return measurement(tally, recorder, since: begin)
  }

  private func measurement(_ tally: Tally, _ recorder: LatencyRecorder, since begin: UInt64) -> Measurement {
    let seconds = Double(bench_nanoseconds() - begin) * 1e-9
    var measurement = Measurement(operations: tally.hits, seconds: seconds, hits: tally.hits, checksum: tally.checksum)
    measurement.latency = recorder.latency
    return measurement
  }

  /// The bytes that this process has read from the device, and its page faults that waited for it.
  private func reads() -> (bytes: UInt64, faults: UInt64) {
    (bench_read_bytes(), bench_major_faults())
  }

  // MARK: Beside merging

  /// Once to have in memory what is popular, once to see how fast gets are then, and once while segments are merged.
  private func measureBesideMerging(_ esker: EskerStore) throws -> Measurement {
    _ = try measureThreads(esker)
    let faultsBefore = reads().faults
    let alone = try measureThreads(esker, round: 1)
    let faultsAlone = reads().faults
    let ids = try FileManager.default.contentsOfDirectory(atPath: path)
      .compactMap { $0.hasSuffix(".segment") ? UInt64($0.prefix(16), radix: 16) : nil }.sorted()
    let isOver = Atomic<Bool>(false)
    let merged = Mutex<Result<Int, any Error>>(.success(0))
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let result = Result {
        var bytes = 0
        for id in ids where !isOver.load(ordering: .relaxed) {
          bytes += try esker.store.merge(segments: [id]).bytesRead
        }
        return bytes
      }
      merged.withLock { $0 = result }
      finished.signal()
    }
    let begin = bench_nanoseconds()
    var measurement = try measureThreads(esker, round: 2)
    let faultsBeside = reads().faults - faultsAlone
    isOver.store(true, ordering: .relaxed)
    finished.wait()
    let seconds = Double(bench_nanoseconds() - begin) * 1e-9
    let rate = Double(measurement.operations) / measurement.seconds
    measurement.figures["of the rate without merging"] = rate * alone.seconds / Double(alone.operations)
    measurement.figures["MB merged a second"] = Double(try merged.withLock { try $0.get() }) / seconds / 1e6
    measurement.figures["page faults that waited, a get alone"] =
      Double(faultsAlone - faultsBefore) / Double(alone.operations)
    measurement.figures["page faults that waited, a get beside merging"] =
      Double(faultsBeside) / Double(measurement.operations)
    return measurement
  }

  // MARK: Tasks

  private func measureTasks(_ esker: EskerStore) throws -> Measurement {
    let outcome = Mutex<Result<Measurement, any Error>?>(nil)
    let finished = DispatchSemaphore(value: 0)
    Task.detached {
      let result: Result<Measurement, any Error>
      do { result = .success(try await runTasks(esker)) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
      finished.signal()
    }
    finished.wait()
    guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }

  private func runTasks(_ esker: EskerStore) async throws -> Measurement {
    let begin = bench_nanoseconds()
    let deadline = begin + UInt64(assignment.seconds * 1e9)
    return try await withThrowingTaskGroup(of: Worker.self) { group in
      for task in 0..<assignment.threads {
        group.addTask {
          var worker = Worker(assignment, number: task)
          while bench_nanoseconds() < deadline { try await worker.get(esker) }
          return worker
        }
      }
      var recorder = LatencyRecorder()
      var tally = Tally()
      for try await worker in group {
        recorder.add(worker.recorder)
        tally += worker.tally
      }
      return measurement(tally, recorder, since: begin)
    }
  }
}

/// One thread or task, with keys of its own and a place for what it reads.
private struct Worker: @unchecked Sendable {
  let workload: Workload
  let keys: Int
  let ranks: ZipfianRanks?
  var random: SplitMix
  /// Room for the keys of one turn.
  let window: KeyBuffer
  let value: ValueBuffer
  var recorder = LatencyRecorder()
  var tally = Tally()
  var turns: UInt64 = 0

  init(_ assignment: Assignment, number: Int) {
    workload = assignment.workload
    keys = assignment.keys
    ranks = workload == .beyondYCSBB || workload == .beyondGetMerging ? ZipfianRanks(count: keys) : nil
    random = SplitMix(state: UInt64(number) << 40)
    let width = workload == .beyondMultiGet ? WindowGets<EskerStore>.length : 1
    window = KeyBuffer(numbers: Order.sequential(count: width))
    value = ValueBuffer(length: assignment.valueLength * width)
  }

  /// Puts the next key into the window.
  private mutating func next(at place: Int = 0) -> UInt64 {
    let number =
      if let ranks { bench_mix(UInt64(ranks.rank(for: random.nextUnit()))) % UInt64(keys) } else {
        random.next(below: UInt64(keys))
      }
    bench_key(number, window.base + place * KeyBuffer.keyLength)
    return number
  }

  mutating func turn<S: Session>(_ session: S) throws {
    turns += 1
    if workload == .beyondMultiGet {
      var sum: UInt64 = 0
      for place in 0..<window.count { sum &+= next(at: place) }
      recorder.begin()
      let found = try session.get(
        KeyWindow(base: window.base, keys: (0..<window.count).map { window[$0] }),
        into: value.mutableBytes,
        stride: value.mutableBytes.count / window.count
      )
      recorder.end()
      try check(found.hits == window.count && found.checksum == sum)
      tally += found
      return
    }
    let number = next()
    let writes = workload == .beyondOverwrite || workload == .beyondYCSBB && !bench_is_get(turns, 95)
    if writes { value.stamp(number) }
    recorder.begin()
    if writes {
      try session.put(value.bytes, forKey: window[0])
    } else {
      try check(try session.get(window[0], into: value.mutableBytes) == value.bytes.count)
    }
    recorder.end()
    try check(value.bytes.loadUnaligned(as: UInt64.self) == number)
    tally.add(value.bytes)
  }

  mutating func get(_ esker: EskerStore) async throws {
    let number = next()
    recorder.begin()
    let found = try await esker.store.async.get([UInt8](window[0]))
    recorder.end()
    try check(found?.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } == number)
    tally.hits += 1
  }

  private func check(_ isRight: Bool) throws {
    guard !isRight else { return }
    throw BenchmarkError.wrongResult(
      cell: workload.rawValue,
      expected: "the value of the key",
      found: "another one, or none"
    )
  }
}
