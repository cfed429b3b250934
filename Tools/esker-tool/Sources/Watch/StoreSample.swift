import Esker

/// A store's state at one moment, as far as visible from outside.
struct StoreSample {
  /// The source of the figures.
  enum Source: String {
    /// The process that has the store open for writing.
    case published
    /// A reader of the log of that process: it sees neither calls that log nothing nor latencies.
    case followed
  }

  var source: Source
  var statistics: Statistics
  var segments: Int
  var sealedSegments: Int
  /// Seconds on a monotonic clock.
  var seconds: Double
  /// Of the publishing process.
  var processID: Int32?
  var uptime: Duration?
  /// Whether the figures are old: the process is hanging.
  var isStale = false

  init(_ published: Statistics.Published, now: WallTime) {
    source = .published
    statistics = published.statistics
    segments = published.segmentCount
    sealedSegments = published.sealedSegmentCount
    seconds = published.uptime.seconds
    processID = published.processID
    uptime = published.uptime
    let age = (Double(now.millisecondsSince1970) - Double(published.publishedAt.millisecondsSince1970)) / 1000
    isStale = age > max(2, published.interval.seconds * 5)
  }

  /// What the process that has a store open for writing has published lately; nil if there is none.
  static func published(at path: String) -> Statistics.Published? {
    guard let published = try? LogStore.publishedStatistics(at: path) else { return nil }
    return StoreSample(published, now: Options.Clock.system.now()).isStale ? nil : published
  }

  init(_ store: LogStore, seconds: Double) {
    source = .followed
    statistics = store.statistics
    segments = statistics.segments.count
    sealedSegments = statistics.segments.count { $0.isSealed }
    self.seconds = seconds
  }
}

/// The change between two samples.
struct StoreRates {
  var writes = 0.0
  var bytesLogged: Double?
  var bytesWritten: Double?
  /// Gets that returned a value, estimated from those that were timed.
  var gets: Double?
  var syncs: Double?
  var puts = Statistics.Histogram()
  var getTimes = Statistics.Histogram()
  var syncTimes = Statistics.Histogram()

  /// One in this many calls is timed.
  private static let sampling = 128.0

  /// Nil unless the samples are from the same opening of the store, at different moments.
  init?(from before: StoreSample, to after: StoreSample) {
    let seconds = after.seconds - before.seconds
    guard before.source == after.source, before.processID == after.processID, seconds > 0 else { return nil }
    let (old, new) = (before.statistics, after.statistics)
    writes = max(0, Double(new.lastSequence.rawValue) - Double(old.lastSequence.rawValue)) / seconds
    guard after.source == .published else { return }
    bytesLogged = max(0, Double(new.bytesLogged) - Double(old.bytesLogged)) / seconds
    bytesWritten = max(0, Double(new.bytesWritten) - Double(old.bytesWritten)) / seconds
    puts = new.puts.since(old.puts)
    getTimes = new.gets.since(old.gets)
    syncTimes = new.syncs.since(old.syncs)
    gets = Double(getTimes.count) * Self.sampling / seconds
    syncs = Double(syncTimes.count) / seconds
  }
}
