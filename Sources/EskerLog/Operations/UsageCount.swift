internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// Counts how the bytes of a store are used, by looking up each record of its segments in the index.
struct UsageCount {
  private let keydir: Keydir
  private let snapshot: Snapshot
  /// By keyspace id.
  private var keyspaces: [UInt32: Statistics.Usage.Figures] = [:]
  private var segments: [UInt64: Statistics.Usage.Figures] = [:]
  private var window: [FooterEntry] = []

  /// How many waits for memory overlap.
  private static let windowLength = 32

  private init(_ keydir: Keydir, _ snapshot: Snapshot) {
    self.keydir = keydir
    self.snapshot = snapshot
    for id in snapshot.keyspaces.keys { keyspaces[id] = .init() }
  }

  static func run(in engine: Engine, progress: ((Double) -> Bool)?) throws(StoreError) -> Statistics.Usage {
    try engine.checkBeforeRead()
    let snapshot = try engine.snapshot()
    var count = UsageCount(engine.keydir, snapshot)
    let total = max(1, snapshot.extents.reduce(0) { $0 + $1.end })
    var done = 0
    for (segment, end) in snapshot.extents {
      try engine.env.checkOpen()
      count.take(segment, end)
      done += end
      if progress?(Double(done) / Double(total)) == false { throw .cancelled }
    }
    return count.usage
  }

  private var usage: Statistics.Usage {
    var usage = Statistics.Usage()
    usage.segments = segments
    for (id, figures) in keyspaces {
      guard let name = snapshot.keyspaces[id]?.name else { continue }
      usage.keyspaces[name] = figures
    }
    return usage
  }

  private mutating func take(_ segment: Segment, _ end: Int) {
    var figures = Statistics.Usage.Figures()
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, keydir.env.seed, to: end, damage: &damage)
    while let entry = walk.nextReadable(reporting: &damage) {
      keydir.reader.prefetch(entry.keyHash)
      window.append(entry)
      if window.count == Self.windowLength { drain(segment, &figures) }
    }
    drain(segment, &figures)
    segments[segment.id] = figures
  }

  private mutating func drain(_ segment: Segment, _ figures: inout Statistics.Usage.Figures) {
    for entry in window where entry.kind != .seal {
      let category = category(of: entry, segment)
      figures.add(Int(entry.size), category)
      keyspaces[entry.keyspace.id, default: .init()].add(Int(entry.size), category)
    }
    window.removeAll(keepingCapacity: true)
  }

  private func category(of entry: FooterEntry, _ segment: Segment) -> Statistics.Usage.Category {
    guard entry.kind == .put else { return .tombstone }
    guard snapshot.keyspaces[entry.keyspace.id]?.tag == entry.keyspace,
      snapshot.isLive(entry.keyHash, at: segment.startUnits + entry.offset >> 3)
    else { return .dead }
    guard entry.expires else { return .lasting }
    guard let record = segment.storedRecord(at: Int(entry.offset)) else { return .dead }
    return record.expiry <= snapshot.time ? .expired : .expiring
  }
}
