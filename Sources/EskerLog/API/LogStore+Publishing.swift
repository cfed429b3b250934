internal import EskerFormat
package import EskerPlatform

extension LogStore {
  /// The statistics last published by the process that has the store at `path` open for writing; nil if no process publishes
  /// any, has not done so yet, has closed the store, or has ended.
  ///
  /// Reads one file of 8 KiB and does not open the store: cheap enough to poll. What a killed process has left behind is not
  /// returned, as long as the lock of the store tells that it has ended; that a process hangs shows in
  /// ``Statistics/Published/publishedAt``, compared with ``Statistics/Published/interval``.
  ///
  /// - Throws: ``StoreError/unknownFormat(path:version:)`` for statistics of a newer version of Esker,
  ///   ``StoreError/damaged(_:reason:)``, ``StoreError/failed(operation:path:errno:)``.
  public static func publishedStatistics(at path: String) throws(StoreError) -> Statistics.Published? {
    try publishedStatistics(at: path, platform: .system)
  }

  /// The process that has the store at `path` open for writing, 0 if its id cannot be read; nil if none has, or that is not known.
  package static func writer(at path: String, platform: Platform = .system) -> Int32? {
    guard let path = try? platform.fileSystem.absolute(path),
      LockFile.isHeld(in: path, platform.fileSystem) == true,
      let lock = try? LockFile(in: path, platform.fileSystem)
    else { return nil }
    defer { lock.close() }
    return lock.holder
  }

  package static func publishedStatistics(
    at path: String,
    platform: Platform
  ) throws(StoreError) -> Statistics.Published? {
    let path = try translating { () throws(PlatformError) in try platform.fileSystem.absolute(path) }
    let name = "\(path)/\(FileName.statistics)"
    var failure = FormatError.notThisKind
    // The other process may be writing the file right now.
    for _ in 0..<50 {
      let bytes = try translating { () throws(PlatformError) -> [UInt8]? in
        do throws(PlatformError) {
          let file = try platform.fileSystem.open(name, .read)
          defer { file.close() }
          return try file.bytes(in: 0..<StatisticsImage.length)
        } catch {
          if error.code == PlatformError.notFound || error.code == PlatformError.notADirectory { return nil }
          throw error
        }
      }
      guard let bytes = bytes.map({ ContiguousArray($0) }), !bytes.isEmpty else { return nil }
      do throws(FormatError) {
        // Safety: the span is used only during the call, and the array is kept.
        let image = try unsafe StatisticsImage(decoding: bytes.span.bytes)
        // A process that has ended without closing the store has left its figures, and not the lock.
        return LockFile.isHeld(in: path, platform.fileSystem) == false ? nil : Statistics.Published(image)
      } catch {
        if case .newerVersion = error { throw StoreError(error, in: name, what: "the statistics") }
        // The publisher begins with its signature, and waits until that is on disk: it has published nothing yet.
        if case .damaged = error, bytes.count <= StatisticsImage.signatureLength { return nil }
        failure = error
      }
      platform.pause()
    }
    throw StoreError(failure, in: name, what: "the statistics")
  }
}
