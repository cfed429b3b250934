internal import EskerFormat

/// What a close leaves for the next opening to begin with.
extension Maintainer {
  enum ClosingCheckpoint {
    case none
    /// The one that the manifest names.
    case present
    case new
  }

  /// Bytes of records that are read in about a millisecond, while a checkpoint takes 270 KB and two syncs at the least.
  private static let smallStore = 1 << 20
  /// The most that an opening replays instead of a new checkpoint: 5 ms with a million keys.
  private static let mostReplayed = (bytes: 1 << 20, records: 2048)

  /// A new checkpoint where the next opening needs one to be fast, and where the records alone do not say what is in the index,
  /// since expired entries were taken out, now or before the checkpoint that this opening began with. The one that is there will
  /// do as long as little was logged behind it, and it has the keys that are in order.
  ///
  /// The index does not shrink, so in a store that was nearly emptied it is larger than all records, which are then faster to read.
  /// The log has ended; `images` is held.
  var closingCheckpoint: ClosingCheckpoint {
    let length = keydir.bucketCount * CheckpointHeader.lineSize
    let hasPurged = writer.withLock { $0.hasPurged }
    if !hasPurged, !env.checkpointsSmallStores, !lacksOrders, isLogShort(behindCheckpointOf: length) { return .present }
    let isLarge = catalog.recordBytes >= max(length, Self.smallStore)
    let isNeeded = keydir.loadedCheckpoint != nil || hasPurged || lacksOrders || env.checkpointsSmallStores
    let isWorthwhile = isLarge || isNeeded && length <= Self.smallStore
    return isWorthwhile && catalog.hasRoom(for: length + length / 8 + orderBytes) ? .new : .none
  }

  /// Whether there is a checkpoint, and little to replay behind it: of the bytes that a new one has, a quarter.
  private func isLogShort(behindCheckpointOf length: Int) -> Bool {
    guard let place = latest.withLock({ $0 }), place.id == catalog.manifest.checkpointID else { return false }
    let log = Catalog.inOrder(catalog.segments.filter { $0.kind == .log })
    // Without the segment, all of the log would be read.
    guard let start = place.start(in: log) else { return false }
    let bytes = log[start.index...].reduce(0) { $0 + $1.recordBytes } - (start.offset - SegmentHeader.length)
    let records = commits.publishedSequence &- place.sequence
    return bytes <= min(Self.mostReplayed.bytes, length / 4) && records <= Self.mostReplayed.records
  }
}
