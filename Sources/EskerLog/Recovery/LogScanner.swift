internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// Reads log segments after a crash, in the order of history, and finds where history ends.
///
/// A lost page reads as zeros, and pages of a later segment may be on disk while those of an earlier one are not. So the
/// first gap in the sequence numbers is either damage (the missing records had been durable) or the hole that the crash
/// left (they had not). The highest number known to have been durable, from the manifest and from records, decides: at or
/// below it, what is missing is reported, and reading continues after it; above it, history ends there, and everything
/// after that was never acknowledged as durable and is cut off, in all segments.
///
/// Where records have replaced others, numbers do not ascend. What is durable counts in any order, and so does what `ReuseCheck` finds
/// to be all there; it is applied by number. Behind that, only the next number goes on.
struct LogScanner: ~Copyable {
  private let writer: Writer
  /// The highest sequence number known to have been durable.
  private(set) var durable: UInt64
  /// The same, according to the manifest.
  private let listedDurable: UInt64
  private let generation: UInt64
  /// Up to which number the index has all records.
  private let known: UInt64
  /// Where a reader may stop: what comes later was written after it had begun.
  private let sought: UInt64
  /// The number the next record must have.
  private(set) var expected: UInt64
  /// The highest number seen anywhere, even beyond the end of history.
  private(set) var highest: UInt64
  private(set) var damage: [Report.Verification.Damage] = []
  /// Set once history ends before the end of the segments.
  private(set) var cut: Cut?
  /// Where each segment ends that was read, the one included in which history does.
  private(set) var ends: [UInt64: End] = [:]
  private var replay: LogReplay
  private var hasGatheredEvidence = false
  private var batch: [LogRecord] = []
  private var batchStart = 0
  private var batchSegment: Segment?
  private var lastKeyspace: UInt32?
  /// How much of a segment is whole, once that was looked at.
  private var reuseCheck: (segment: Segment, end: Int)?
  /// Whether no record of the segment that is being read was met yet.
  private var isAtStart = false
  /// Whether numbers do not ascend in the segment that is being read; then its records wait to be applied.
  private var isUnordered = false
  private var unordered: [LogRecord] = []
  /// The numbers of the records in the segment that is being read, and the damage in it whose numbers they will tell.
  private var numbers = RecordNumbers(from: nil, lastReuse: 0)
  private var holes: [Hole] = []
  /// Where a read-only store has looked again whether a writer has written there meanwhile. Once is enough, and more often could go on
  /// for ever: every other step goes forward.
  private var lookedAgainAt: Int?

  /// Where a segment's records end, and the number of the last.
  struct End {
    var offset: Int
    var last: UInt64
    /// Whether records that had been durable are missing there.
    var lacksRecords = false
    /// Whether its seal says so.
    var isSealed = false
    var hasRecords: Bool { offset > SegmentHeader.length }
  }

  /// Where records are missing, and the position in ``damage`` of what is said of it.
  private struct Hole {
    var length: Int
    var damage: Int
  }

  /// The end of history.
  struct Cut {
    var segment: Segment
    var offset: Int
    /// Whether records after it are discarded that no writer can be writing at the moment.
    var isHole = false
    /// Whether what is missing in a segment that takes no more records is nowhere else: no newer manifest lists it.
    var isFinal = false
  }

  /// - Parameters:
  ///   - known: Up to which number the index has all records: these are only passed.
  ///   - sought: Where a read-only store may stop, which goes on from there as the writer writes.
  init(_ writer: Writer, _ manifest: Manifest, expected: UInt64, above known: UInt64 = 0, through sought: UInt64) {
    self.writer = writer
    self.known = known
    self.sought = max(sought, manifest.durableSequence)
    self.expected = expected
    durable = manifest.durableSequence
    listedDurable = durable
    generation = manifest.generation
    highest = expected &- 1
    replay = LogReplay(writer)
  }

  var replayed: Int { replay.count }

