internal import EskerFormat
package import EskerPlatform

extension LogStore {
  /// The statistics last published by the process that has the store at `path` open for writing; nil if no process publishes
  /// any, has not done so yet, or has closed the store.
  ///
  /// Reads one file of 8 KiB and does not open the store: cheap enough to poll. A killed process leaves its last statistics
  /// behind: to detect that, compare ``Statistics/Published/publishedAt`` with ``Statistics/Published/interval``.
  ///
  /// - Throws: ``StoreError/unknownFormat(path:version:)`` for statistics of a newer version of Esker,
  ///   ``StoreError/damaged(_:reason:)``, ``StoreError/failed(operation:path:errno:)``.
  public static func publishedStatistics(at path: String) throws(StoreError) -> Statistics.Published? {
    try publishedStatistics(at: path, platform: .system)
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
      guard let bytes, !bytes.isEmpty else { return nil }
      do throws(FormatError) {
        // Safety: the span is used only during the call, and the array is kept.
        return Statistics.Published(try unsafe StatisticsImage(decoding: bytes.span.bytes))
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
