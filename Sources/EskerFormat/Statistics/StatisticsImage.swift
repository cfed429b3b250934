/// What the file `statistics` says: figures that a process with the store open for writing publishes for others to see.
///
/// The file is written over in place, all of it by one call. A reader that comes amid that finds a checksum that does not
/// match, and reads again.
public struct StatisticsImage: Hashable, Sendable {
  /// Bytes of the file.
  public static let length = 8192
  /// How many plain figures there is room for.
  public static let figureCount = 48
  /// How many histograms there are.
  public static let histogramCount = 3
  /// How many durations a histogram tells apart.
  public static let bucketCount = 252

  /// A histogram of durations.
  public struct Histogram: Hashable, Sendable {
    /// How many durations each bucket counts.
    public var counts = [UInt64](repeating: 0, count: StatisticsImage.bucketCount)
    /// Nanoseconds of all together.
    public var total: UInt64 = 0
    /// Nanoseconds of the longest.
    public var maximum: UInt64 = 0

    /// A histogram of nothing.
    public init() {}
  }

  /// The store.
  public var storeID: StoreID
  /// The process that publishes.
  public var processID: UInt32 = 0
  /// When the store was opened, by the wall clock.
  public var openedAt: Int64 = 0
  /// When this was written, by the wall clock.
  public var publishedAt: Int64 = 0
  /// Milliseconds from one writing to the next.
  public var interval: UInt64 = 0
  /// Nanoseconds from the opening to this writing, by a clock that nobody sets.
  public var uptime: UInt64 = 0
  /// Figures in a fixed order; those behind the last one known are zero.
  public var figures = [UInt64](repeating: 0, count: Self.figureCount)
  /// Of puts, gets and syncs.
  public var histograms = [Histogram](repeating: Histogram(), count: Self.histogramCount)

  /// An image of nothing.
  public init(storeID: StoreID) {
    self.storeID = storeID
  }

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRSTA1"),
    length: length,
    checksumOffset: length - 4,
    featuresOffset: 12
  )

  private static let figuresOffset = 80
  private static let histogramsOffset = figuresOffset + 8 * figureCount
  private static let histogramLength = 8 * (bucketCount + 2)

  /// The file's bytes.
  public func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.store(storeID.low, at: 16)
    bytes.store(storeID.high, at: 24)
    bytes.store(processID, at: 32)
    bytes.store(openedAt, at: 40)
    bytes.store(publishedAt, at: 48)
    bytes.store(interval, at: 56)
    bytes.store(uptime, at: 64)
    for (index, figure) in figures.prefix(Self.figureCount).enumerated() {
      bytes.store(figure, at: Self.figuresOffset + 8 * index)
    }
    for (index, histogram) in histograms.prefix(Self.histogramCount).enumerated() {
      let start = Self.histogramsOffset + Self.histogramLength * index
      bytes.store(histogram.total, at: start)
      bytes.store(histogram.maximum, at: start + 8)
      for (bucket, count) in histogram.counts.prefix(Self.bucketCount).enumerated() {
        bytes.store(count, at: start + 16 + 8 * bucket)
      }
    }
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// The store that a file with these first bytes is of, whatever its version and however much of it is there; nil when it
  /// is no such file.
  public static func storeID(beginning bytes: RawSpan) -> StoreID? {
    guard bytes.byteCount >= 32, bytes.u64(at: 0) == envelope.magic else { return nil }
    return StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24))
  }

  /// Decodes the file's bytes.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    try Self.envelope.check(bytes)
    try bytes.requireZeros(in: 36..<40)
    try bytes.requireZeros(in: 72..<Self.figuresOffset)
    try bytes.requireZeros(in: Self.histogramsOffset + Self.histogramCount * Self.histogramLength..<Self.length - 4)
    self.init(storeID: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24)))
    processID = bytes.u32(at: 32)
    openedAt = bytes.i64(at: 40)
    publishedAt = bytes.i64(at: 48)
    interval = bytes.u64(at: 56)
    uptime = bytes.u64(at: 64)
    for index in 0..<Self.figureCount { figures[index] = bytes.u64(at: Self.figuresOffset + 8 * index) }
    for index in 0..<Self.histogramCount {
      let start = Self.histogramsOffset + Self.histogramLength * index
      histograms[index].total = bytes.u64(at: start)
      histograms[index].maximum = bytes.u64(at: start + 8)
      for bucket in 0..<Self.bucketCount { histograms[index].counts[bucket] = bytes.u64(at: start + 16 + 8 * bucket) }
    }
  }
}
