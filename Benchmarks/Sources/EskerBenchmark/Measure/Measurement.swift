/// The result of one process.
struct Measurement: Codable {
  /// The number of operations behind the time: all, or those not timed individually.
  var operations: Int
  var seconds: Double
  /// The number of keys found.
  var hits: Int
  /// The sum of the stamps read, so that all subjects can be seen to have read the same values.
  var checksum: UInt64
  /// Figures that only some cells have, by name with unit.
  var figures: [String: Double] = [:]
  var latency: Latency?
  /// The bytes allocated for the store's files after it was closed.
  var diskBytes: Int?
  /// The memory that the store added to the process.
  var memoryBytes: Int?
  /// The same including resident pages of mapped files.
  var residentBytes: Int?
  /// The bytes that the measured operations dirtied or wrote, as accounted by the kernel.
  var writtenBytes: Int?

  var rate: Double { Double(operations) / seconds }
}

extension Measurement {
  init(_ pace: Pace) {
    self.init(
      operations: pace.operations,
      seconds: pace.seconds,
      hits: pace.tally.hits,
      checksum: pace.tally.checksum,
      figures: pace.figures,
      latency: pace.latency
    )
  }
}

/// Percentiles of single operations, in nanoseconds.
struct Latency: Codable {
  var p50: UInt64
  var p99: UInt64
  var p999: UInt64
  var max: UInt64
}
