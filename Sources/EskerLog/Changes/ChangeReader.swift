internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// A position in the log, and the segments from there on.
///
/// Sequence numbers ascend by one within a segment of the log. From one segment to the next they may have a gap: either
/// recovery skipped numbers behind a cut, and nothing is missing, or a merge took segments away. The manifest's
/// `mergedThrough` tells: above it, nothing was.
struct ChangeReader {
  /// The number of the next write to show.
  private var next: UInt64
  /// Where the first of `segments` is read on.
  private var offset = SegmentHeader.length
  /// What is to be read, in order. References: a segment stays readable when merges take it off the list.
  private var segments: [Segment] = []
  /// The first number in the last segment that was added.
  private var newest: UInt64 = 0
  /// What comes behind `segments` was merged away before it was added.
  private var isBroken = false
  private var names: [UInt32: String] = [:]
  private let keeping: Int
  /// Whether writes are shown that a power cut may still take back.
  private let showsUnsynced: Bool
  private var failure: StoreError?
  /// The last write of a store that was closed.
  private var last: UInt64?

  init(failingWith failure: StoreError) {
    next = 0
    keeping = 0
    showsUnsynced = true
    self.failure = failure
  }

  init(_ engine: Engine, since: UInt64?, keeping: Int, showsUnsynced: Bool) {
    self.keeping = keeping
    self.showsUnsynced = showsUnsynced
    let (published, tail, end) = engine.writer.withLock { state in
      (engine.publishedSequence, state.tail, state.offset)
    }
    let since = since ?? published
    next = since &+ 1
    if since > published {
      failure = Self.gone(since: since, oldest: published)
    } else if since < published {
      let (list, floor) = engine.manifests.withLock { state in
        (engine.segments.withLock { $0 }, state.manifest.mergedThrough)
      }
      if since < floor {
        failure = Self.gone(since: since, oldest: floor)
      } else {
        add(list, through: published) { floor }
      }
    } else if let tail, end > SegmentHeader.length {
      segments = [tail]
      newest = tail.firstSequence.load(ordering: .relaxed)
      offset = end
    }
  }

  private static func gone(since: UInt64, oldest: UInt64) -> StoreError {
    .historyGone(since: SequenceNumber(rawValue: since), oldest: SequenceNumber(rawValue: oldest))
  }

  // MARK: Reading

  /// The next write, if it is there.
  ///
  /// - Parameter isRefreshed: what is not listed now will not be.
  /// - Throws: what is wrong with the record in the way, and goes on behind it the next time.
  mutating func read(_ engine: Engine, isRefreshed: Bool) throws(StoreError) -> ChangeFeed.Step {
    if let failure { throw failure }
    // Before anything is read: what is published is in the log as a whole.
    let published = last ?? end(of: engine)
    while next <= published {
      guard let segment = try current(engine, published) else {
        // Numbers that recovery skipped.
        next = published &+ 1
        break
      }
      let limit = segment.readableEnd
      switch segment.readRecord(at: offset, end: limit) {
      case .record(let header) where header.kind == .seal:
        leaveSegment()
      case .record(let header) where header.sequence < next:
        offset += header.size
      case .record(let header) where header.sequence > published:
        next = header.sequence
      case .record(let header):
        guard let name = name(of: header.keyspace, engine) else {
          if !isRefreshed { return .unknownKeyspace }
          let place = offset
          offset += header.size
          next = header.sequence &+ 1
          throw .damaged(segment.location(place), reason: "a record's keyspace is not in the manifest")
        }
        return .change(try take(header, of: segment, name, limit))
      case .end where offset >= limit && offset >= segment.recordsEnd.load(ordering: .acquiring) && isSealed(segment):
        leaveSegment()
      case .end, .damaged:
        throw skipDamage(in: segment, engine, published)
      }
    }
    return last == nil ? .nothing(next: next) : .end
  }

  /// The last write that may be shown.
  private func end(of engine: Engine) -> UInt64 {
    showsUnsynced ? engine.publishedSequence : engine.durableSequence
  }

  /// Copies a record, and goes on behind it even if it is damaged.
  private mutating func take(
    _ header: RecordHeader,
    of segment: Segment,
    _ name: String,
    _ limit: Int
  ) throws(StoreError) -> LogChange {
    let place = offset
    offset += header.size
    next = header.sequence &+ 1
    guard let record = segment.view(at: place, end: limit) else {
      throw .damaged(segment.location(place), reason: RecordDamage.truncated.reason)
    }
    if let damage = record.damage(salt: segment.salt, offsetUnits: UInt32(truncatingIfNeeded: place >> 3)) {
      throw .damaged(segment.location(place), reason: damage.reason)
    }
    let kind: LogChange.Kind =
      switch header.kind {
      case .put:
        .put(
          value: unsafe [UInt8](record.value),
          expiry: header.expires ? .at(WallTime(millisecondsSince1970: header.expiry)) : .never
        )
      case .reset: .removeAll
      case .tombstone, .seal: .remove
      }
    return LogChange(
      sequence: SequenceNumber(rawValue: header.sequence),
      keyspace: name,
      key: unsafe [UInt8](record.key),
      kind: kind,
      batchContinues: header.batchContinues
    )
  }

