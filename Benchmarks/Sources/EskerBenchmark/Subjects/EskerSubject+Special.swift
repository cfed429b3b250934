import CLimits

extension EskerSubject {
  /// A fill that samples the size of the index throughout and times each put.
  func growth() throws -> Measurement {
    let esker = try EskerStore(at: assignment.storePath)
    let value = ValueBuffer(length: assignment.valueLength)
    let key = UnsafeMutablePointer<UInt8>.allocate(capacity: KeyBuffer.keyLength)
    defer { key.deallocate() }
    let keyBytes = UnsafeRawBufferPointer(start: key, count: KeyBuffer.keyLength)
    var recorder = LatencyRecorder()
    var most = 0.0
    var sum = 0.0
    var samples = 0
    let anonymous = Double(bench_anonymous_bytes())
    let begin = bench_nanoseconds()
    for index in 0..<assignment.keys {
      bench_key(UInt64(index), key)
      value.stamp(UInt64(index))
      recorder.begin()
      try esker.put(value.bytes, forKey: keyBytes)
      recorder.end()
      // Below 100,000 keys the fixed part of the index outweighs the keys.
      if index % 4_096 == 4_095, index >= 100_000 {
        let bytesPerKey = Double(esker.indexBytes) / Double(index + 1)
        most = max(most, bytesPerKey)
        sum += bytesPerKey
        samples += 1
      }
    }
    let seconds = Double(bench_nanoseconds() - begin) * 1e-9
    let keys = Double(assignment.keys)
    var measurement = Measurement(operations: assignment.keys, seconds: seconds, hits: assignment.keys, checksum: 0)
    measurement.latency = recorder.latency
    measurement.figures = [
      "index B/key, mean over the fill": sum / Double(max(samples, 1)),
      "index B/key, most at any moment": most,
      "index B/key, at the end": Double(esker.indexBytes) / keys,
      "growth of the process's anonymous memory, B/key": (Double(bench_anonymous_bytes()) - anonymous) / keys,
      "slowest put, ms": Double(recorder.latency.max) * 1e-6,
    ]
    try esker.store.close()
    return measurement
  }
}