  /// Reads the records of the first segment, up to its end or the end of history.
  ///
  /// - Parameters:
  ///   - segments: The rest of the segments in the order of history.
  ///   - isSettled: Whether the manifest determines where the records end.
  mutating func scan(_ segments: ArraySlice<Segment>, from start: Int, isSettled: Bool) {
    guard cut == nil, let segment = segments.first else { return }
    lookedAgainAt = nil
    isAtStart = start == SegmentHeader.length
    numbers = RecordNumbers(from: expected, lastReuse: segment.reuseWords.last)
    var offset = start
    while cut == nil {
      let limit = segment.readableEnd
      switch segment.readRecord(at: offset, end: limit) {
      case .record(let header) where header.kind == .filler:
        if header.isMark { numbers.passMark(header.sequence) }
        offset += header.size
      case .record(let header) where header.kind == .seal && isAmidDurable(offset, segment):
        report(segment, offset, length: header.size, SegmentWalk.sealAmidRecords)
        offset += header.size
      case .record(let header) where header.kind == .seal && header.sequence < expected:
        // With a lower number, the segment was read long ago, and nothing that is missing was in it.
        endSegment(segment, offset)
        ends[segment.id]?.last = header.sequence
        ends[segment.id]?.isSealed = true
        return
      case .record(let header) where header.sequence == expected && header.kind != .seal:
        if expected > sought, batch.isEmpty, !isUnordered {
          end(at: offset, in: segment)
          return
        }
        if let next = take(header, at: offset, of: segment, segments) { offset = next }
      case .record(let header) where header.kind != .seal && isWhole(header, at: offset, segments):
        if let next = takeReused(header, at: offset, of: segment, segments) { offset = next }
      case .end where isSettled && offset >= limit && expected > segment.lastSequence:
        endSegment(segment, offset)
        return
      case .end where goesOn(behind: offset, in: segment, segments.dropFirst()),
        .damaged where goesOn(behind: offset, in: segment, segments.dropFirst()):
        endSegment(segment, offset)
        return
      case .end where !isSettled && !isMissing(segment, offset, segments):
        endSegment(segment, offset)
        return
      case .record, .end, .damaged:
        guard let next = skip(from: offset, in: segment, segments) else { return }
        offset = next
      }
    }
  }

  /// Where the records of a segment end, if not where the manifest says.
  ///
  /// Of one that it calls sealed, that is so if history ends there. And above the durable number, such a row is a claim. After a power
  /// failure the file may be as it was a moment before: no record is missing, but the mark behind the last one is.
  func correctedEnd(of segment: Segment) -> End? {
    guard segment.isSettled else { return ends[segment.id] }
    if let cut, cut.segment === segment { return cut.isFinal ? ends[segment.id] : nil }
    guard segment.lastSequence > durable, var end = ends[segment.id], !end.lacksRecords,
      end.last >= segment.lastSequence,
      let claimed = segment.recordsEnd, end.offset < claimed
    else { return nil }
    end.last = segment.lastSequence
    return end
  }

  private mutating func endSegment(_ segment: Segment, _ offset: Int, lacksRecords: Bool = false) {
    applyUnordered()
    nameMissing()
    ends[segment.id] = End(offset: offset, last: expected &- 1, lacksRecords: lacksRecords)
  }

  // MARK: Records that have replaced others

  /// Whether a record counts although its number is not the next one.
  private mutating func isWhole(_ header: RecordHeader, at offset: Int, _ segments: ArraySlice<Segment>) -> Bool {
    guard let segment = segments.first, !isBehindUnlisted(header) else { return false }
    if header.sequence <= durable { return true }
    if reuseCheck?.segment !== segment {
      // A writer in another process adds up all that is there.
      if writer.env.isFollowing { _ = writer.catalog.growToFile(segment) }
      reuseCheck = (segment, ReuseCheck.end(of: segment, durable: durable))
    }
    if let end = reuseCheck?.end, offset < end { return true }
    gatherEvidence(behind: offset, segments)
    return header.sequence <= durable
  }

  /// Whether the numbers in front of a segment's first record may be in one that this manifest does not list. A writer, in another process,
  /// creates a segment for what is too large for an empty one, which it uses afterwards.
  private func isBehindUnlisted(_ header: RecordHeader) -> Bool {
    isAtStart && header.sequence > expected && isOvertaken
  }

