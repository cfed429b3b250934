internal import EskerFormat

/// The figures of a published image, in the order in which they are stored. On disk: never renumber.
private enum Figure: Int {
  case keys = 0
  case liveBytes = 1
  case deadBytes = 2
  case bytesOnDisk = 3
  case indexBytes = 4
  /// In millionths.
  case indexLoad = 5
  case lastSequence = 6
  case durableSequence = 7
  case recordsWritten = 8
  case bytesLogged = 9
  case bytesWritten = 10
  case merges = 11
  case segmentsRemoved = 12
  case segmentsWritten = 13
  case mergeBytesRead = 14
  case mergeBytesWritten = 15
  case recordsEvicted = 16
  case bytesEvicted = 17
  case pinnedBytes = 18
  case openSnapshots = 19
  case segments = 20
  case sealedSegments = 21
  case packedSegments = 22
  case keyspaces = 23
}

extension StatisticsImage {
  /// Creates an image of a store's statistics, without the process and the times.
  init(_ statistics: Statistics, storeID: StoreID) {
    self.init(storeID: storeID)
    settings = StoredSettings(statistics.settings)
    func set(_ figure: Figure, _ value: Int) { figures[figure.rawValue] = UInt64(clamping: value) }
    set(.keys, statistics.keys)
    set(.liveBytes, statistics.liveBytes)
    set(.deadBytes, statistics.deadBytes)
    set(.bytesOnDisk, statistics.bytesOnDisk)
    set(.indexBytes, statistics.indexBytes)
    set(.indexLoad, Int(statistics.indexLoad * 1e6))
    figures[Figure.lastSequence.rawValue] = statistics.lastSequence.rawValue
    figures[Figure.durableSequence.rawValue] = statistics.durableSequence.rawValue
    set(.recordsWritten, statistics.recordsWritten)
    set(.bytesLogged, statistics.bytesLogged)
    set(.bytesWritten, statistics.bytesWritten)
    set(.merges, statistics.merges)
    set(.segmentsRemoved, statistics.merged.segmentsRemoved)
    set(.segmentsWritten, statistics.merged.segmentsWritten)
    set(.mergeBytesRead, statistics.merged.bytesRead)
    set(.mergeBytesWritten, statistics.merged.bytesWritten)
    set(.recordsEvicted, statistics.merged.recordsEvicted)
    set(.bytesEvicted, statistics.merged.bytesEvicted)
    set(.pinnedBytes, statistics.pinnedBytes)
    set(.openSnapshots, statistics.openSnapshots)
    set(.segments, statistics.segments.count)
    set(.sealedSegments, statistics.segments.count { $0.isSealed })
    set(.packedSegments, statistics.segments.count { $0.isPacked })
    set(.keyspaces, statistics.keyspaces.count)
    histograms = [statistics.puts, statistics.gets, statistics.syncs].map { Histogram($0) }
  }
}

extension StatisticsImage.Histogram {
  fileprivate init(_ histogram: Statistics.Histogram) {
    self.init()
    counts = histogram.counts.map { UInt64(clamping: $0) }
    total = histogram.total.wholeNanoseconds
    maximum = histogram.maximum.wholeNanoseconds
  }
}

extension Statistics.Published {
  init(_ image: StatisticsImage) {
    // No real figure is as large, and adding up several does not overflow.
    func value(_ figure: Figure) -> Int { Int(min(image.figures[figure.rawValue], 1 << 54)) }
    processID = Int32(truncatingIfNeeded: image.processID)
    openedAt = WallTime(millisecondsSince1970: image.openedAt)
    publishedAt = WallTime(millisecondsSince1970: image.publishedAt)
    uptime = .nanoseconds(Int64(clamping: image.uptime))
    interval = .milliseconds(Int64(clamping: image.interval))
    segmentCount = value(.segments)
    sealedSegmentCount = value(.sealedSegments)
    packedSegmentCount = value(.packedSegments)
    keyspaceCount = value(.keyspaces)
    var figures = Statistics()
    figures.settings = Options.Settings(image.settings)
    figures.keys = value(.keys)
    figures.liveBytes = value(.liveBytes)
    figures.deadBytes = value(.deadBytes)
    figures.bytesOnDisk = value(.bytesOnDisk)
    figures.indexBytes = value(.indexBytes)
    figures.indexLoad = Double(value(.indexLoad)) / 1e6
    figures.lastSequence = SequenceNumber(rawValue: image.figures[Figure.lastSequence.rawValue])
    figures.durableSequence = SequenceNumber(rawValue: image.figures[Figure.durableSequence.rawValue])
    figures.recordsWritten = value(.recordsWritten)
    figures.bytesLogged = value(.bytesLogged)
    figures.bytesWritten = value(.bytesWritten)
    figures.merges = value(.merges)
    figures.merged.segmentsRemoved = value(.segmentsRemoved)
    figures.merged.segmentsWritten = value(.segmentsWritten)
    figures.merged.bytesRead = value(.mergeBytesRead)
    figures.merged.bytesWritten = value(.mergeBytesWritten)
    figures.merged.recordsEvicted = value(.recordsEvicted)
    figures.merged.bytesEvicted = value(.bytesEvicted)
    figures.pinnedBytes = value(.pinnedBytes)
    figures.openSnapshots = value(.openSnapshots)
    figures.puts = Statistics.Histogram(image.histograms[0])
    figures.gets = Statistics.Histogram(image.histograms[1])
    figures.syncs = Statistics.Histogram(image.histograms[2])
    statistics = figures
  }
}

extension Statistics.Histogram {
  init(_ image: StatisticsImage.Histogram) {
    self.init()
    for (bucket, count) in image.counts.enumerated() where count > 0 {
      add(Int(clamping: count) & Int.max >> 8, to: bucket)
    }
    add(0, to: 0, totalNanoseconds: image.total, maximumNanoseconds: image.maximum)
  }
}
