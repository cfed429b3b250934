import Esker

/// The figures of a store over the last looks, with only a bounded number of them in memory.
struct WatchHistory {
  struct Point {
    /// Seconds on a monotonic clock.
    let seconds: Double
    let writes: Double?
    let bytesOnDisk: Double?
    /// Nil where the store's process publishes nothing.
    let gets: Double?
    /// Seconds that 99 of 100 calls did not exceed; nil where none was timed.
    let puts: Double?
    let getTimes: Double?
  }

  /// One figure over time.
  struct Series {
    /// Oldest first: the value, and its share of the time, from 0 to 1.
    fileprivate(set) var points: [(share: Double, value: Double)] = []
    /// How far back they go.
    fileprivate(set) var seconds = 0.0
  }

  private(set) var points: [Point] = []

  private static let most = 240

  mutating func add(_ rates: StoreRates?, of sample: StoreSample) {
    points.append(
      Point(
        seconds: sample.seconds,
        writes: rates?.writes ?? 0,
        bytesOnDisk: Double(sample.statistics.bytesOnDisk),
        gets: rates?.gets,
        puts: Self.most(of: rates?.puts),
        getTimes: Self.most(of: rates?.getTimes)
      )
    )
    if points.count > Self.most { points.removeFirst() }
  }

  private static func most(of histogram: Statistics.Histogram?) -> Double? {
    WatchReport.filled(histogram)?.quantile(0.99).seconds
  }

  /// Writes per second, oldest first.
  var writes: [Double] { points.compactMap(\.writes) }

  /// A figure from where it was first known until now; a look at which it was not known leaves a straight line.
  func series(_ figure: KeyPath<Point, Double?>) -> Series {
    var series = Series()
    let known = points.drop { $0[keyPath: figure] == nil }
    guard let first = known.first?.seconds, let last = known.last?.seconds else { return series }
    series.seconds = max(0, last - first)
    series.points = known.compactMap { point in
      guard let value = point[keyPath: figure] else { return nil }
      return (series.seconds > 0 ? (point.seconds - first) / series.seconds : 0, value)
    }
    return series
  }
}