  /// The same as ``take(_:at:of:_:)``, for a record that is not the next one.
  private mutating func takeReused(
    _ header: RecordHeader,
    at offset: Int,
    of segment: Segment,
    _ segments: ArraySlice<Segment>
  ) -> Int? {
    let before = expected
    isUnordered = true
    guard let next = take(header, at: offset, of: segment, segments) else { return nil }
    expected = max(before, expected)
    writer.catalog.noteReuse(through: expected &- 1)
    return next
  }

  private mutating func apply(_ record: LogRecord) {
    if record.sequence <= known { return }
    if isUnordered { unordered.append(record) } else { replay.apply(record) }
  }

  /// Applies by number what is not in that order: a removal comes before what was written after it, wherever they stand.
  private mutating func applyUnordered() {
    guard isUnordered else { return }
    isUnordered = false
    unordered.sort { $0.sequence < $1.sequence }
    for record in unordered { replay.apply(record) }
    unordered = []
  }

  /// Continues with a later number, after a cut recorded in the manifest.
  mutating func jump(to sequence: UInt64) {
    expected = sequence
  }

  /// Applies the records of a sealed and durable segment by its footer; false if that is inconsistent, so that the
  /// records must be read.
  ///
  /// Safety: the array outlives the calls of the cursor, which checks what it reads.
  mutating func take(_ footer: SegmentFooter, _ bytes: [UInt8], of segment: Segment) -> Bool {
    var cursor = footer.entries(segment.layout)
    var entries: [FooterEntry] = []
    var next: UInt64?
    let bytes = ContiguousArray(bytes)
    repeat {
      do throws(FormatError) { unsafe try cursor.next(into: &entries, from: bytes.span.bytes) } catch {
        let reason = "the segment's footer contradicts itself; the records are read instead"
        report(segment, Int(footer.recordsEnd), length: footer.length, reason)
        return false
      }
      for entry in entries where entry.kind != .filler {
        if let next, entry.sequence != next, !isUnordered {
          isUnordered = true
          writer.catalog.noteReuse(through: segment.lastSequence)
        }
        next = entry.sequence &+ 1
        apply(LogRecord(entry, of: segment))
      }
    } while !entries.isEmpty
    expected = segment.lastSequence &+ 1
    highest = max(highest, expected &- 1)
    endSegment(segment, Int(footer.recordsEnd))
    return true
  }

  /// Applies a record with an intact header; returns the offset after it, or nil if history ends here.
  @inline(__always)
  private mutating func take(
    _ header: RecordHeader,
    at offset: Int,
    of segment: Segment,
    _ segments: ArraySlice<Segment>
  ) -> Int? {
    if let known = header.durableSequence { durable = max(durable, known) }
    // A keyspace is listed before it is written to: if a writer in another process has created it, in a newer manifest.
    if writer.env.isFollowing, !isKnown(header.keyspace.id), isOvertaken {
      end(at: offset, in: segment)
      return nil
    }
    if !isIntact(offset, of: segment) {
      switch judge(header, at: offset, of: segment, segments) {
      case .isThereNow: return offset
      case .isDurable: break
      case .endsHistory: return nil
      }
    }
    isAtStart = false
    if !batch.isEmpty { dropBatch(unlessIn: segment) }
    let record = LogRecord(header, at: offset, of: segment)
    numbers.pass(header.sequence)
    expected = header.sequence &+ 1
    highest = max(highest, header.sequence)
    if batch.isEmpty, !header.batchContinues {
      apply(record)
    } else {
      if batch.isEmpty { (batchStart, batchSegment) = (offset, segment) }
      batch.append(record)
      if !header.batchContinues { commitBatch() }
    }
    return offset + header.size
  }

  /// What it means that a record's key and value do not match their checksum.
  private enum Judgement {
    /// A writer in another process has finished the record meanwhile.
    case isThereNow
    /// The record was durable, and is damaged: its key stays in the index, and reading it is an error.
    case isDurable
    /// The record was never acknowledged as durable.
    case endsHistory
  }

