import ArgumentParser
import Esker

/// The operations of a benchmark.
enum BenchWorkload: String, ExpressibleByArgument, CaseIterable {
  /// Puts of new keys, as many as there are records.
  case fill
  /// Gets of uniformly chosen keys.
  case read
  /// Gets and puts in equal parts, of uniformly chosen keys.
  case mixed
  /// Gets with a Zipfian distribution: a few keys are read again and again.
  case zipfian
  /// Puts that return once they survive a power failure.
  case durable
}

/// The size of a benchmark.
struct BenchPlan {
  var records: Int
  var keyLength: Int
  var valueLength: Int
  var threads: Int
  /// The duration of each workload except the fill.
  var seconds: Double
}

/// The results of one workload.
struct BenchResult {
  var workload: BenchWorkload
  var operations = 0
  var seconds = 0.0
  var latencies = Statistics.Histogram()

  var rate: Double { Double(operations) / max(seconds, 1e-9) }
}
