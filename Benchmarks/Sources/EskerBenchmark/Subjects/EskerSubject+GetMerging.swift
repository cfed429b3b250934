import CLimits
import EskerLog
import Foundation
import Synchronization

/// Gets while the whole store is being merged, and while nothing is.
extension EskerSubject {
  /// Half of the keys are overwritten at random first, so that every segment has something to reclaim.
  func getMerging() throws -> Measurement {
    let esker = try EskerStore(at: assignment.storePath, isMerging: false)
    let value = ValueBuffer(length: assignment.valueLength)
    let stored = KeyBuffer(numbers: Order.sequential(count: assignment.keys))
    try Puts(session: esker, keys: stored, first: 0, value: value).run(0..<stored.count)
    let changed = Order.shuffled(below: assignment.keys, count: assignment.keys / 2, seed: 0xE5_4E4)
    try Puts(session: esker, keys: KeyBuffer(numbers: changed), first: 0, value: value).run(0..<changed.count)
    try esker.store.sync()
    let order = KeyBuffer(numbers: Order.uniform(below: assignment.keys, count: assignment.operations, seed: 0xE5_4E4))
    try Gets(session: esker, keys: order, out: value).run(0..<order.count)

    let before = try gets(esker, order, value) { false }
    let merge = MergeInBackground(esker.store)
    let during = try gets(esker, order, value) { !merge.isDone }
    let report = try merge.result()
    let after = try gets(esker, order, value) { false }

    let idle = max(before.rate, after.rate)
    var measurement = Measurement(
      operations: during.operations,
      seconds: during.seconds,
      hits: during.operations,
      checksum: 0
    )
    measurement.figures = [
      "gets a second during a merge, share of idle": during.rate / idle,
      "idle, M/s": idle * 1e-6,
      "p99.9 during a merge, µs": Double(during.latency.p999) * 1e-3,
      "p99.9 idle, µs": Double(before.latency.p999) * 1e-3,
      "slowest during a merge, ms": Double(during.latency.max) * 1e-6,
      "merged, MB": Double(report.bytesRead) * 1e-6,
      "merge, ms": merge.seconds * 1e3,
    ]
    try esker.store.close()
    return measurement
  }

  private struct Timed {
    var operations: Int
    var seconds: Double
    var latency: Latency
    var rate: Double { Double(operations) / seconds }
  }

  /// Gets while the condition, checked now and then, holds; all keys once if it does not hold at the start.
  private func gets(
    _ esker: EskerStore,
    _ keys: KeyBuffer,
    _ out: ValueBuffer,
    while condition: () -> Bool
  ) throws -> Timed {
    var recorder = LatencyRecorder()
    var operations = 0
    let isOpenEnded = condition()
    let begin = bench_nanoseconds()
    while isOpenEnded ? condition() : operations < keys.count {
      let first = operations % keys.count
      let range = first..<min(first + 4_096, keys.count)
      let found = try Gets(session: esker, keys: keys, out: out).run(range, &recorder)
      operations += range.count
      guard found.hits == range.count else {
        throw BenchmarkError.wrongResult(
          cell: assignment.workload.rawValue,
          expected: "\(range.count) values",
          found: "\(found.hits)"
        )
      }
    }
    return Timed(
      operations: operations,
      seconds: Double(bench_nanoseconds() - begin) * 1e-9,
      latency: recorder.latency
    )
  }
}

/// A merge of everything on its own thread.
private final class MergeInBackground: Sendable {
  private let outcome = Mutex<(result: Result<Report.Merge, any Error>, seconds: Double)>(
    (.failure(CancellationError()), 0)
  )
  private let ended = Atomic<Bool>(false)

  init(_ store: LogStore) {
    Thread.detachNewThread { [self] in
      let begin = bench_nanoseconds()
      let result = Result { try store.merge() }
      let seconds = Double(bench_nanoseconds() - begin) * 1e-9
      outcome.withLock { $0 = (result, seconds) }
      ended.store(true, ordering: .releasing)
    }
  }

  var isDone: Bool { ended.load(ordering: .acquiring) }
  var seconds: Double { outcome.withLock { $0.seconds } }

  /// Waits for the end of the merge.
  func result() throws -> Report.Merge {
    while !isDone { Thread.sleep(forTimeInterval: 0.001) }
    return try outcome.withLock { try $0.result.get() }
  }
}
