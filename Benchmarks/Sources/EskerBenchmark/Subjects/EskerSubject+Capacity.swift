import CLimits
import CacheTraces
import EskerLog

/// The store as a disk cache of limited size, with the requests of real caches.
extension EskerSubject {
  /// Each trace on a store of its own.
  func capacityTraces() throws -> Measurement {
    let traces =
      try assignment.traces.map(readTraces)
      ?? [Trace(name: "made-up", keys: Order.zipfian(below: 20_000, count: 100_000, seed: 0xE5_4E4))]
    var measurement = Measurement(operations: 0, seconds: 0, hits: 0, checksum: 0)
    for trace in traces {
      let count = min(assignment.operations, trace.requests.count)
      let shortened =
        count == trace.requests.count
        ? trace : Trace(name: trace.name, keys: trace.requests.prefix(count).map { UInt64($0) })
      let begin = bench_nanoseconds()
      try request(shortened, &measurement)
      measurement.seconds += Double(bench_nanoseconds() - begin) * 1e-9
      measurement.operations += count
    }
    return measurement
  }

  /// Gets each key, and puts it if it is not there.
  ///
  /// The capacity is a twentieth of the bytes of all keys' records, including header and key; the simulated LRU holds
  /// exactly as many records.
  private func request(_ trace: Trace, _ measurement: inout Measurement) throws {
    let record = Int(limit_record_length(assignment.valueLength))
    let held = max(trace.uniqueCount / 20, 1)
    var options = Options()
    options.capacity = max(held * record, 256 << 10)
    let capacity = options.capacity ?? 0
    let esker = try EskerStore(at: assignment.storePath + "." + trace.name, options: options)
    let keys = KeyBuffer(numbers: Order.sequential(count: trace.uniqueCount))
    let value = ValueBuffer(length: assignment.valueLength)
    var lru = LRU(capacity: capacity / record, keyCount: trace.uniqueCount)
    var hitsOfLRU = 0
    var hits = 0
    var most = 0
    var mostPinned = 0
    for (step, key) in trace.requests.enumerated() {
      if lru.request(key) { hitsOfLRU += 1 }
      if try esker.get(keys[key], into: value.mutableBytes) != nil {
        hits += 1
        guard value.bytes.load(as: UInt64.self) == UInt64(key) else {
          throw BenchmarkError.wrongResult(cell: trace.name, expected: "key \(key)", found: "another's value")
        }
      } else {
        value.stamp(UInt64(key))
        try esker.put(value.bytes, forKey: keys[key])
      }
      if step % 64 == 0 {
        most = max(most, try DiskUse.bytes(at: esker.store.path))
        mostPinned = max(mostPinned, esker.store.statistics.pinnedBytes)
      }
    }
    let statistics = esker.store.statistics
    try esker.store.close()
    let requests = Double(trace.requests.count)
    measurement.hits += hits
    let ofKeyspace = try requestKeyspace(trace, capacity)
    let figures = [
      "keyspace of that capacity: hit ratio, more than a store's": Double(ofKeyspace - hits) / requests,
      "hit ratio": Double(hits) / requests,
      "hit ratio, more than LRU": Double(hits - hitsOfLRU) / requests,
      "write amplification": statistics.writeAmplification,
      "write amplification of records": 1 + Double(statistics.merged.bytesWritten) / Double(statistics.bytesLogged),
      "most on disk, share of capacity": Double(most) / Double(capacity),
      "most in removed files still in use, share of capacity": Double(mostPinned) / Double(capacity),
      "capacity, MB": Double(capacity) * 1e-6,
    ]
    for (name, figure) in figures { measurement.figures[trace.name + ": " + name] = figure }
  }

  /// The same requests to a keyspace of that capacity, in a store that has others; the hits.
  private func requestKeyspace(_ trace: Trace, _ capacity: Int) throws -> Int {
    let store = try LogStore(at: assignment.storePath + ".keyspace." + trace.name)
    let cache = try store.keyspace("cache", capacity: .bytes(capacity))
    let keys = KeyBuffer(numbers: Order.sequential(count: trace.uniqueCount))
    let value = ValueBuffer(length: assignment.valueLength)
    var hits = 0
    for (step, key) in trace.requests.enumerated() {
      if try cache.get(keys[key], into: value.mutableBytes) != nil {
        hits += 1
        guard value.bytes.load(as: UInt64.self) == UInt64(key) else {
          throw BenchmarkError.wrongResult(cell: trace.name, expected: "key \(key)", found: "another's value")
        }
      } else {
        value.stamp(UInt64(key))
        try cache.put(value.bytes, forKey: keys[key])
      }
      // What stays.
      if step % 16 == 0 { try store.put(value.bytes, forKey: keys[key]) }
      if step % 64 == 0, let taken = store.statistics.keyspaces["cache"]?.liveBytes, taken > capacity {
        throw BenchmarkError.wrongResult(cell: trace.name, expected: "at most \(capacity) bytes", found: "\(taken)")
      }
    }
    try store.close()
    return hits
  }
}