  private mutating func judge(
    _ header: RecordHeader,
    at offset: Int,
    of segment: Segment,
    _ segments: ArraySlice<Segment>
  ) -> Judgement {
    let wasDurable = header.sequence <= durable
    if !wasDurable { gatherEvidence(behind: offset + 8, segments) }
    // A writer in another process may have been writing it, and have finished since.
    if writer.env.isFollowing {
      _ = writer.catalog.growToFile(segment)
      if isIntact(offset, of: segment) { return .isThereNow }
    }
    let isOvertaken = !wasDurable && isOvertaken
    if header.sequence > durable || isOvertaken {
      let isHole = highest > header.sequence
      // The record is discarded. For a read-only store it may be one that is being written.
      if !writer.env.isFollowing { highest = max(highest, header.sequence) }
      end(at: offset, in: segment, isHole: isHole, isFinal: !isOvertaken)
      return .endsHistory
    }
    let reason =
      "the checksum of a record's key and value does not match: \(LostRecords(header.sequence).text)"
    let key = segment.intactKey(of: header, at: offset, writer.env.seed)
    report(segment, offset, key: key, length: header.size, reason)
    damage[damage.count - 1].records = 1
    return .isDurable
  }

  /// Drops an unfinished batch if history continues in another segment: a batch is always in one segment, so this one
  /// never took effect.
  private mutating func dropBatch(unlessIn segment: Segment) {
    guard let first = batch.first, let batchSegment, batchSegment !== segment else { return }
    ends[batchSegment.id] = End(offset: batchStart, last: first.sequence &- 1)
    batch.removeAll(keepingCapacity: true)
  }

  private mutating func commitBatch() {
    for record in batch { apply(record) }
    batch.removeAll(keepingCapacity: true)
  }

  /// Whether history goes on in a later segment, so that this one ends here.
  private func goesOn(behind offset: Int, in segment: Segment, _ later: ArraySlice<Segment>) -> Bool {
    goesOn(in: later) && !hasDurable(behind: offset, in: segment)
  }

  /// Whether a later segment begins with the next number, so that no record is missing in this one.
  ///
  /// Its seal may be missing: a sync can happen between the last record and the seal, and later records can become
  /// durable before it. A segment may also be left unused because its first record would have been too large for it.
  /// Always false within a batch, which is in one segment.
  private func goesOn(in later: ArraySlice<Segment>) -> Bool {
    batch.isEmpty && later.contains { writer.catalog.firstNumber(of: $0) == expected }
  }

  /// Whether history continues although the log seems to end here: then the zeros are not the end.
  private mutating func isMissing(_ segment: Segment, _ offset: Int, _ segments: ArraySlice<Segment>) -> Bool {
    // A sealed segment ends with its seal; without one, records are missing only if there are later ones or a higher
    // durable number.
    if durable >= expected { return true }
    gatherEvidence(behind: offset, segments)
    return highest >= expected || hasDurable(behind: offset, in: segment)
  }

  /// Whether something follows that shows that what is missing was durable, where records have replaced others, and numbers do not tell.
  private func hasDurable(behind offset: Int, in segment: Segment) -> Bool {
    guard isUnordered else { return false }
    if isAmidDurable(offset, segment) { return true }
    var records = RecordCursor(segment, from: offset, to: segment.readableEnd, stopsAtMarks: true)
    records.seek { isBehindDurable($0) }
    if case .record = records.peek() { return true }
    return false
  }

  /// Whether a place is in front of where the records end of a segment that was synced as a whole: what cannot be read there is damage,
  /// even if no number is missing, because a later one stands further in front.
  private func isAmidDurable(_ offset: Int, _ segment: Segment) -> Bool {
    guard let end = segment.recordsEnd, offset < end else { return false }
    return segment.lastSequence != 0 && segment.lastSequence <= durable
  }

  /// Whether all that stands in front of a record was durable.
  ///
  /// What stood in front of a durable record when it was synced has stayed since, and was durable too. In front of a mark or a seal are
  /// only numbers up to its own. The record after the last durable one was written behind all that was synced, or was synced with it.
  private func isBehindDurable(_ header: RecordHeader) -> Bool {
    if header.sequence <= durable { return header.kind != .seal || header.sequence &+ 1 >= expected }
    return header.kind != .seal && header.sequence == expected && expected == durable &+ 1
  }

