internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

extension Engine {
  func usage(progress: ((Double) -> Bool)?) throws(StoreError) -> StoreUsage {
    if status.load(ordering: .acquiring) != 0 { try checkReadable() }
    let snapshot = try snapshot()
    var count = UsageCount(self, snapshot)
    let total = max(1, snapshot.extents.reduce(0) { $0 + $1.end })
    var done = 0
    for (segment, end) in snapshot.extents {
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      count.take(segment, end)
      done += end
      if progress?(Double(done) / Double(total)) == false { throw .cancelled }
    }
    return count.usage
  }
}

/// Goes through segments and asks the index about each record.
private struct UsageCount {
  private let engine: Engine
  private let snapshot: Snapshot
  /// By keyspace id.
  private var keyspaces: [UInt32: StoreUsage.Figures] = [:]
  private var segments: [UInt64: StoreUsage.Figures] = [:]
  private var window: [FooterEntry] = []

  /// So many waits for memory overlap.
  private static let windowLength = 32

  init(_ engine: Engine, _ snapshot: Snapshot) {
    self.engine = engine
    self.snapshot = snapshot
    for id in snapshot.keyspaces.keys { keyspaces[id] = .init() }
  }

  var usage: StoreUsage {
    var usage = StoreUsage()
    usage.segments = segments
    for (id, figures) in keyspaces {
      guard let name = snapshot.keyspaces[id]?.name else { continue }
      usage.keyspaces[name] = figures
    }
    return usage
  }

  mutating func take(_ segment: Segment, _ end: Int) {
    var figures = StoreUsage.Figures()
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, of: engine, to: end, damage: &damage)
    while let entry = walk.nextReadable(reporting: &damage) {
      engine.index.prefetch(entry.keyHash)
      window.append(entry)
      if window.count == Self.windowLength { drain(segment, &figures) }
    }
    drain(segment, &figures)
    segments[segment.id] = figures
  }

  private mutating func drain(_ segment: Segment, _ figures: inout StoreUsage.Figures) {
    for entry in window where entry.kind != .seal {
      let purpose = purpose(of: entry, segment)
      figures.add(Int(entry.size), purpose)
      keyspaces[entry.keyspace.id, default: .init()].add(Int(entry.size), purpose)
    }
    window.removeAll(keepingCapacity: true)
  }

  private func purpose(of entry: FooterEntry, _ segment: Segment) -> StoreUsage.Purpose {
    guard entry.kind == .put else { return .tombstone }
    guard snapshot.keyspaces[entry.keyspace.id]?.tag == entry.keyspace,
      snapshot.isLive(entry.keyHash, at: segment.startUnits + entry.offset >> 3)
    else { return .dead }
    guard entry.expires else { return .lasting }
    guard let record = segment.storedRecord(at: Int(entry.offset)) else { return .dead }
    return record.expiry <= snapshot.time ? .expired : .expiring
  }
}
