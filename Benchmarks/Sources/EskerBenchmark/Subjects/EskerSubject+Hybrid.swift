import CLimits
import CacheTraces
import Esker

/// Memory in front of a log.
extension EskerSubject {
  /// Each trace with three sizes of memory against simulated policies; then once more with times to live.
  func hybridTraces() throws -> Measurement {
    let traces =
      try assignment.traces.map(readTraces)
      ?? [Trace(name: "made-up", keys: Order.zipfian(below: 20_000, count: 100_000, seed: 0xE5_4E4))]
    var measurement = Measurement(operations: 0, seconds: 0, hits: 0, checksum: 0)
    var worst = Double.infinity
    var leads: [Double] = []
    for trace in traces {
      let shortened = trace.prefix(assignment.operations)
      for percent in [1, 5, 20] {
        let capacity = max(shortened.uniqueCount * percent / 100, 1)
        let ratio = try request(shortened, capacity: capacity, lifetime: nil, &measurement)
        let policies = simulatedHitRatios(shortened, capacity: capacity)
        let best = policies.map(\.ratio).max() ?? 0
        leads += policies.filter { $0.name == "S3-FIFO" }.map { ratio - $0.ratio }
        measurement.figures["\(trace.name), \(percent) %: hit ratio"] = ratio
        measurement.figures["\(trace.name), \(percent) %: hit ratio over the best policy's"] = ratio - best
        worst = min(worst, ratio - best)
      }
      let capacity = max(shortened.uniqueCount / 20, 1)
      let lifetime = max(shortened.requests.count / 10, 1)
      let ratio = try request(shortened, capacity: capacity, lifetime: lifetime, &measurement)
      measurement.figures["\(trace.name), 5 %, each key living for a tenth of the trace: hit ratio"] = ratio
    }
    measurement.figures[EskerSubject.leastLead] = worst
    measurement.figures[EskerSubject.meanLead] = leads.reduce(0, +) / Double(max(leads.count, 1))
    return measurement
  }

  static let leastLead = "least hit ratio over the best policy's"
  static let meanLead = "mean hit ratio over S3-FIFO's"

  /// Gets each key, and sets it if it is neither in memory nor in the log; a request takes a millisecond of the store's
  /// clock.
  ///
  /// - Returns: The share of the gets that memory answered.
  private func request(
    _ trace: Trace,
    capacity: Int,
    lifetime: Int?,
    _ measurement: inout Measurement
  ) throws -> Double {
    let clock = WriteClock()
    var options = Options()
    options.clock = clock.storeClock
    let path = assignment.storePath + ".\(trace.name).\(capacity).\(lifetime ?? 0)"
    let store = try LogStore(at: path, options: options)
    let log = try LogStorage(store, "trace", key: Int.self, of: Int.self)
    let hybrid = HybridStorage(log, limits: MemoryLimits(count: capacity))
    let expiry = lifetime.map { Expiry.after(.milliseconds($0)) }
    let begin = bench_nanoseconds()
    for key in trace.requests {
      clock.tick()
      if let value = try hybrid.value(forKey: key) {
        guard value == key else {
          throw BenchmarkError.wrongResult(cell: trace.name, expected: "\(key)", found: "\(value)")
        }
        measurement.hits += 1
        measurement.checksum &+= UInt64(value)
      } else {
        try hybrid.set(key, forKey: key, expiry: expiry)
      }
    }
    measurement.seconds += Double(bench_nanoseconds() - begin) * 1e-9
    measurement.operations += trace.requests.count
    let ratio = hybrid.statistics.hitRatio
    try store.close()
    return ratio
  }

  /// Warm gets of integers.
  func hybridGet() throws -> Measurement {
    let keys = hybridKeys(assignment)
    let store = try LogStore(at: assignment.storePath)
    let hybrid = HybridStorage(try LogStorage(store, "front", key: Int.self, of: Int.self))
    for key in keys { try hybrid.set(key, forKey: key) }
    let gets = Closures { index in UInt64(truncatingIfNeeded: try hybrid.value(forKey: keys[index % keys.count]) ?? 0) }
    try gets.run(0..<keys.count)
    var pace = Pace()
    try pace.run(gets, 0..<assignment.operations)
    try store.close()
    return Measurement(pace)
  }
}

/// The same from a plain dictionary.
func dictionaryGet(_ assignment: Assignment) throws -> Measurement {
  let keys = hybridKeys(assignment)
  let dictionary = Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
  let gets = Closures { index in UInt64(truncatingIfNeeded: dictionary[keys[index % keys.count]] ?? 0) }
  try gets.run(0..<keys.count)
  var pace = Pace()
  try pace.run(gets, 0..<assignment.operations)
  return Measurement(pace)
}

private func hybridKeys(_ assignment: Assignment) -> [Int] {
  (0..<assignment.keys).map { Int(truncatingIfNeeded: bench_mix(UInt64($0))) }
}
