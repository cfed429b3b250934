import Esker
import Foundation
import Synchronization

/// Runs workloads on a store and times every call.
struct BenchRun {
  let store: LogStore
  let plan: BenchPlan

  func run(_ workload: BenchWorkload, _ progress: Progress) throws -> BenchResult {
    let zipfian = workload == .zipfian ? ZipfianKeys(count: plan.records) : nil
    let results = Mutex<(result: BenchResult, failure: (any Error)?)>((BenchResult(workload: workload), nil))
    let isStopped = Atomic<Bool>(false)
    let done = Atomic<Int>(0)
    let start = DispatchTime.now().uptimeNanoseconds
    // Safety: only the first thread uses it, while the caller waits.
    nonisolated(unsafe) let progress = progress
    DispatchQueue.concurrentPerform(iterations: plan.threads) { thread in
      var worker = BenchWorker(self, workload, thread: thread, zipfian: zipfian)
      do {
        try worker.run(from: start, isStopped: isStopped) { operations in
          let all = done.wrappingAdd(operations, ordering: .relaxed).newValue
          guard thread == 0 else { return }
          unsafe progress.update(done: all, at: workload == .fill ? all : nil)
        }
      } catch {
        isStopped.store(true, ordering: .relaxed)
        results.withLock { $0.failure = $0.failure ?? error }
      }
      results.withLock {
        $0.result.operations += worker.operations
        $0.result.latencies.add(worker.latencies)
      }
    }
    var (result, failure) = results.withLock { $0 }
    result.seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    if let failure { throw failure }
    try Interruption.check()
    return result
  }
}

/// One thread's part of a workload.
private struct BenchWorker {
  private(set) var operations = 0
  private(set) var latencies = Statistics.Histogram()

  private let store: LogStore
  private let plan: BenchPlan
  private let workload: BenchWorkload
  private let thread: Int
  private let zipfian: ZipfianKeys?
  private var random: BenchRandom
  private var key: [UInt8]
  private var value: [UInt8]

  init(_ run: BenchRun, _ workload: BenchWorkload, thread: Int, zipfian: ZipfianKeys?) {
    store = run.store
    plan = run.plan
    self.workload = workload
    self.thread = thread
    self.zipfian = zipfian
    random = BenchRandom(seed: UInt64(thread) << 32)
    key = [UInt8](repeating: UInt8(ascii: "k"), count: plan.keyLength)
    value = []
    for _ in 0..<plan.valueLength { value.append(UInt8(truncatingIfNeeded: random.next())) }
  }

  mutating func run(from start: UInt64, isStopped: borrowing Atomic<Bool>, tell: (Int) -> Void) throws {
    // A fill ends when all its keys are written; the others when their time is up.
    let first = plan.records * thread / plan.threads
    let limit = workload == .fill ? plan.records * (thread + 1) / plan.threads - first : Int.max
    let end = workload == .fill ? UInt64.max : start + UInt64(plan.seconds * 1e9)
    var before = DispatchTime.now().uptimeNanoseconds
    var told = 0
    while operations < limit, before < end, !isStopped.load(ordering: .relaxed), !Interruption.isRequested {
      try step(first + operations)
      let now = DispatchTime.now().uptimeNanoseconds
      latencies.record(.nanoseconds(Int64(clamping: now &- before)))
      before = now
      operations += 1
      if operations & 1023 == 0 {
        tell(operations - told)
        told = operations
      }
    }
  }

  private mutating func step(_ number: Int) throws {
    switch workload {
    case .fill:
      choose(number)
      try store.put(value, forKey: key)
    case .durable:
      choose(Int(random.next() % UInt64(plan.records)))
      try store.put(value, forKey: key, durability: .synced)
    case .read, .zipfian:
      choose(zipfian?.next(using: &random) ?? Int(random.next() % UInt64(plan.records)))
      try get()
    case .mixed:
      choose(Int(random.next() % UInt64(plan.records)))
      if random.next() % 100 < plan.reads { try get() } else { try store.put(value, forKey: key) }
    }
  }

  private func get() throws {
    guard try store.get(key)?.count == value.count else {
      throw ToolError.benchmarkFailed("a value that was put is not there")
    }
  }

  /// Makes the key for a number, and its value if that is not always the same: its digits in base 64, written from the end.
  private mutating func choose(_ number: Int) {
    if let data = plan.data {
      (key, value) = data.entries[number]
      return
    }
    var rest = BenchRandom.mixed(UInt64(number))
    // The mixing is one-to-one, so eleven characters distinguish all numbers.
    for index in stride(from: key.count - 1, through: max(0, key.count - 11), by: -1) {
      key[index] = 48 + UInt8(rest & 63)
      rest >>= 6
    }
  }
}
