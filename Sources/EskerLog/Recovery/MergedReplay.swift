internal import EskerFormat
internal import EskerPlatform

/// Brings the index up to segments that merges wrote.
///
/// Their records are in no order. The index remembers no tombstone, so one that came before an older value would be
/// forgotten: tombstones wait until all values have been seen, those of the log too.
struct MergedReplay: ~Copyable {
  private let writer: Writer
  private let whole: UInt64
  private var replay: Replay
  /// Of values up to `whole`.
  private var moves: Replay
  private var tombstones: [LogRecord] = []

  /// - Parameter whole: the index is up to this write: a value up to there that it does not lead to has been replaced or
  ///   removed since it was merged, and stays so.
  init(_ writer: Writer, upTo whole: UInt64 = 0) {
    self.writer = writer
    self.whole = whole
    replay = Replay(writer)
    moves = Replay(writer, onlyMoving: true)
  }

  /// Records that took part.
  var count: Int { replay.count + moves.count }

  /// Takes in the values of a segment.
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

  /// Lets the tombstones take effect. The log has been read.
  mutating func finish() {
    for record in tombstones { replay.apply(record) }
    replay.drain()
    tombstones = []
  }
}

extension LogRecord {
  init(_ entry: FooterEntry, of segment: Segment) {
    self.init(
      hash: entry.keyHash,
      address: segment.startUnits + (entry.offset >> 3),
      sequence: entry.sequence,
      size: Int(entry.size),
      kind: entry.kind,
      keyspace: entry.keyspace
    )
  }
}
