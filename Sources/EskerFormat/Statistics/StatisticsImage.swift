/// The contents of the file `statistics`: figures that a process with the store open for writing publishes for others.
///
/// The whole file is overwritten in place by a single call. A reader that overlaps with it finds a checksum mismatch, and
/// retries.
public struct StatisticsImage: Hashable, Sendable {
  /// The length in bytes of the file.
  public static let length = 8192
  /// The number of leading bytes that identify the file.
  public static let signatureLength = 32
  /// The number of slots for plain figures.
  public static let figureCount = 48
  /// The number of histograms.
  public static let histogramCount = 3
  /// The number of buckets in a histogram.
  public static let bucketCount = 252

  /// A histogram of durations.
  public struct Histogram: Hashable, Sendable {
    /// The number of durations in each bucket.
    public var counts = [UInt64](repeating: 0, count: StatisticsImage.bucketCount)
    /// The sum of all durations, in nanoseconds.
    public var total: UInt64 = 0
    /// The longest duration, in nanoseconds.
    public var maximum: UInt64 = 0

    /// Creates an empty histogram.
    public init() {}
  }

  /// The store.
  public var storeID: StoreID
  /// The process that publishes the statistics.
  public var processID: UInt32 = 0
  /// When the store was opened, in wall-clock time.
  public var openedAt: Int64 = 0
  /// When the file was written, in wall-clock time.
  public var publishedAt: Int64 = 0
  /// Milliseconds between writes of the file.
  public var interval: UInt64 = 0
  /// Nanoseconds from the opening of the store to the writing of the file, by the monotonic clock.
  public var uptime: UInt64 = 0
  /// Figures in a fixed order; unused slots are zero.
  public var figures = [UInt64](repeating: 0, count: Self.figureCount)
  /// The store's settings.
  public var settings = StoredSettings()
  /// Durations of puts, gets and syncs.
  public var histograms = [Histogram](repeating: Histogram(), count: Self.histogramCount)

  /// Creates an empty image.
  public init(storeID: StoreID) {
    self.storeID = storeID
  }

  static let envelope = Envelope(
    magic: Envelope.magic("ESKRSTA1"),
    length: length,
    checksumOffset: length - 4,
    featuresOffset: 12
  )

  /// Where magic and identity are repeated, so that if either page is lost, the other still identifies the file.
  private static let signatureOffset = length - 32

  private static let figuresOffset = 80
  private static let histogramsOffset = figuresOffset + 8 * figureCount
  private static let histogramLength = 8 * (bucketCount + 2)
  private static let settingsOffset = histogramsOffset + histogramCount * histogramLength

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
    var tail: [UInt8] = []
    settings.append(to: &tail)
    bytes.replaceSubrange(Self.settingsOffset..<Self.settingsOffset + tail.count, with: tail)
    bytes.store(Self.envelope.magic, at: Self.signatureOffset)
    bytes.store(storeID.low, at: Self.signatureOffset + 8)
    bytes.store(storeID.high, at: Self.signatureOffset + 16)
    Self.envelope.seal(&bytes)
    return bytes
  }

  /// Whether a file with these bytes is a store's statistics, or what a crash left of them: possibly of another version,
  /// truncated, torn, or all zeros.
  ///
  /// - Parameter bytes: The whole file, or at least its first ``length`` bytes.
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
    let end = Self.settingsOffset + StoredSettings.length
    try bytes.requireZeros(in: end..<Self.signatureOffset)
    try bytes.requireZeros(in: Self.signatureOffset + 24..<Self.length - 4)
    guard Self.isOurs(bytes, of: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24))),
      bytes.u64(at: Self.signatureOffset) == Self.envelope.magic
    else { throw .damaged(reason: "its beginning and its end do not belong together", offset: Self.signatureOffset) }
    self.init(storeID: StoreID(low: bytes.u64(at: 16), high: bytes.u64(at: 24)))
    settings = try StoredSettings(decoding: bytes, at: Self.settingsOffset)
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
