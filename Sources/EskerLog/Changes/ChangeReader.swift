internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Reads changes from a position in the log on.
///
/// Sequence numbers ascend by one within a segment of the log. Between segments there may be a gap: either recovery
/// skipped numbers after a cut, and nothing is missing, or a merge removed segments. The manifest's `mergedThrough` tells
/// which: above it, none were removed.
struct ChangeReader {
  /// The number of the next write to report.
  private var next: UInt64
  /// Where to continue reading in the first of `segments`.
  private var offset = SegmentHeader.length
  /// The segments to read, in order. The references keep them readable after merges have taken them off the list.
  private var segments: [Segment] = []
  /// The first number in the last segment that was added.
  private var newest: UInt64 = 0
  /// Whether what follows `segments` was merged away before it could be added.
  private var isBroken = false
  private var names = KeyspaceNames()
  private let keeping: Int
  /// Whether to report writes that a power failure may still undo.
  private let showsUnsynced: Bool
  private var failure: StoreError?
  /// The last write to report, once the store has been closed.
  private var last: UInt64?

  init(failingWith failure: StoreError) {
    next = 0
    keeping = 0
    showsUnsynced = true
    self.failure = failure
  }

  init(_ writer: Writer, since: UInt64?, keeping: Int, showsUnsynced: Bool) {
    self.keeping = keeping
    self.showsUnsynced = showsUnsynced
    let (published, tail, end) = writer.withLock { state in
      (writer.commits.publishedSequence, state.tail, state.offset)
    }
    let since = since ?? published
    next = since &+ 1
    if since > published {
      failure = Self.gone(since: since, oldest: published)
    } else if since < published {
      let (list, floor) = writer.catalog.version
      if since < floor {
        failure = Self.gone(since: since, oldest: floor)
      } else {
        add(list, through: published) { floor }
      }
    } else if let tail, end > SegmentHeader.length {
      segments = [tail]
      newest = tail.firstSequence
      offset = end
    }
  }

  private static func gone(since: UInt64, oldest: UInt64) -> StoreError {
    .historyGone(since: SequenceNumber(rawValue: since), oldest: SequenceNumber(rawValue: oldest))
  }

  /// The result of a step through the log.
  enum Step<Element: Sendable>: Sendable {
    case next(Element)
    /// A write to a keyspace that was not listed when the manifest was last read.
    case unknownKeyspace
    /// The write with this number has not happened yet.
    case nothing(next: UInt64)
    case end
  }

  // MARK: Reading

  /// The next write, if there is one.
  ///
  /// - Parameter isRefreshed: Whether the manifest has just been read again: a keyspace not listed now is an error.
  /// - Throws: What is wrong with a damaged record; the next call continues after it.
  mutating func read(_ writer: Writer, isRefreshed: Bool) throws(StoreError) -> Step<LogChange> {
    if let failure { throw failure }
    // Determined before anything is read: published records are complete.
    let published = last ?? end(of: writer)
    while next <= published {
      guard let segment = try current(writer, published) else {
        // Numbers that recovery skipped.
        next = published &+ 1
        break
      }
      let limit = segment.readableEnd
      switch segment.readRecord(at: offset, end: limit) {
      case .record(let header) where header.kind == .seal:
        leaveSegment()
      case .record(let header) where header.kind == .filler:
        offset += header.size
      case .record(let header) where header.sequence < next:
        offset += header.size
      case .record(let header) where isBehindReplaced(header):
        // Another process has not seen this feed, and given the room of what comes next to a later write.
        throw fail(oldest: max(writer.catalog.mergedThrough, header.sequence &- 1))
      case .record(let header) where header.sequence > published:
        next = header.sequence
      case .record(let header):
        switch names.find(header.keyspace.id, writer) {
        case .named(let name):
          return .next(try take(header, of: segment, name, limit, writer))
        case .removed where !header.removesKeyspace:
          // The record that removed the keyspace follows, and says all that is left to say of it.
          pass(header)
        case .unknown where !header.removesKeyspace:
          if !isRefreshed { return .unknownKeyspace }
          let place = offset
          pass(header)
          throw .damaged(segment.location(place), reason: "a record's keyspace is not in the manifest")
        case .removed, .unknown:
          return .next(try takeRemoval(header, of: segment, limit, writer))
        }
      case .end where segment.endsRecords(at: offset):
        leaveSegment()
      case .end, .damaged:
        throw skipDamage(in: segment, writer, published)
      }
    }
    return last == nil ? .nothing(next: next) : .end
  }

