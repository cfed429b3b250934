internal import EskerFormat
internal import EskerIndex

/// Reads the segments of a snapshot in the order of the log, and stops at each record that it shows and at each damaged range.
///
/// One entry is changed in place from stop to stop, so that nothing is allocated or counted for one. Of a segment in which every
/// record was live, the index is not asked; of any other, for sixteen records at a time, whose waits for memory overlap.
struct SnapshotWalk {
  /// Kept open, since overwritten records are noted only for open snapshots.
  private let snapshot: Snapshot
  /// The only keyspace whose entries are shown; nil for all.
  private let only: KeyspaceTag?
  /// Where the walk stands. Meaningless before the first ``next()``, and after one that returned false.
  private(set) var entry: Snapshot.Entry
  private var next: Int
  private var segment: Segment
  private var end: Int
  private var isWhole: Bool
  private var records: RecordCursor
  /// The position in a packed segment.
  private var packed: PackedWalk?
  private var ahead: ScanWindow
  /// The bytes of the segments before this one, and of all.
  private var passed = 0
  private let total: Int
  /// Whether the missing end of a truncated packed segment has been reported.
  private var isPastEnd = false
  /// Up to here, the index was asked about records.
  private var asked = 0
  /// Bit by bit, which of those that follow the index led to.
  private var led: UInt16 = 0
  /// The keyspace looked for last, as most records are of that of the record before.
  private var last: (tag: KeyspaceTag, isShown: Bool, place: Snapshot.Entry.Place)

  /// - Parameter only: The name of the only keyspace whose entries are shown; damage is, whosever it is.
  /// - Returns: nil if the snapshot has no segment.
  init?(_ snapshot: Snapshot, only name: String? = nil) {
    guard let (segment, end) = snapshot.extents.first else { return nil }
    self.snapshot = snapshot
    // A keyspace that is not there shows nothing: no record has this tag.
    let none = KeyspaceTag(id: 0, incarnation: KeyspaceTag.removal)
    only = name.map { name in snapshot.keyspaces.values.first { $0.name == name }?.tag ?? none }
    entry = Snapshot.Entry(in: segment)
    next = 1
    self.segment = segment
    self.end = end
    isWhole = snapshot.isWhole(0)
    total = snapshot.extents.reduce(0) { $0 + $1.end }
    records = RecordCursor(segment, to: end)
    packed = segment.packedView(end: end).map { PackedWalk($0) }
    ahead = ScanWindow(segment)
    last = (none, false, .none)
    ahead.reach(0)
  }

  /// Goes to the next live entry or damaged range; false at the end. O(records skipped).
  mutating func advance() -> Bool {
    while true {
      if advanceInSegment() { return true }
      guard enterNext() else { return false }
    }
  }

  /// The same within the present segment; false at its end.
  @inline(__always)
  mutating func advanceInSegment() -> Bool { packed == nil ? advanceInRecords() : advanceInPacked() }

  /// The share of all bytes that lies before the present entry.
  var share: Double { Double(passed + entry.end) / Double(max(1, total)) }

  /// Goes to the beginning of the next segment; false if there is none.
  mutating func enterNext() -> Bool {
    ahead.finish()
    guard next < snapshot.extents.count else { return false }
    passed += end
    (segment, end) = snapshot.extents[next]
    isWhole = snapshot.isWhole(next)
    next += 1
    entry = Snapshot.Entry(in: segment)
    records = RecordCursor(segment, to: end)
    packed = segment.packedView(end: end).map { PackedWalk($0) }
    ahead = ScanWindow(segment)
    ahead.reach(0)
    isPastEnd = false
    asked = 0
    return true
  }

  private mutating func advanceInRecords() -> Bool {
    while let (place, header) = records.next() {
      if !isWhole, place >= asked { ask(from: place) }
      let isLed = isWhole || led & 1 == 1
      led >>= 1
      ahead.reach(place, size: header.size)
      prefetch(behind: place, header.size)
      guard isLed, isShown(header) else { continue }
      entry.move(to: place, header, in: last.place)
      return true
    }
    guard records.offset < end else { return false }
    let damaged = records.seek()
    entry.move(toDamage: damaged)
    return true
  }

  /// Prefetches the bytes of records to come, one after the other: where one begins is only known from the one before, so that the walk
  /// would wait for memory at each. Long ones are left to the processor, which then has time to follow.
  @inline(__always)
  private func prefetch(behind place: Int, _ size: Int) {
    guard size <= Self.prefetchedSize else { return }
    segment.prefetch(place &+ Self.prefetchDistance..<place &+ Self.prefetchDistance &+ size)
  }

  private static let prefetchedSize = 512
  private static let prefetchDistance = 2048

  private mutating func advanceInPacked() -> Bool {
    guard let view = segment.packedView(end: end) else { return false }
    while let step = packed?.next(in: view) {
      switch step {
      case .record(let record):
        ahead.reach(record.offset, size: record.size)
        guard record.kind == .put, isShown(record.sequence, record.expiry, record.keyspace),
          snapshot.isLive(snapshot.hash(of: record), at: segment.address(of: record.offset))
        else { continue }
        entry.move(to: record, in: last.place)
      case .damaged(let range): entry.move(toDamage: range)
      }
      return true
    }
    let reach = segment.reach(end)
    guard reach < end, !isPastEnd else { return false }
    isPastEnd = true
    entry.move(toDamage: reach..<end)
    return true
  }

  /// Asks the index about the next records.
  private mutating func ask(from offset: Int) {
    var batch = LeadBatch()
    var records = RecordCursor(segment, from: offset, to: end)
    while !batch.isFull, let (place, header) = records.next() {
      if isShown(header) { batch.add(header.keyHash, segment.address(of: place)) } else { batch.skip() }
    }
    led = snapshot.leads(batch)
    asked = records.offset
  }

  @inline(__always)
  private mutating func isShown(_ header: RecordHeader) -> Bool {
    header.kind == .put && isShown(header.sequence, header.expiry, header.keyspace)
  }

  @inline(__always)
  private mutating func isShown(_ sequence: UInt64, _ expiry: Int64, _ keyspace: KeyspaceTag) -> Bool {
    guard snapshot.shows(sequence, expiry) else { return false }
    if keyspace != last.tag { look(for: keyspace) }
    return last.isShown
  }

  private mutating func look(for keyspace: KeyspaceTag) {
    let shown = snapshot.keyspaces[keyspace.id]
    let isShown = shown?.tag == keyspace && (only == nil || only == keyspace)
    last = (keyspace, isShown, snapshot.place(of: keyspace, named: shown?.name ?? ""))
  }
}

extension Segment {
  /// The address of the record at an offset.
  func address(of offset: Int) -> UInt64 { startUnits + UInt64(offset >> 3) }
}
