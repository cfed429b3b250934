/// What one process measured.
struct Measurement: Codable {
  var operations: Int
  var seconds: Double
  /// How many of the keys were found.
  var hits: Int
  /// Sum of the stamps read, so that both sides can be seen to have read the same values.
  var checksum: UInt64
  /// Figures only some cells have, by name with unit.
  var figures: [String: Double] = [:]
  var latency: Latency?

  var rate: Double { Double(operations) / seconds }
}

/// Percentiles of single operations, in nanoseconds.
struct Latency: Codable {
  var p50: UInt64
  var p99: UInt64
  var p999: UInt64
  var max: UInt64
}
