import ArgumentParser
import Esker

/// What a benchmark does, again and again.
enum BenchWorkload: String, ExpressibleByArgument, CaseIterable {
  /// Puts of new keys, as many as there are records.
  case fill
  /// Gets of keys chosen evenly.
  case read
  /// Gets and puts in equal parts, of keys chosen evenly.
  case mixed
  /// Gets of keys of which a few are asked for again and again.
  case zipfian
  /// Puts that return when they survive a power cut.
  case durable
}

/// How large it is.
struct BenchPlan {
  var records: Int
  var keyLength: Int
  var valueLength: Int
  var threads: Int
  /// How long each workload but the fill goes on.
  var seconds: Double
}

/// What one workload did.
struct BenchResult {
  var workload: BenchWorkload
  var operations = 0
  var seconds = 0.0
  var latencies = LatencyHistogram()

  var rate: Double { Double(operations) / max(seconds, 1e-9) }
}