  /// Decides between damage and the end of history; returns the offset at which to continue, or nil if this segment is
  /// done.
  private mutating func skip(from offset: Int, in segment: Segment, _ segments: ArraySlice<Segment>) -> Int? {
    gatherEvidence(behind: offset, segments)
    if writer.env.isFollowing, lookedAgainAt != offset {
      lookedAgainAt = offset
      if hasNext(at: offset, in: segment, segments.dropFirst()) { return offset }
    }
    // A crash does not truncate files.
    let isLost =
      durable >= expected || (segment.isShort.load(ordering: .relaxed) && highest >= expected)
      || hasDurable(behind: offset, in: segment)
    let isOvertaken = isOvertaken
    guard isLost, !isOvertaken else {
      end(at: offset, in: segment, isHole: highest >= expected, isFinal: !isOvertaken)
      return nil
    }
    // What is missing was durable, so its batch was complete: the rest of it counts.
    commitBatch()
    // With its first record, the segment has lost the number that it begins with: a later one, of which its first readable record has
    // told, would hide what is missing.
    let first = segment.firstSequence
    if offset == SegmentHeader.length, !segment.isSettled, first == 0 || first > expected {
      segment.change { $0.begin(with: expected) }
    }
    var records = RecordCursor(segment, from: offset, to: segment.readableEnd, stopsAtMarks: true)
    let missing = records.seek { header in
      isBehindDurable(header) || header.kind != .seal && header.kind != .filler && header.sequence >= expected
    }
    guard case .record(let header) = records.peek() else {
      reportMissingRest(of: segment, offset, segments)
      return nil
    }
    // A mark or a seal has the number of the last record in front of it.
    let next = header.isMark || header.kind == .seal ? header.sequence &+ 1 : header.sequence
    reportMissing(segment, offset, length: missing.count)
    // What has the numbers in between may follow: it must not be applied after this one.
    if next > expected, segment.reuseWords.last != 0 { isUnordered = true }
    // Where records have replaced others, what follows may be older.
    expected = max(expected, next)
    return records.offset
  }

  private mutating func isKnown(_ keyspace: UInt32) -> Bool {
    if keyspace == lastKeyspace { return true }
    guard !writer.keydir.keyspaces.isUnknown(keyspace) else { return false }
    lastKeyspace = keyspace
    return true
  }

  @inline(__always)
  private func isIntact(_ offset: Int, of segment: Segment) -> Bool {
    segment.view(at: offset, end: segment.readableEnd)?.bodyIsIntact == true
  }

  /// Whether the next record is there after all, if a writer in another process may have written it. Checked after there
  /// is evidence of later records: records are published in order, so this one must now be visible unless it is damaged.
  private func hasNext(at offset: Int, in segment: Segment, _ later: ArraySlice<Segment>) -> Bool {
    _ = writer.catalog.growToFile(segment)
    switch segment.readRecord(at: offset, end: segment.readableEnd) {
    case .record(let header) where header.kind == .seal: return header.sequence &+ 1 == expected
    // A mark, which the writer makes once it knows of the reader: the record stands behind it.
    case .record(let header) where header.kind == .filler: return true
    case .record(let header): return header.sequence == expected
    case .end, .damaged: return goesOn(behind: offset, in: segment, later)
    }
  }

  /// Whether a writer in another process has continued in segments that this manifest does not list: what is missing here
  /// may be there.
  private var isOvertaken: Bool {
    guard writer.env.isFollowing, listedDurable < expected else { return false }
    return (try? writer.catalog.readCopies())?.newest.map { $0.generation != generation } ?? true
  }

