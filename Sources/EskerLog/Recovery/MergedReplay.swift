internal import EskerFormat
internal import EskerPlatform

/// Brings the index up to segments that merges wrote.
///
/// Their records are in no order. The index remembers no tombstone, so one that came before an older value would be
/// forgotten: tombstones wait until all values have been seen, those of the log too.
struct MergedReplay: ~Copyable {
  private let engine: Engine
  private var replay: Replay
  private var tombstones: [LogRecord] = []

  init(_ engine: Engine) {
    self.engine = engine
    replay = Replay(engine)
  }

  /// Records that took part.
  var count: Int { replay.count }

  /// Takes in the values of a segment.
  mutating func take(_ segment: Segment, damage: inout [StoreEvent]) {
    var walk = SegmentWalk(segment, of: engine, damage: &damage)
    while let entry = walk.nextReadable(reporting: &damage) {
      let record = LogRecord(entry, of: segment)
      if entry.kind == .put { replay.apply(record) } else { tombstones.append(record) }
    }
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
