import CLimits

/// Measures from the call that opens to the first value, or to the first hundred in order; then checks how many of the last puts are there.
func measureOpen<E: Engine>(_ assignment: Assignment, _ open: () throws -> E) throws -> Measurement {
  let key = KeyBuffer(numbers: CollectionOfOne(UInt64(assignment.keys / 2)))
  let isOrdered = assignment.workload == .openOrdered
  let out = ValueBuffer(length: assignment.valueLength * (isOrdered ? ScanKind.mostAtOnce : 1))
  let last = KeyBuffer(numbers: Order.sequential(from: assignment.keys - 1_000, count: 1_000))
  var tally = Tally()
  let before = Resources.now()
  let begin = bench_nanoseconds()
  let engine = try open()
  let opened = bench_nanoseconds()
  let session = try engine.session()
  if isOrdered {
    let range = ScanRange(start: key[0], limit: ScanKind.mostAtOnce)
    tally = try session.scan(range, into: out.mutableBytes, stride: assignment.valueLength)
  } else if try session.get(key[0], into: out.mutableBytes) != nil {
    tally.add(out.bytes)
  }
  let end = bench_nanoseconds()
  let after = Resources.now()
  if !isOrdered, tally.checksum != key.checksum {
    throw BenchmarkError.wrongResult(
      cell: assignment.workload.rawValue,
      expected: "\(key.checksum)",
      found: "\(tally.checksum)"
    )
  }
  let found = try Gets(session: session, keys: last, out: out).run(0..<last.count)
  try session.end()
  try engine.close()
  var measurement = Measurement(
    operations: assignment.keys,
    seconds: Double(end - begin) * 1e-9,
    hits: tally.hits,
    checksum: tally.checksum
  )
  measurement.memoryBytes = max(0, after.anonymous - before.anonymous)
  measurement.residentBytes = max(0, after.resident - before.resident)
  measurement.figures = [
    isOrdered ? "first scan alone, µs" : "first get alone, µs": Double(end - opened) * 1e-3,
    "of the last 1,000 puts, lost": Double(last.count - found.hits),
  ]
  return measurement
}