  /// Reports the rest of a segment as missing, since nothing readable follows in it. History continues in the next one,
  /// if any.
  private mutating func reportMissingRest(of segment: Segment, _ offset: Int, _ segments: ArraySlice<Segment>) {
    let following = segments.dropFirst().lazy.compactMap { Self.firstSequence(of: $0) }.first
    var last = following.map { $0 &- 1 } ?? durable
    if segment.isSettled {
      last = min(last, segment.lastSequence)
    }
    let lacksRecords = last >= expected || isAmidDurable(offset, segment)
    if lacksRecords {
      // As far as the records should go, whether or not the file does.
      reportMissing(segment, offset, length: max(0, (segment.recordsEnd ?? segment.readableEnd) - offset))
      expected = max(expected, last &+ 1)
      highest = max(highest, last)
    }
    endSegment(segment, offset, lacksRecords: lacksRecords)
  }

  private mutating func end(at offset: Int, in segment: Segment, isHole: Bool = false, isFinal: Bool = false) {
    applyUnordered()
    nameMissing()
    let start = takeBackBatch() ?? (segment, offset)
    cut(at: start.offset, in: start.segment, isHole: isHole && isFinal, isFinal: isFinal)
  }

  private mutating func cut(at offset: Int, in segment: Segment, isHole: Bool = false, isFinal: Bool = false) {
    ends[segment.id] = End(offset: offset, last: expected &- 1)
    cut = Cut(segment: segment, offset: offset, isHole: isHole, isFinal: isFinal)
  }

  /// Drops a batch without an end, which never took effect; returns where it begins, if there is one.
  private mutating func takeBackBatch() -> (segment: Segment, offset: Int)? {
    guard let first = batch.first, let batchSegment else { return nil }
    expected = first.sequence
    batch.removeAll()
    return (batchSegment, batchStart)
  }

  /// Examines everything after the place where reading stopped: how far did history get, and how far was it durable?
  ///
  /// Once is enough: everything after a later place is also after the first one.
  private mutating func gatherEvidence(behind start: Int, _ segments: ArraySlice<Segment>) {
    if hasGatheredEvidence { return }
    hasGatheredEvidence = true
    var offset = start
    for segment in segments {
      var records = RecordCursor(segment, from: offset, to: segment.readableEnd)
      records.seek()
      while let (_, header) = records.next() {
        highest = max(highest, header.sequence)
        if let known = header.durableSequence { durable = max(durable, known) }
        records.seek()
      }
      offset = SegmentHeader.length
    }
  }

  /// Reports that records are missing; which ones is told behind them.
  private mutating func reportMissing(_ segment: Segment, _ offset: Int, length: Int) {
    // Nobody knows how much a file had that is shorter than it was, unless it was sealed.
    let isUnknown = segment.recordsEnd == nil && segment.isShort.load(ordering: .relaxed)
    numbers.passHole(bytes: isUnknown && offset + length >= segment.readableEnd ? .max : length)
    holes.append(Hole(length: length, damage: damage.count))
    report(segment, offset, length: length, "a record is damaged")
  }

  /// Says of the damage in the segment that is being read which records are missing there.
  private mutating func nameMissing() {
    if holes.isEmpty { return }
    numbers.end(through: expected &- 1)
    for (hole, lost) in zip(holes, numbers.losses) {
      guard let lost else { continue }
      damage[hole.damage].reason = "\(lost.sentence) (\(hole.length) bytes)"
      damage[hole.damage].records = lost.count
    }
    holes = []
  }

  private mutating func report(_ segment: Segment, _ offset: Int, key: [UInt8]? = nil, length: Int, _ reason: String) {
    let location = segment.location(offset, key: key)
    damage.append(.init(location: location, length: length, reason: "\(reason) (\(length) bytes)"))
  }

  /// Ends the scan, and cuts off an unfinished batch.
  mutating func finish() {
    if cut == nil, let (segment, offset) = takeBackBatch() { cut(at: offset, in: segment) }
    applyUnordered()
    nameMissing()
    replay.drain()
  }

  /// The number of the first readable record of a segment; nil if there is none.
  static func firstSequence(of segment: Segment) -> UInt64? {
    var records = RecordCursor(segment, to: segment.readableEnd)
    records.seek()
    guard let (_, header) = records.next(), header.kind != .seal else { return nil }
    return header.sequence
  }
}
