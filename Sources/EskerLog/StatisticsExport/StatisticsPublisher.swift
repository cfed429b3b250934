internal import EskerFormat
internal import EskerPlatform

/// Periodically writes a store's statistics to a file in its directory, for other processes to read.
///
/// The file is not part of the store: statistics are never synced, a recovery does not read them, and the file is removed
/// when the store is closed. A file left by a killed process or a power failure is removed at the next opening for
/// writing. A foreign file of that name is left alone, and nothing is published as long as it exists.
///
/// Safety: `file` and `isFailing` are used by one thread at a time: by the opening thread, then by the worker's, and by
/// ``stop()`` after that has ended.
final class StatisticsPublisher: @unchecked Sendable {
  private let path: String
  private let fileSystem: any FileSystem
  private let interval: UInt64
  private let image: @Sendable () -> StatisticsImage
  private let onFailure: @Sendable (PlatformError) -> Void
  // Used by the publishing thread, once it has been started.
  private var file: (any File)?
  private var isFailing = false
  private let worker: BackgroundWorker

  /// - Parameters:
  ///   - image: Gathers the statistics.
  ///   - onFailure: Called when the file cannot be written, and again only after it could be.
  init(
    path: String,
    fileSystem: any FileSystem,
    everyNanoseconds interval: UInt64,
    isThreaded: Bool,
    image: @escaping @Sendable () -> StatisticsImage,
    onFailure: @escaping @Sendable (PlatformError) -> Void
  ) {
    self.path = path
    self.fileSystem = fileSystem
    self.interval = interval
    self.image = image
    self.onFailure = onFailure
    worker = BackgroundWorker(name: "esker-publish", isThreaded: isThreaded, givesWay: true)
  }

  /// Publishes for the first time, and then periodically on a thread of its own; false if that cannot be started.
  func start() -> Bool {
    publish()
    worker.begin { [self] _ in
      publish()
      return .after(interval)
    }
    return worker.start(.publish, afterNanoseconds: interval) || !worker.isThreaded
  }

  private func publish() {
    do throws(PlatformError) {
      let bytes = image().encoded()
      if file == nil {
        let file = try fileSystem.open(path, .create)
        self.file = file
        // The owner's signature first, durably: so the file can be recognised even if a power failure tears the rest.
        try file.writeAll(Array(bytes[..<StatisticsImage.signatureLength]), at: 0)
        try file.sync()
      }
      try file?.writeAll(bytes, at: 0)
      isFailing = false
    } catch {
      if !isFailing { onFailure(error) }
      isFailing = true
    }
  }

  /// Stops publishing, and removes the file if this created it; no statistics are being gathered after this returns.
  /// Idempotent.
  func stop() {
    worker.stop()
    guard let file else { return }
    file.close()
    try? fileSystem.remove(path)
    self.file = nil
  }
}
