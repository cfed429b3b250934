import CLimits
import EskerLog
import Foundation
import Synchronization

/// Letting go of a store and taking it back, and what it costs to write in turn: alone, and with another writer.
extension EskerSubject {
  static let shareAlone = "overwrites alone in turn, share of exclusive"
  static let suspending = "suspend p99, ms"
  static let resuming = "resume p99, ms"
  static let handingOver = "a write beside a busy writer, p99, ms"

  func turns() throws -> Measurement {
    var options = Options()
    options.sharing = .inTurn()
    let shared = try EskerStore(at: assignment.storePath, options: options)
    let exclusive = try EskerStore(at: assignment.storePath + ".exclusive", options: Options())
    let value = ValueBuffer(length: assignment.valueLength)
    let keys = KeyBuffer(numbers: Order.sequential(count: assignment.keys))
    for store in [shared, exclusive] {
      try Puts(session: store, keys: keys, first: 0, value: value).run(0..<keys.count)
      try store.store.sync()
    }
    var measurement = Measurement(operations: assignment.operations, seconds: 0, hits: 0, checksum: 0)
    measurement.figures[Self.shareAlone] = try shareAlone(shared, exclusive, value)
    let (suspensions, resumptions) = try rests(exclusive.store)
    measurement.figures[Self.suspending] = Double(suspensions.p99) * 1e-6
    measurement.figures[Self.resuming] = Double(resumptions.p99) * 1e-6
    try exclusive.store.close()

    // As another process would, it has an index of its own.
    let other = try EskerStore(at: assignment.storePath, options: options)
    let idle = try handOvers(from: shared.store, to: other.store)
    measurement.figures["a write beside an idle holder, p99, ms"] = Double(idle.p99) * 1e-6
    let paced = try handOvers(fromBusy: shared, pace: 20, to: other.store)
    measurement.figures["a write beside 20 writes a ms, p99, ms"] = Double(paced.p99) * 1e-6
    let begin = bench_nanoseconds()
    let busy = try handOvers(fromBusy: shared, to: other.store)
    measurement.seconds = Double(bench_nanoseconds() - begin) * 1e-9
    measurement.latency = busy
    measurement.figures[Self.handingOver] = Double(busy.p99) * 1e-6
    try other.store.close()
    try shared.store.close()
    return measurement
  }

  /// Overwrites of both stores in many short rounds, one after the other: the median of the rounds' ratios.
  private func shareAlone(_ shared: EskerStore, _ exclusive: EskerStore, _ value: ValueBuffer) throws -> Double {
    let changed = Order.shuffled(below: assignment.keys, count: assignment.keys, seed: 0xE5_4E4)
    let keys = KeyBuffer(numbers: changed)
    let rounds = 40
    let step = keys.count / rounds
    var ratios: [Double] = []
    func seconds(_ store: EskerStore, _ range: Range<Int>) throws -> Double {
      let begin = bench_nanoseconds()
      try Puts(session: store, keys: keys, first: 0, value: value).run(range)
      return Double(bench_nanoseconds() - begin)
    }
    for round in 0..<rounds {
      let range = round * step..<(round + 1) * step
      if round % 2 == 0 {
        let theirs = try seconds(exclusive, range)
        ratios.append(theirs / (try seconds(shared, range)))
      } else {
        let mine = try seconds(shared, range)
        ratios.append(try seconds(exclusive, range) / mine)
      }
    }
    return ratios.sorted()[rounds / 2]
  }

  /// Suspensions and resumptions with a few writes in between, and nobody else.
  private func rests(_ store: LogStore) throws -> (suspensions: Latency, resumptions: Latency) {
    var suspensions = LatencyRecorder()
    var resumptions = LatencyRecorder()
    for round in 0..<Self.rounds {
      for number in 0..<10 { try store.put("round \(round)", forKey: "key \(number)") }
      suspensions.begin()
      try store.suspend()
      suspensions.end()
      resumptions.begin()
      try store.resume()
      resumptions.end()
    }
    return (suspensions.latency, resumptions.latency)
  }

  private static let rounds = 500

  /// Writes in turn by two stores, each while the other one has the turn and does nothing.
  private func handOvers(from first: LogStore, to second: LogStore) throws -> Latency {
    var recorder = LatencyRecorder()
    for round in 0..<Self.rounds {
      let store = round % 2 == 0 ? second : first
      recorder.begin()
      try store.put("\(round)", forKey: "turn")
      recorder.end()
      // A turn has lasted its least time by then.
      usleep(300)
    }
    return recorder.latency
  }

  /// Single writes of one store while another writes without pause, or so much in a millisecond.
  private func handOvers(fromBusy first: EskerStore, pace: Int = 0, to second: LogStore) throws -> Latency {
    let writer = WriterInBackground(first, assignment, pace: pace)
    var recorder = LatencyRecorder()
    for round in 0..<Self.rounds {
      recorder.begin()
      try second.put("\(round)", forKey: "turn")
      recorder.end()
      usleep(1_000)
    }
    try writer.stop()
    return recorder.latency
  }
}

/// A thread that overwrites without pause, or a few keys a millisecond.
private final class WriterInBackground: Sendable {
  private let outcome = Mutex<Result<Void, any Error>?>(nil)
  private let isStopping = Atomic<Bool>(false)

  init(_ store: EskerStore, _ assignment: Assignment, pace: Int) {
    Thread.detachNewThread { [self] in
      let result = Result {
        let changed = Order.shuffled(below: assignment.keys, count: assignment.keys, seed: 0xE5_4E4)
        let keys = KeyBuffer(numbers: changed)
        let puts = Puts(session: store, keys: keys, first: 0, value: ValueBuffer(length: assignment.valueLength))
        var next = 0
        while !isStopping.load(ordering: .relaxed) {
          try puts.run(next..<next + 1)
          next = (next + 1) % keys.count
          if pace > 0, next % pace == 0 { usleep(1_000) }
        }
      }
      outcome.withLock { $0 = result }
    }
  }

  func stop() throws {
    isStopping.store(true, ordering: .relaxed)
    while true {
      if let result = outcome.withLock({ $0 }) { return try result.get() }
      usleep(1_000)
    }
  }
}
