internal import EskerFormat
internal import EskerPlatform

extension Engine {
  /// Begins to publish figures, if that is asked for. A failure is told and does not keep the store from being open.
  func startPublishing() {
    guard let interval = env.options.statisticsInterval, !env.options.readOnly else { return }
    let milliseconds = Self.milliseconds(interval)
    let openedAt = env.options.clock.now().millisecondsSince1970
    let start = env.platform.clock.monotonicNanoseconds()
    let publisher = StatisticsPublisher(
      path: "\(env.path)/\(FileName.statistics)",
      fileSystem: env.platform.fileSystem,
      everyNanoseconds: milliseconds * 1_000_000,
      isThreaded: env.isThreaded
    ) { [unowned self] in
      var image = StatisticsImage(Statistics(of: self), storeID: env.storeID, capacity: env.options.capacity)
      image.processID = UInt32(bitPattern: env.platform.processID)
      image.openedAt = openedAt
      image.publishedAt = env.options.clock.now().millisecondsSince1970
      image.interval = milliseconds
      image.uptime = env.platform.clock.monotonicNanoseconds() &- start
      return image
    } onFailure: { [unowned self] in
      reportPublishing($0)
    }
    if !publisher.start() {
      reportPublishing(PlatformError("start a thread for", path: env.path, code: PlatformError.tryAgain))
    }
    self.publisher = publisher
  }

  private func reportPublishing(_ error: PlatformError) {
    env.emit(.backgroundFailure(operation: "publish statistics", StoreError(error, needed: StatisticsImage.length)))
  }

  /// Ends it, and takes the file away.
  func stopPublishing() {
    publisher?.stop()
    publisher = nil
  }

  /// At least ten milliseconds: gathering takes a look at each file.
  private static func milliseconds(_ interval: Duration) -> UInt64 {
    UInt64(min(max(10, interval.wholeMilliseconds), 1_000_000_000_000))
  }
}
