internal import EskerFormat
internal import EskerPlatform

/// Applies the records of segments that merges wrote to the index.
///
/// They are in no particular order. The index keeps no tombstones, so a tombstone applied before an older value would
/// have no effect: tombstones wait until all values have been applied, including those of the log.
struct MergedReplay: ~Copyable {
  private let writer: Writer
  private let whole: UInt64
  private var replay: LogReplay
  /// For values up to `whole`.
  private var moves: LogReplay
  private var tombstones: [LogRecord] = []

  /// - Parameter whole: The write that the index is up to date with: an older value that it does not point to has been
  ///   replaced or removed since it was merged, and is ignored.
  init(_ writer: Writer, upTo whole: UInt64 = 0) {
    self.writer = writer
    self.whole = whole
    replay = LogReplay(writer)
    moves = LogReplay(writer, onlyMoving: true)
  }

  /// The number of records applied.
  var count: Int { replay.count + moves.count }

  /// Applies the values of a segment.
  mutating func take(_ segment: Segment, damage: inout [StoreEvent]) {
    var walk = SegmentWalk(segment, writer.env.seed, damage: &damage)
    while let entry = walk.nextReadable(reporting: &damage) {
      let record = LogRecord(entry, of: segment)
      if entry.kind != .put {
        tombstones.append(record)
      } else if entry.sequence <= whole {
        moves.apply(record)
      } else {
        replay.apply(record)
      }
    }
    moves.drain()
    replay.drain()
  }

  /// Applies the tombstones. Must be called after the log was read.
  mutating func finish() {
    for record in tombstones { replay.apply(record) }
    replay.drain()
    tombstones = []
  }
}

extension LogRecord {
  init(_ entry: FooterEntry, of segment: Segment) {
    let size = Int(entry.size)
    self.init(
      hash: entry.keyHash,
      address: segment.startUnits + (entry.offset >> 3),
      sequence: entry.sequence,
      size: size,
      unpackedSize: segment.packing == 0 || entry.kind != .put
        ? size : segment.storedRecord(at: Int(entry.offset))?.unpackedSize ?? size,
      kind: entry.kind,
      keyspace: entry.keyspace,
      expiry: entry.expires ? .min : .max
    )
  }
}
