import CLimits
import EskerLog

/// Overwrites with merging enabled, and without for comparison.
extension EskerSubject {
  func overwriteMerging() throws -> Measurement {
    let off = try overwriteRandomly(isMerging: false, operations: min(assignment.operations, 5 * assignment.keys))
    let on = try overwriteRandomly(isMerging: true, operations: assignment.operations)
    var measurement = Measurement(operations: assignment.operations, seconds: on.seconds, hits: 0, checksum: 0)
    measurement.latency = on.puts.latency
    measurement.figures = on.figures
    measurement.figures["rate, share of merging off"] = on.rate / off.rate
    measurement.figures["gets a second beside it, share of merging off"] = on.getRate / off.getRate
    measurement.figures["get p99.9, µs"] = Double(on.gets.latency.p999) * 1e-3
    measurement.figures["put p99.9, µs"] = Double(on.puts.latency.p999) * 1e-3
    measurement.figures["slowest put, ms"] = Double(on.puts.latency.max) * 1e-6
    return measurement
  }

  private struct Run {
    var seconds = 0.0
    var rate = 0.0
    var getRate = 0.0
    var puts = LatencyRecorder()
    var gets = LatencyRecorder()
    var figures: [String: Double] = [:]
  }

  /// Overwrites keys in random order; at every thousandth it stops to read a few, and to sample the disk use.
  private func overwriteRandomly(isMerging: Bool, operations: Int) throws -> Run {
    let esker = try EskerStore(at: assignment.storePath + (isMerging ? "" : ".off"), isMerging: isMerging)
    let value = ValueBuffer(length: assignment.valueLength)
    let stored = KeyBuffer(numbers: Order.sequential(count: assignment.keys))
    try Puts(session: esker, keys: stored, first: 0, value: value).run(0..<stored.count)
    try esker.store.sync()
    var run = Run()
    var random = UInt64(0xE5_4E4)
    var getCount = 0
    var mostBytes = 0.0
    let before = esker.store.statistics
    // Every key is live: a header of 32 bytes, key, value, padding, and eleven bytes in a footer.
    let live = Double(assignment.keys * ((32 + KeyBuffer.keyLength + assignment.valueLength + 7) / 8 * 8 + 11))
    let room = Double(2 * esker.store.statistics.settings.segmentSize)
    for step in 0..<operations {
      random = bench_mix(random &+ UInt64(step))
      let key = stored[Int(random % UInt64(assignment.keys))]
      value.stamp(UInt64(step))
      run.puts.begin()
      try esker.put(value.bytes, forKey: key)
      run.puts.end()
      guard step % (1 << 17) == (1 << 17) - 1 else { continue }
      for number in 0..<4096 {
        random = bench_mix(random &+ UInt64(number))
        let key = stored[Int(random % UInt64(assignment.keys))]
        run.gets.begin()
        _ = try esker.get(key, into: value.mutableBytes)
        run.gets.end()
      }
      getCount += 4096
      mostBytes = max(mostBytes, Double(esker.store.statistics.bytesOnDisk))
    }
    run.seconds = run.puts.seconds
    run.rate = Double(operations) / run.seconds
    run.getRate = Double(getCount) / run.gets.seconds
    let after = esker.store.statistics
    run.figures = [
      "most on disk, of live bytes": mostBytes / live,
      "most on disk besides two segments, of live bytes": (mostBytes - room) / live,
      "most on disk, MB": mostBytes * 1e-6,
      "write amplification": Double(after.bytesWritten - before.bytesWritten)
        / Double(after.bytesLogged - before.bytesLogged),
      "merges": Double(after.merges),
      "segments": Double(after.segments.count),
    ]
    try esker.store.close()
    return run
  }
}
