import Esker

/// What the bytes on disk are for. The parts are as much as the whole.
struct DiskParts {
  /// Bytes of the newest records of all keys.
  let live: Int
  /// Bytes of records that a merge reclaims.
  let dead: Int
  /// Bytes of files that are allocated for records to come.
  let ahead: Int
  /// Bytes that are kept for a full volume.
  let reserve: Int
  let checkpoints: Int
  /// Headers, footers, manifests and the like.
  let others: Int

  /// - Parameter path: The store's directory.
  init(_ statistics: Statistics, of path: String) {
    let sizes = StoreSizes(path)
    live = statistics.liveBytes
    dead = statistics.deadBytes
    ahead = statistics.segments.reduce(0) { sum, segment in
      segment.isSealed ? sum : sum + max(0, segment.fileBytes - segment.recordBytes - Self.headerBytes)
    }
    (reserve, checkpoints) = (sizes.reserve, sizes.checkpoints)
    // Beside a writer, files may have come and gone since the figures were gathered.
    others = max(0, statistics.bytesOnDisk - live - dead - ahead - reserve - checkpoints)
  }

  /// The length of a segment's header.
  private static let headerBytes = 128
}
