extension Statistics {
  /// Durations counted by size, with a resolution of a quarter.
  ///
  /// As in Gil Tene's HdrHistogram, each power of two is divided evenly, here into four buckets.
  public struct Histogram: Sendable, Hashable {
    /// `counts[n]` is the number of durations in the ``range(of:)`` of bucket n.
    public private(set) var counts = [Int](repeating: 0, count: Statistics.Histogram.bucketCount)
    /// The number of durations counted.
    public private(set) var count = 0
    /// The sum of the durations.
    public private(set) var total: Duration = .zero
    /// The longest duration.
    public private(set) var maximum: Duration = .zero

    static let bucketCount = 252

    /// Creates an empty histogram.
    public init() {}

    /// The durations that a bucket counts.
    public static func range(of bucket: Int) -> Range<Duration> {
      // A duration of nanoseconds that are no integer is there only from macOS 26 and iOS 26 on. These are whole.
      .nanoseconds(UInt128(lowest(bucket)))..<(.nanoseconds(UInt128(lowest(bucket + 1))))
    }

    private static func lowest(_ bucket: Int) -> Double {
      guard bucket >= 4 else { return Double(bucket) }
      return Double(4 + bucket % 4) * Double(sign: .plus, exponent: bucket / 4 - 1, significand: 1)
    }

    /// The bucket of a duration: its highest bit, and the two after that.
    static func bucket(of nanoseconds: UInt64) -> Int {
      guard nanoseconds >= 4 else { return Int(nanoseconds) }
      let shift = 61 - nanoseconds.leadingZeroBitCount
      return shift * 4 + Int(nanoseconds >> UInt64(shift))
    }

    /// Counts a duration; a negative one counts as zero.
    public mutating func record(_ duration: Duration) {
      record(nanoseconds: duration.wholeNanoseconds)
    }

    /// Adds the counts of another histogram.
    public mutating func add(_ other: Statistics.Histogram) {
      for (bucket, number) in other.counts.enumerated() { counts[bucket] += number }
      count += other.count
      total += other.total
      maximum = max(maximum, other.maximum)
    }

    /// The durations counted since an earlier state of the same histogram.
    ///
    /// The longest of them is known only with a resolution of a quarter.
    public func since(_ earlier: Statistics.Histogram) -> Statistics.Histogram {
      var result = Statistics.Histogram()
      for (bucket, number) in counts.enumerated() where number > earlier.counts[bucket] {
        result.counts[bucket] = number - earlier.counts[bucket]
        result.count += result.counts[bucket]
        result.maximum = min(maximum, Self.range(of: bucket).upperBound)
      }
      result.total = max(.zero, total - earlier.total)
      return result
    }

    mutating func record(nanoseconds: UInt64) {
      add(1, to: Self.bucket(of: nanoseconds), totalNanoseconds: nanoseconds, maximumNanoseconds: nanoseconds)
    }

    mutating func add(_ number: Int, to bucket: Int, totalNanoseconds: UInt64 = 0, maximumNanoseconds: UInt64 = 0) {
      counts[bucket] += number
      count += number
      total += .nanoseconds(Int64(clamping: totalNanoseconds))
      maximum = max(maximum, .nanoseconds(Int64(clamping: maximumNanoseconds)))
    }

    /// A duration that the given share (0 to 1) of all durations does not exceed; at most a quarter above the exact
    /// quantile. Another share counts as the nearer of the two, and what is not a number as 1.
    public func quantile(_ share: Double) -> Duration {
      let share = share.isNaN ? 1 : min(max(share, 0), 1)
      var remaining = Int((Double(count) * share).rounded(.up))
      for (bucket, number) in counts.enumerated() {
        remaining -= number
        if remaining <= 0 { return min(maximum, Self.range(of: bucket).upperBound) }
      }
      return maximum
    }
  }
}