  /// Goes on behind a place that cannot be read; what to say of it.
  private mutating func skipDamage(in segment: Segment, _ engine: Engine, _ published: UInt64) -> StoreError {
    let place = offset
    var end = segment.readableEnd
    var behind = published &+ 1
    if isSealed(segment) {
      behind = segment.lastSequence.load(ordering: .relaxed) &+ 1
    } else if !engine.options.readOnly {
      // What the writer is writing is not looked at.
      engine.writer.withLock { state in
        guard state.tail === segment else { return }
        end = state.offset
        behind = state.nextSequence
      }
    }
    var candidate = segment.nextRecord(after: place, end: end)
    while let found = candidate {
      if case .record(let header) = segment.readRecord(at: found, end: end), header.kind != .seal,
        header.sequence >= next
      {
        offset = found
        next = header.sequence
        break
      }
      candidate = segment.nextRecord(after: found, end: end)
    }
    if candidate == nil {
      // In another process's tail nobody knows where the next record will be: there it is looked for from here again.
      if isSealed(segment) || !engine.options.readOnly { offset = end }
      next = max(next, behind)
    }
    return .damaged(
      segment.location(place),
      reason: "the header of a record is damaged; changes from \((candidate ?? end) - place) bytes of the log are lost"
    )
  }

  private func isSealed(_ segment: Segment) -> Bool { segment.isSealed.load(ordering: .acquiring) }

  /// A keyspace's name; nil if it was not listed when this store last looked.
  private mutating func name(of keyspace: KeyspaceTag, _ engine: Engine) -> String? {
    if let name = names[keyspace.id] { return name }
    let name = engine.keyspaces.withLock { $0.byID[keyspace.id]?.name }
    names[keyspace.id] = name
    return name
  }

  // MARK: Segments

  /// The segment in which the next write is, or one behind it; nil when there is none.
  private mutating func current(_ engine: Engine, _ published: UInt64) throws(StoreError) -> Segment? {
    dropRead()
    if segments.isEmpty, last == nil {
      add(engine.segments.withLock { $0 }, through: published) { engine.mergedThrough }
    }
    if let segment = segments.first { return segment }
    let floor = engine.mergedThrough
    guard isBroken || next <= floor else { return nil }
    let failure = Self.gone(since: next &- 1, oldest: floor)
    self.failure = failure
    throw failure
  }

  private mutating func leaveSegment() {
    segments.removeFirst()
    offset = SegmentHeader.length
  }

  /// Lets go of segments that have been read to their end.
  private mutating func dropRead() {
    while let segment = segments.first, isSealed(segment), segment.lastSequence.load(ordering: .relaxed) < next {
      leaveSegment()
    }
  }

  /// Adds the log segments of a list that are to be read and hold writes up to `last`.
  private mutating func add(_ list: [Segment], through last: UInt64, floor: () -> UInt64) {
    guard !isBroken, failure == nil else { return }
    var found = list.filter { segment in
      let first = segment.firstSequence.load(ordering: .relaxed)
      // One that is listed and has no record yet has a number that nothing was written with.
      guard segment.kind == .log, first > newest, first <= last else { return false }
      return !isSealed(segment) || segment.lastSequence.load(ordering: .relaxed) >= next
    }
    found.sort { $0.firstSequence.load(ordering: .relaxed) < $1.firstSequence.load(ordering: .relaxed) }
    for segment in found {
      let first = segment.firstSequence.load(ordering: .relaxed)
      let before = max(next &- 1, segments.last?.lastSequence.load(ordering: .relaxed) ?? 0)
      if first > before &+ 1, before < floor() {
        isBroken = true
        return
      }
      segments.append(segment)
      newest = first
    }
  }

  // MARK: Merges and closing

  /// Takes hold of all that is listed and was not read.
  mutating func hold(_ engine: Engine, through last: UInt64) {
    dropRead()
    add(engine.segments.withLock { $0 }, through: last) { engine.mergedThrough }
  }

  /// Gives up if it keeps too much of what is not listed any more.
  mutating func checkBound(_ listed: Set<UInt64>, _ engine: Engine) {
    let kept = segments.lazy.filter { !listed.contains($0.id) }.reduce(0) { $0 + $1.fileLength }
    guard kept > keeping else { return }
    segments = []
    failure = Self.gone(since: next &- 1, oldest: engine.mergedThrough)
  }

  /// Notes where the history of a store ends that is being closed.
  mutating func end(_ engine: Engine) {
    let published = engine.publishedSequence
    hold(engine, through: published)
    last = end(of: engine)
    if next > published { segments = [] }
    for (id, core) in engine.keyspaces.withLock({ $0.byID }) { names[id] = core.name }
  }
}

extension Engine {
  /// The highest sequence number in a segment of the log that was merged away.
  var mergedThrough: UInt64 { manifests.withLock { $0.manifest.mergedThrough } }
}
