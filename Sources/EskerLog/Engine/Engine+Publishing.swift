internal import EskerFormat
internal import EskerPlatform

extension Engine {
  /// Starts publishing statistics, if requested. A failure is reported as an event and does not prevent the opening.
  func startPublishing() {
    guard let interval = env.options.statisticsInterval, !env.isFollowing, publisher == nil else { return }
    let milliseconds = Self.milliseconds(interval)
    let openedAt = env.options.clock.now().millisecondsSince1970
    let start = env.platform.clock.monotonicNanoseconds()
    let publisher = StatisticsPublisher(
      path: "\(env.path)/\(FileName.statistics)",
      fileSystem: env.platform.fileSystem,
      everyNanoseconds: milliseconds * 1_000_000,
      isThreaded: env.isThreaded
    ) { [unowned self] in
      var image = StatisticsImage(Statistics(of: self), storeID: env.storeID)
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

  /// Stops publishing, and removes the file.
  func stopPublishing() {
    publisher?.stop()
    publisher = nil
  }

  /// The interval in milliseconds, at least ten: gathering statistics queries each file's size.
  private static func milliseconds(_ interval: Duration) -> UInt64 {
    UInt64(min(max(10, interval.wholeMilliseconds), 1_000_000_000_000))
  }
}
