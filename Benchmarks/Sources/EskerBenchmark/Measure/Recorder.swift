import CLimits
import Histogram

/// Called around each operation.
///
/// There are two conformances, so that the throughput pass has no timestamps in it.
protocol Recorder: Sendable {
  init()
  mutating func begin()
  mutating func end()
  /// Adds the records of another thread.
  mutating func add(_ other: Self)
}

/// Records nothing and costs nothing.
struct NoRecorder: Recorder {
  @inline(__always) mutating func begin() {}
  @inline(__always) mutating func end() {}
  mutating func add(_ other: NoRecorder) {}
}

/// Records each operation's time in a histogram; a reading includes one clock call, about 25 ns.
struct LatencyRecorder: Recorder {
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 60_000_000_000,
    numberOfSignificantValueDigits: .three
  )
  private var started: UInt64 = 0
  private var slowest: UInt64 = 0
  private var total: UInt64 = 0

  @inline(__always)
  mutating func begin() {
    started = bench_nanoseconds()
  }

  @inline(__always)
  mutating func end() {
    let elapsed = bench_nanoseconds() - started
    slowest = max(slowest, elapsed)
    total += elapsed
    histogram.record(elapsed)
  }

  mutating func add(_ other: LatencyRecorder) {
    histogram.add(other.histogram)
    slowest = max(slowest, other.slowest)
    total += other.total
  }

  var isEmpty: Bool { total == 0 }

  /// The total time of all operations.
  var seconds: Double { Double(total) * 1e-9 }

  var latency: Latency {
    Latency(
      p50: histogram.valueAtPercentile(50),
      p99: histogram.valueAtPercentile(99),
      p999: histogram.valueAtPercentile(99.9),
      max: slowest
    )
  }
}
