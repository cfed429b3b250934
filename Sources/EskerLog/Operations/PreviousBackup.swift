internal import EskerFormat
internal import EskerPlatform

/// An earlier backup of the same store, whose files a new backup can share. An empty directory counts as one without
/// files.
struct PreviousBackup {
  private let path: String
  private let fileSystem: any FileSystem
  private let storeID: StoreID
  private let rows: [UInt64: SegmentRow]

  init(at path: String, of storeID: StoreID, fileSystem: any FileSystem) throws(StoreError) {
    self.path = path
    self.fileSystem = fileSystem
    self.storeID = storeID
    let names = try translating { () throws(PlatformError) in
      // Listing a directory that does not exist can be slow on some file systems.
      guard try fileSystem.status(path) != nil else {
        throw PlatformError("open", path: path, code: PlatformError.notFound)
      }
      return try fileSystem.list(path)
    }
    guard !names.isEmpty else {
      rows = [:]
      return
    }
    try CopyKind.refuseUnfinished(names, at: path, fileSystem)
    let reading = try ManifestFiles(directory: path, fileSystem: fileSystem).read()
    guard let manifest = reading.newest else { throw .notAStore(path: path) }
    guard manifest.storeID == storeID else { throw .otherStore(path: path) }
    rows = Dictionary(uniqueKeysWithValues: manifest.segments.map { ($0.id, $0) })
  }

  /// The file of exactly the segment that `row` describes; nil if there is none.
  func file(for row: SegmentRow) -> String? {
    guard var own = rows[row.id] else { return nil }
    own.granule = row.granule
    let name = "\(path)/\(FileName.segment(row.id))"
    guard own == row, let file = try? fileSystem.open(name, .read) else { return nil }
    defer { file.close() }
    guard let size = try? file.status().size, size >= Int(clamping: row.fileLength),
      let bytes = try? ContiguousArray(file.bytes(in: 0..<SegmentHeader.length))
    else { return nil }
    // Safety: the array outlives the decoding, which checks its length.
    let header = unsafe try? SegmentHeader(decoding: bytes.span.bytes)
    guard let header, header.storeID == storeID, header.segmentID == row.id, header.salt == row.salt else { return nil }
    return name
  }
}