  /// The next write with all its changes, if all are there: a batch is in one segment, which merges keep or remove whole.
  ///
  /// - Throws: What is wrong with a damaged record. That splits a batch: what comes before it is returned, the next call throws, and
  ///   the one after that returns the rest.
  mutating func readBatch(_ writer: Writer, isRefreshed: Bool) throws(StoreError) -> Step<LogChange.Batch> {
    let start = self
    var changes: [LogChange] = []
    while true {
      let place = (offset, next)
      let step: Step<LogChange>
      do throws(StoreError) { step = try read(writer, isRefreshed: isRefreshed) } catch {
        guard let last = changes.last else { throw error }
        // What is damaged is found again.
        (offset, next) = place
        return .next(LogChange.Batch(sequence: last.sequence, changes: changes))
      }
      switch step {
      case .next(let change):
        changes.append(change)
        if change.batchContinues { continue }
        return .next(LogChange.Batch(sequence: change.sequence, changes: changes))
      case .unknownKeyspace:
        self = start
        return .unknownKeyspace
      case .nothing(let next):
        if !changes.isEmpty { self = start }
        return .nothing(next: next)
      case .end:
        if !changes.isEmpty { self = start }
        return .end
      }
    }
  }

  /// The last write that may be reported.
  private func end(of writer: Writer) -> UInt64 {
    showsUnsynced ? writer.commits.publishedSequence : writer.commits.durableSequence
  }

  private mutating func pass(_ header: RecordHeader) {
    offset += header.size
    next = header.sequence &+ 1
  }

  /// Copies a record, and advances past it even if it is damaged.
  ///
  /// Safety: the view is within `limit`, and `segment` keeps the mapping until the bytes are copied.
  private mutating func take(
    _ header: RecordHeader,
    of segment: Segment,
    _ name: String,
    _ limit: Int,
    _ writer: Writer
  ) throws(StoreError) -> LogChange {
    let place = offset
    pass(header)
    guard let record = segment.view(at: place, end: limit) else {
      throw segment.damage(place, RecordDamage.truncated.reason)
    }
    if let damage = record.damage(salt: segment.salt, offsetUnits: UInt32(truncatingIfNeeded: place >> 3)) {
      throw segment.damage(place, damage.reason)
    }
    let kind: LogChange.Kind =
      switch header.kind {
      case .put:
        .put(
          value: unsafe [UInt8](record.value),
          expiry: header.expires ? .at(WallTime(millisecondsSince1970: header.expiry)) : .never
        )
      case .reset: .removeAll
      case .tombstone, .seal, .filler: .remove
      }
    return LogChange(
      sequence: SequenceNumber(rawValue: header.sequence),
      keyspace: name,
      key: header.kind == .reset ? [] : unsafe [UInt8](record.key),
      kind: kind,
      batchContinues: goesOn(header, in: segment, limit, writer)
    )
  }

  /// The same for the record that removes a keyspace, which has its name.
  ///
  /// Safety: the view is within `limit`, and `segment` keeps the mapping until the bytes are copied.
  private mutating func takeRemoval(
    _ header: RecordHeader,
    of segment: Segment,
    _ limit: Int,
    _ writer: Writer
  ) throws(StoreError) -> LogChange {
    let place = offset
    let bytes = segment.view(at: place, end: limit).map { unsafe [UInt8]($0.key) }
    // The name is not shown unless the record is intact.
    let name = bytes.flatMap { String(validating: $0, as: UTF8.self) }
    let change = try take(header, of: segment, name ?? "", limit, writer)
    guard name != nil else { throw segment.damage(place, RecordDamage.malformed.reason) }
    return change
  }

  /// Skips a range that cannot be read, and returns the error to report.
  private mutating func skipDamage(in segment: Segment, _ writer: Writer, _ published: UInt64) -> StoreError {
    let place = offset
    var end = segment.readableEnd
    var behind = published &+ 1
    if segment.isSealed {
      behind = segment.lastSequence &+ 1
    } else if !writer.env.isFollowing {
      // Excludes what the writer is writing at the moment.
      writer.withLock { state in
        guard state.tail === segment else { return }
        end = state.offset
        behind = state.nextSequence
      }
    }
    var records = RecordCursor(segment, from: place, to: end)
    let lost = records.seek { [next] in $0.kind != .seal && $0.sequence >= next }
    if case .record(let header) = records.peek() {
      offset = records.offset
      next = header.sequence
    } else {
      // In the tail of another process, the place of the next record is unknown: the next search starts here again.
      if segment.isSealed || !writer.env.isFollowing { offset = end }
      next = max(next, behind)
    }
    return .damaged(
      segment.location(place),
      reason: "the header of a record is damaged; changes from \(lost.count) bytes of the log are lost"
    )
  }

