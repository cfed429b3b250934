/// The rates of a store over the last looks, with only a bounded number of them in memory.
struct WatchHistory {
  struct Point {
    /// Seconds on a monotonic clock.
    let seconds: Double
    let writes: Double
    /// Nil where the store's process publishes nothing.
    let gets: Double?
  }

  private(set) var points: [Point] = []

  private static let most = 240

  mutating func add(_ rates: StoreRates?, at seconds: Double) {
    points.append(Point(seconds: seconds, writes: rates?.writes ?? 0, gets: rates?.gets))
    if points.count > Self.most { points.removeFirst() }
  }

  /// Writes per second, oldest first.
  var writes: [Double] { points.map(\.writes) }

  /// Gets per second, as far back as they are known without a gap.
  var gets: [Double] { Array(points.reversed().prefix { $0.gets != nil }.compactMap(\.gets).reversed()) }

  /// How far back it goes.
  var seconds: Double { (points.last?.seconds ?? 0) - (points.first?.seconds ?? 0) }
}
