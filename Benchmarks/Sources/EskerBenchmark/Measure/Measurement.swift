/// What one process measured.
struct Measurement: Codable {
  /// Those behind the time: all, or the share that was not timed one by one.
  var operations: Int
  var seconds: Double
  /// How many of the keys were found.
  var hits: Int
  /// Sum of the stamps read, so that all subjects can be seen to have read the same values.
  var checksum: UInt64
  /// Figures only some cells have, by name with unit.
  var figures: [String: Double] = [:]
  var latency: Latency?
  /// Bytes allocated to the store's files after it was closed.
  var diskBytes: Int?
  /// What the store added to the process's own memory.
  var memoryBytes: Int?
  /// The same with the pages of mapped files that are resident.
  var residentBytes: Int?
  /// What the measured operations made dirty or wrote, as the kernel accounts it.
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