  /// Whether another record of the same batch follows that is reported: those of keyspaces that were removed may not be.
  private mutating func goesOn(_ header: RecordHeader, in segment: Segment, _ limit: Int, _ writer: Writer) -> Bool {
    guard header.batchContinues else { return false }
    var records = RecordCursor(segment, from: offset, to: limit)
    while let (_, next) = records.next() {
      guard case .removed = names.find(next.keyspace.id, writer) else { return true }
      if !next.batchContinues { return false }
    }
    return true
  }

  // MARK: Segments

  /// The segment that contains the next write, or a later one; nil if there is none.
  private mutating func current(_ writer: Writer, _ published: UInt64) throws(StoreError) -> Segment? {
    dropRead()
    if segments.isEmpty, last == nil {
      add(writer.catalog.segments, through: published) { writer.catalog.mergedThrough }
    }
    if let segment = segments.first { return segment }
    let floor = writer.catalog.mergedThrough
    guard isBroken || next <= floor else { return nil }
    throw fail(oldest: floor)
  }

  private mutating func fail(oldest floor: UInt64) -> StoreError {
    let failure = Self.gone(since: next &- 1, oldest: floor)
    self.failure = failure
    return failure
  }

  /// Whether numbers are missing within a segment, whose first record is never replaced.
  private func isBehindReplaced(_ header: RecordHeader) -> Bool {
    header.sequence > next && offset > SegmentHeader.length
  }

  private mutating func leaveSegment() {
    segments.removeFirst()
    offset = SegmentHeader.length
  }

  /// Drops segments that have been read to their end.
  private mutating func dropRead() {
    while let segment = segments.first, segment.isSealed, segment.lastSequence < next {
      leaveSegment()
    }
  }

  /// Adds the log segments of a list that are still to be read and begin at or before `last`.
  private mutating func add(_ list: [Segment], through last: UInt64, floor: () -> UInt64) {
    guard !isBroken, failure == nil else { return }
    var found = list.filter { segment in
      let first = segment.firstSequence
      // One that is listed and has no record yet has a number that nothing was written with.
      guard segment.kind == .log, first > newest, first <= last else { return false }
      return !segment.isSealed || segment.lastSequence >= next
    }
    found.sort { $0.firstSequence < $1.firstSequence }
    for segment in found {
      let first = segment.firstSequence
      let before = max(next &- 1, segments.last?.lastSequence ?? 0)
      if first > before &+ 1, before < floor() {
        isBroken = true
        return
      }
      segments.append(segment)
      newest = first
    }
  }

  // MARK: Merges and closing

  /// Keeps references to all listed segments that have not been read.
  mutating func hold(_ writer: Writer, through last: UInt64) {
    dropRead()
    add(writer.catalog.segments, through: last) { writer.catalog.mergedThrough }
  }

  /// Ends with an error if the reader keeps too many bytes of segments that are no longer listed.
  mutating func checkBound(_ listed: Set<UInt64>, _ writer: Writer) {
    let kept = segments.lazy.filter { !listed.contains($0.id) }.reduce(0) { $0 + $1.fileLength }
    guard kept > keeping else { return }
    segments = []
    failure = Self.gone(since: next &- 1, oldest: writer.catalog.mergedThrough)
  }

  /// Notes where the history ends, because the store is being closed.
  mutating func end(_ writer: Writer) {
    let published = writer.commits.publishedSequence
    hold(writer, through: published)
    last = end(of: writer)
    if next > published { segments = [] }
    names.end(writer)
  }
}

/// What a feed delivers: changes, or batches of them.
protocol FeedElement: Sendable {
  static func read(
    _ reader: inout ChangeReader,
    _ writer: Writer,
    isRefreshed: Bool
  ) throws(StoreError) -> ChangeReader.Step<Self>
}

extension LogChange: FeedElement {
  static func read(
    _ reader: inout ChangeReader,
    _ writer: Writer,
    isRefreshed: Bool
  ) throws(StoreError) -> ChangeReader.Step<LogChange> {
    try reader.read(writer, isRefreshed: isRefreshed)
  }
}

extension LogChange.Batch: FeedElement {
  static func read(
    _ reader: inout ChangeReader,
    _ writer: Writer,
    isRefreshed: Bool
  ) throws(StoreError) -> ChangeReader.Step<LogChange.Batch> {
    try reader.readBatch(writer, isRefreshed: isRefreshed)
  }
}

extension RecordHeader {
  fileprivate var removesKeyspace: Bool { kind == .reset && keyspace.isRemoved }
}
