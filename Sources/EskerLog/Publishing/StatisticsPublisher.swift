internal import EskerFormat
internal import EskerPlatform

/// Writes a store's figures to a file in its directory, again and again, for other processes to see.
///
/// The file is no part of the store: figures are never synced, nothing reads it in a recovery, and it goes when the store is
/// closed. One that a killed process or a power cut left goes at the next opening for writing. A file of that name that
/// somebody else made stays as it is, and nothing is published as long as it is there.
///
/// Safety: `file` and `isFailing` are used by one thread at a time: by the opening thread, then by the worker's, and by
/// ``stop()`` after that has ended.
final class StatisticsPublisher: @unchecked Sendable {
  private let path: String
  private let fileSystem: any FileSystem
  private let interval: UInt64
  private let image: @Sendable () -> StatisticsImage
  private let onFailure: @Sendable (PlatformError) -> Void
  // The publishing thread's, once there is one.
  private var file: (any File)?
  private var isFailing = false
  private let worker: Worker

  /// - Parameters:
  ///   - image: gathers the figures.
  ///   - onFailure: is told when the file cannot be written, and not again until it could be.
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
    worker = Worker(name: "esker-publish", isThreaded: isThreaded, givesWay: true)
  }

  /// Publishes for the first time, and goes on with that on a thread of its own; false when there can be none.
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
        // What says whose file it is, before the rest: whatever a power cut tears then, that is there.
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

  /// Ends it, and takes the file away if it made one; returns when no figures are gathered any more. Idempotent.
  func stop() {
    worker.stop()
    guard let file else { return }
    file.close()
    try? fileSystem.remove(path)
    self.file = nil
  }
}
