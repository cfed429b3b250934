internal import EskerFormat
public import EskerLog
internal import EskerPlatform

/// Inspects the files of a store without opening it: its manifest, its segments and their records.
///
/// Writes nothing and takes no lock, so it works while a writer has the store open, and for a store that can no longer be
/// opened. It shows the files as they were when it was created, except for what a writer appends. Thread safety: any
/// thread.
public struct StoreInspection: Sendable {
  /// The absolute path of the store's directory.
  public let path: String
  /// The contents of the manifest; nil if no copy can be read.
  public let manifest: Report.Manifest?
  /// The two copies of the manifest.
  public let manifestCopies: [Report.Manifest.Copy]
  /// The segments, ordered by the first write in each, followed by segment files that are not listed.
  public let segments: [SegmentDescription]

  let decoded: Manifest?
  let host: StoreHost

  /// Reads the manifest, and the header and the end of each segment.
  ///
  /// - Throws: `StoreError.notAStore(path:)`, `StoreError.unfinishedCopy(path:mark:holder:)`,
  ///   `StoreError.unknownFormat(path:version:)`, and `StoreError.failed(operation:path:errno:)`. Damage is reported in
  ///   the properties, not thrown.
  /// - Complexity: O(segments).
  public init(at path: String) throws(StoreError) {
    try self.init(at: path, host: .system)
  }

  package init(at path: String, host: StoreHost) throws(StoreError) {
    self.host = host
    let files = try ClosedStore(at: path, host: host)
    let path = files.path
    self.path = path
    var attempt = 0
    while true {
      // A missing path is a different error than a path that is not a store.
      guard try files.exists() else {
        throw .failed(operation: "open", path: path, errno: PlatformError.notFound)
      }
      let names = try files.names()
      let reading = try files.manifestBesideWriter()
      let (segments, isWhole) = Self.describe(reading.newest, names, path, host.platform.fileSystem)
      attempt += 1
      // Between reading the manifest and the file, a merge may have removed a segment, or a close may have truncated one
      // to what the writer has used.
      if !isWhole, attempt < 9, reading.newest?.state == .open {
        host.platform.pause()
        continue
      }
      self.segments = segments
      decoded = reading.newest
      manifest = reading.newest.map { Report.Manifest($0) }
      manifestCopies = reading.copies
      return
    }
  }

  private static func describe(
    _ manifest: Manifest?,
    _ names: [String],
    _ path: String,
    _ fileSystem: any FileSystem
  ) -> (segments: [SegmentDescription], isWhole: Bool) {
    var segments: [SegmentDescription] = []
    var isWhole = true
    func take(_ id: UInt64, _ row: SegmentRow?) {
      var segment = SegmentDescription(
        id,
        "\(path)/\(ClosedStore.segmentName(id))",
        row,
        isListed: row != nil || manifest == nil,
        in: manifest
      )
      let isThere = segment.readFile(row, storeID: manifest?.storeID, fileSystem)
      // A file that is not listed and gone by now was being removed.
      guard isThere || row != nil else { return }
      isWhole = isWhole && isThere && !segment.isShort
      segments.append(segment)
    }
    for row in manifest?.segments ?? [] { take(row.id, row) }
    segments.sort { ($0.sequences?.lowerBound ?? .max, $0.id) < ($1.sequences?.lowerBound ?? .max, $1.id) }
    let listed = Set((manifest?.segments ?? []).map(\.id))
    for id in names.compactMap(ClosedStore.segmentID).sorted() where !listed.contains(id) { take(id, nil) }
    return (segments, isWhole)
  }

  /// Opens a segment's file.
  ///
  /// - Throws: `StoreError.damaged(_:reason:)` if it is missing, or nothing in it can be recognised.
  func open(_ id: UInt64) throws(StoreError) -> SegmentFile {
    guard let segment = segments.first(where: { $0.id == id }) else {
      throw .damaged(StoreError.Location(path: path, segment: id), reason: "the store has no segment \(id)")
    }
    let row = decoded?.segments.first { $0.id == id }
    let end = segment.recordBytes.map { SegmentHeader.length + $0 }
    do throws(PlatformError) {
      let file = try SegmentFile(id, at: segment.path, row: row, end: end, host.platform.fileSystem)
      if let file { return file }
    } catch {
      guard error.code == PlatformError.notFound else { throw StoreError(error) }
      throw .damaged(StoreError.Location(path: segment.path, segment: id), reason: "the segment is missing")
    }
    throw .damaged(
      StoreError.Location(path: segment.path, segment: id),
      reason: "nothing recognisable in the segment"
    )
  }

  /// The name of a keyspace; nil if no manifest contains it.
  func keyspaceName(_ id: UInt32) -> String? {
    id == 0 ? "" : manifest?.keyspaces.first { $0.id == id }?.name
  }
}
