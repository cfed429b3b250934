#if Metrics
  internal import CoreMetrics
  internal import Esker

  /// The meters, counters and timers for one subject, each created when first used.
  ///
  /// Safety: may be sent to another thread, since only the queue of `polling` uses it, one sample after another.
  final class Instruments: @unchecked Sendable {
    private static let mostDurations = 100

    private let label: String
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private var meters: [String: Meter] = [:]
    private var counters: [String: (counter: Counter, last: Int)] = [:]
    private var timers: [String: (timer: Timer, last: Statistics.Histogram)] = [:]

    init(_ label: String, _ dimensions: [(String, String)], _ factory: any MetricsFactory) {
      self.label = label
      self.dimensions = dimensions
      self.factory = factory
    }

    private func named(_ name: String) -> String { "\(label)_\(name)" }

    func set(_ name: String, _ value: some BinaryInteger, _ part: (String, String)? = nil) {
      set(name, Double(value), part)
    }

    /// - Parameter part: The part of the subject that the value is of.
    func set(_ name: String, _ value: Double, _ part: (String, String)? = nil) {
      let key = part.map { "\(name) \($0.1)" } ?? name
      let parts = part.map { [$0] } ?? []
      let meter = meters[key] ?? Meter(label: named(name), dimensions: dimensions + parts, factory: factory)
      meters[key] = meter
      meter.set(value)
    }

    /// Adds the growth of a total since the last call.
    func count(_ name: String, _ total: Int) {
      let (counter, last) =
        counters[name] ?? (Counter(label: named(name), dimensions: dimensions, factory: factory), 0)
      if total > last { counter.increment(by: total - last) }
      counters[name] = (counter, total)
    }

    /// Records the durations added to a histogram since the last call.
    func record(_ name: String, _ histogram: Statistics.Histogram) {
      let (timer, last) =
        timers[name] ?? (Timer(label: named(name), dimensions: dimensions, factory: factory), Statistics.Histogram())
      for duration in histogram.spread(since: last, most: Self.mostDurations) {
        timer.recordNanoseconds(duration.wholeNanoseconds)
      }
      timers[name] = (timer, histogram)
    }
  }

  extension Statistics.Histogram {
    /// At most `most` durations that represent those counted since `earlier`: evenly spaced quantiles, each rounded to the
    /// middle of its bucket.
    func spread(since earlier: Statistics.Histogram, most: Int) -> [Duration] {
      let counts = zip(counts, earlier.counts).map { max(0, $0 - $1) }
      let total = counts.reduce(0, +)
      let wanted = min(total, most)
      var durations: [Duration] = []
      var passed = 0
      for (bucket, count) in counts.enumerated() where count > 0 {
        passed += count
        let range = Self.range(of: bucket)
        let middle = (range.lowerBound + range.upperBound) / 2
        // The n-th duration represents the middle of the n-th of equal shares.
        while durations.count < wanted, (2 * durations.count + 1) * total < 2 * passed * wanted {
          durations.append(middle)
        }
      }
      return durations
    }
  }

  extension Duration {
    var wholeNanoseconds: Int64 {
      let (seconds, attoseconds) = components
      let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      if overflow { return seconds < 0 ? 0 : .max }
      return product + attoseconds / 1_000_000_000
    }
  }
#endif
