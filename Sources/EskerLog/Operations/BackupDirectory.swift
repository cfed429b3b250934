internal import EskerFormat
internal import EskerPlatform

/// The directory that a backup is written to.
struct BackupDirectory: ~Copyable {
  private var directory: MarkedDirectory
  private let fileSystem: any FileSystem

  /// Takes a path that does not exist, an empty directory, or what is left of an interrupted backup.
  init(at path: String, for kind: CopyKind, of storeID: StoreID, host: StoreHost) throws(StoreError) {
    directory = try MarkedDirectory(at: path, for: kind, of: storeID, host: host)
    fileSystem = host.platform.fileSystem
  }

  /// Creates a hard link to a file here; false if that is not possible.
  func share(_ original: String, as name: String) -> Bool {
    (try? fileSystem.link(original, to: "\(directory.path)/\(name)")) != nil
  }

  /// Copies a segment as its row describes it, or as much of it as the file has, durably.
  ///
  /// - Returns: The row of the copy, which has no footer if a merge has just removed the segment's file.
  func copy(_ segment: Segment, _ row: SegmentRow, as name: String) throws(StoreError) -> SegmentRow {
    var row = row
    do throws(PlatformError) {
      let file = try fileSystem.open("\(directory.path)/\(name)", .create)
      defer { file.close() }
      let end = Int(clamping: row.recordsEnd)
      try copy(0..<end, of: segment, to: file)
      do throws(PlatformError) { try copy(end..<max(end, Int(clamping: row.fileLength)), of: segment, to: file) } catch
      {
        guard error.isGone else { throw error }
        row.footerOffset = 0
        row.footerLength = 0
        row.fileLength = row.recordsEnd
      }
      try file.sync()
      // Nobody reads it here.
      file.letGo(0..<Int(clamping: row.fileLength))
    } catch {
      throw StoreError(error, needed: Int(clamping: row.fileLength))
    }
    return row
  }

  private func copy(_ range: Range<Int>, of segment: Segment, to file: any File) throws(PlatformError) {
    // What is read for the copy does not stay in memory either.
    let absent = segment.pages.isBeyondMemory ? segment.mapping.absentRanges(in: range) : []
    defer { for range in absent { segment.mapping.letGo(range) } }
    for offset in stride(from: range.lowerBound, to: range.upperBound, by: 256 << 10) {
      let piece = offset..<min(range.upperBound, offset + 256 << 10)
      let bytes = try segment.bytes(in: piece)
      try file.writeAll(bytes, at: offset)
      if bytes.count < piece.count { break }
    }
  }

  /// Makes everything durable, and the directory a store.
  mutating func finish(_ manifest: Manifest) throws(StoreError) {
    let bytes = manifest.encoded()
    do throws(PlatformError) {
      for name in FileName.manifests {
        let file = try fileSystem.open("\(directory.path)/\(name)", .create)
        defer { file.close() }
        try file.writeAll(bytes, at: 0)
        try file.sync()
      }
    } catch {
      throw StoreError(error, needed: bytes.count)
    }
    try directory.finish()
  }

  /// Removes what was written; the mark stays if anything cannot be removed.
  consuming func abandon() { directory.abandon() }
}
