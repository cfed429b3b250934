/// What the file `statistics` says: figures that a process with the store open for writing publishes for others to see.
///
/// The file is written over in place, all of it by one call. A reader that comes amid that finds a checksum that does not
/// match, and reads again.
public struct StatisticsImage: Hashable, Sendable {
  /// Bytes of the file.
  public static let length = 8192
  /// How many of them say whose file it is.
  public static let signatureLength = 32
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

  /// Where magic and id stand again, so that whichever page is lost, the other tells whose file it is.
  private static let signatureOffset = length - 32

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
    bytes.store(Self.envelope.magic, at: Self.signatureOffset)
    bytes.store(storeID.low, at: Self.signatureOffset + 8)
    bytes.store(storeID.high, at: Self.signatureOffset + 16)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Whether a file with these bytes is a store's statistics, or what a crash left of them: of another version perhaps, cut
  /// short, torn, or nothing but zeros.
  ///
  /// - Parameter bytes: all of the file, or the first ``length`` bytes and more.
  public static func isOurs(_ bytes: RawSpan, of storeID: StoreID) -> Bool {
    if bytes.byteCount <= length, bytes.firstNonzero(in: 0..<bytes.byteCount) == nil { return true }
    func isSigned(at offset: Int, id: Int) -> Bool {
      bytes.byteCount >= id + 16 && bytes.u64(at: offset) == envelope.magic
        && StoreID(low: bytes.u64(at: id), high: bytes.u64(at: id + 8)) == storeID
    }
    return isSigned(at: 0, id: 16)
      || bytes.byteCount == length && isSigned(at: signatureOffset, id: signatureOffset + 8)
  }

  /// Decodes the file's bytes.
  public init(decoding bytes: RawSpan) throws(FormatError) {
    try Self.envelope.check(bytes)
    try bytes.requireZeros(in: 36..<40)
    try bytes.requireZeros(in: 72..<Self.figuresOffset)
    let end = Self.histogramsOffset + Self.histogramCount * Self.histogramLength
    try bytes.requireZeros(in: end..<Self.signatureOffset)
    try bytes.requireZeros(in: Self.signatureOffset + 24..<Self.length - 4)
    guard Self.isOurs(bytes, of: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24))),
      bytes.u64(at: Self.signatureOffset) == Self.envelope.magic
    else { throw .damaged(reason: "its beginning and its end do not belong together", offset: Self.signatureOffset) }
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
