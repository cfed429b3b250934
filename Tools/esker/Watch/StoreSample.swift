import Esker

/// How a store is at one moment, as far as it can be seen from outside.
struct StoreSample {
  /// Who says so.
  enum Source: String {
    /// The process that has the store open for writing.
    case published
    /// A reader of what that process logs: it does not see calls that log nothing, nor how long they take.
    case followed
  }

  var source: Source
  var statistics: Statistics
  var segments: Int
  var sealedSegments: Int
  /// Seconds by a clock that goes evenly.
  var seconds: Double
  /// Of who publishes.
  var processID: Int32?
  var uptime: Duration?
  var capacity: Int?
  /// The figures are old: the process has ended without closing the store, or stands still.
  var isStale = false

  init(_ published: PublishedStatistics, now: WallTime) {
    source = .published
    statistics = published.statistics
    segments = published.segmentCount
    sealedSegments = published.sealedSegmentCount
    seconds = published.uptime.seconds
    processID = published.processID
    uptime = published.uptime
    capacity = published.capacity
    let age = (Double(now.millisecondsSince1970) - Double(published.publishedAt.millisecondsSince1970)) / 1000
    isStale = age > max(2, published.interval.seconds * 5)
  }

  init(_ store: LogStore, seconds: Double) {
    source = .followed
    statistics = store.statistics
    segments = statistics.segments.count
    sealedSegments = statistics.segments.count { $0.isSealed }
    self.seconds = seconds
  }
}

/// What happened between two samples.
struct StoreRates {
  var writes = 0.0
  var bytesLogged: Double?
  var bytesWritten: Double?
  /// Calls that returned a value, estimated from those that were timed.
  var gets: Double?
  var syncs: Double?
  var puts = LatencyHistogram()
  var getTimes = LatencyHistogram()
  var syncTimes = LatencyHistogram()

  /// One call in so many is timed.
  private static let sampling = 128.0

  /// Nil when the samples are not of the same opening of the store, or of the same moment.
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
