internal import EskerFormat
package import EskerPlatform

extension LogStore {
  /// The figures that the process with the store at `path` open for writing last published; nil when none does, when it
  /// could not write them yet, or when it has closed the store.
  ///
  /// Reads one file of 8 KiB and does not open the store: cheap enough to poll. A process that was killed leaves its last
  /// figures: compare ``PublishedStatistics/publishedAt`` with ``PublishedStatistics/interval``.
  ///
  /// - Throws: ``StoreError/unknownFormat(path:version:)`` for the figures of a newer Esker, ``StoreError/damaged(_:reason:)``,
  ///   ``StoreError/failed(operation:path:errno:)``.
  public static func publishedStatistics(at path: String) throws(StoreError) -> PublishedStatistics? {
    try publishedStatistics(at: path, platform: .system)
  }

  package static func publishedStatistics(
    at path: String,
    platform: Platform
  ) throws(StoreError) -> PublishedStatistics? {
    let name = "\(path)/\(FileName.statistics)"
    var failure = FormatError.notThisKind
    // The other process may be writing right now.
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
        return PublishedStatistics(try unsafe StatisticsImage(decoding: bytes.span.bytes))
      } catch {
        if case .newerVersion = error { throw StoreError(error, in: name, what: "the statistics") }
        failure = error
      }
      platform.pause()
    }
    throw StoreError(failure, in: name, what: "the statistics")
  }
}
