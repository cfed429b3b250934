internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// A live record that was copied: where the index points now, and where it is to point.
struct MergeMove {
  var hash: UInt64
  var from: UInt64
  var to: UInt64
  var fromSize: UInt32
  var toSize: UInt32
  /// The output it was copied to; until that is finished, `to` is the ticket of the record there.
  var output: Int32
}

/// An index entry whose record has expired or is evicted, or whose keyspace was emptied.
struct PurgedEntry {
  var hash: UInt64
  var address: UInt64
  var size: Int
  var keyspace: KeyspaceTag
  var isEvicted: Bool
}

/// Walks the segments of a merge, copies live records, and notes what else is to be done.
///
/// Takes no lock: writes continue, and records that they supersede after the survey has seen them are copied in vain.
///
/// Safety: a record points into the mapping of an input, which its segment keeps: the run holds the inputs. Decompressed
/// values and copied keys outlive the closures that they are lent to, and an output keeps no pointer.
struct MergeSurvey: ~Copyable {
  private let merger: Merger
  private let rule: TombstoneRule
  /// The store time that decides what has expired.
  let now: Int64
  var writer: MergeWriter
  /// Bytes of records that eviction may still spare; nil if nothing is to be evicted.
  private var sparing: Int?
  private(set) var moves: [MergeMove] = []
  private(set) var purges: [PurgedEntry] = []
  private var shadows: [ShadowingRecord] = []
  /// The last write that had returned when the survey began.
  private let beginning: UInt64
  /// Bytes of the tombstones that are still needed, and the segments that contain what they hide.
  private(set) var shadowBytes = 0
  private(set) var blockers: [UInt64] = []
  private var window: [FooterEntry] = []
  /// Whether the last record's keyspace still has the record's incarnation.
  private var known: (tag: KeyspaceTag, isCurrent: Bool)?

  /// How many waits for memory overlap; at most 32, the bits of a word.
  private static let windowLength = 32

  init(_ merger: Merger, merging inputs: [Segment], now: Int64, for purpose: MergePurpose) {
    self.merger = merger
    self.now = now
    beginning = merger.commits.publishedSequence
    sparing =
      purpose == .eviction ? merger.takeSparing(for: inputs.reduce(0) { $0 + $1.recordBytes }) : nil
    rule = TombstoneRule(merger.catalog, merging: inputs)
    // A dictionary has parts of values, and keeps them when they are dead.
    let leavesNothing = purpose == .erasure || merger.env.options.erasure != .whenMerged
    writer = MergeWriter(merger.keydir, merging: inputs, now: now, usesDictionary: !leavesNothing)
    window.reserveCapacity(Self.windowLength)
  }

  /// Copies the live records of a segment.
  mutating func take(_ segment: Segment, _ pace: borrowing MergePace) throws(StoreError) {
    var damage: [StoreEvent] = []
    var walk = SegmentWalk(segment, merger.env.seed, damage: &damage)
    let summary = segment.facts.footer
    let isExpired = summary.offset > 0 && summary.neverExpiring == 0 && summary.maxExpiry <= now
    var passed = 0
    var ahead = ScanWindow(segment)
    defer { ahead.finish() }
    while let entry = try walk.next() {
      if entry.kind == .put { merger.keydir.reader.prefetch(entry.keyHash) }
      window.append(entry)
      passed += Int(entry.size)
      if window.count == Self.windowLength {
        let written = writer.bytes
        try drain(segment, isExpired, &ahead)
        if passed >= 1 << 18 {
          try pace.pass(bytes: writer.bytes - written)
          passed = 0
        }
      }
    }
    try drain(segment, isExpired, &ahead)
  }

  private mutating func drain(
    _ segment: Segment,
    _ isExpired: Bool,
    _ ahead: inout ScanWindow
  ) throws(StoreError) {
    let alive = try findAlive(segment)
    for (position, entry) in window.enumerated() {
      ahead.reach(Int(entry.offset), size: Int(entry.size))
      switch entry.kind {
      case .put:
        let isAlive = alive & 1 << position != 0
        try takePut(entry, segment, isAlive: isAlive, isExpired, isWarm: isAlive && ahead.wasPresent(Int(entry.offset)))
      case .tombstone: try noteShadow(entry, segment)
      // The manifest names the incarnation that began with a reset.
      case .reset, .seal, .filler: break
      }
    }
    window.removeAll(keepingCapacity: true)
  }

  /// The positions in the window of records that the index points to. No file is written under the pin.
  private func findAlive(_ segment: Segment) throws(StoreError) -> UInt32 {
    let pin = merger.env.epochs.enter()
    defer { merger.env.epochs.exit(pin) }
    var alive: UInt32 = 0
    for (position, entry) in window.enumerated() where entry.kind == .put {
      if try leads(to: segment.startUnits + entry.offset >> 3, entry.keyHash) { alive |= 1 << position }
    }
    return alive
  }

  private mutating func takePut(
    _ entry: FooterEntry,
    _ segment: Segment,
    isAlive: Bool,
    _ isExpired: Bool,
    isWarm: Bool
  ) throws(StoreError) {
    let address = segment.startUnits + entry.offset >> 3
    let isCurrent = isCurrent(entry.keyspace)
    guard isAlive else {
      // If its entry was purged, only the record itself hides older ones.
      if entry.expires { try noteShadow(entry, segment) }
      return
    }
    func purge(isEvicted: Bool = false) {
      purges.append(
        PurgedEntry(
          hash: entry.keyHash,
          address: address,
          size: Int(entry.size),
          keyspace: entry.keyspace,
          isEvicted: isEvicted
        )
      )
    }
    if !isCurrent { return purge() }
    if isExpired {
      purge()
      return try noteShadow(entry, segment)
    }
    let (header, record) = try record(entry, segment)
    if header.expiry <= now {
      purge()
      return try noteShadow(entry, segment)
    }
    if !spare(entry) {
      purge(isEvicted: true)
      return try noteShadow(entry, segment)
    }
    let place = try copy(header, record, segment, isWarm)
    moves.append(
      MergeMove(
        hash: header.keyHash,
        from: address,
        to: place.ticket,
        fromSize: UInt32(entry.size),
        toSize: UInt32(header.size),
        output: Int32(place.output)
      )
    )
  }

  /// Whether a live record is kept: always, unless the merge evicts.
  private mutating func spare(_ entry: FooterEntry) -> Bool {
    guard let room = sparing else { return true }
    guard merger.keydir.readMarks?.take(entry.keyHash) == true, Int(entry.size) <= room else { return false }
    sparing = room - Int(entry.size)
    return true
  }

  private mutating func copy(
    _ header: RecordHeader,
    _ record: StoredRecord,
    _ segment: Segment,
    _ isWarm: Bool
  ) throws(StoreError) -> (output: Int, ticket: UInt64) {
    switch record {
    case .plain(let record, _):
      let checksum = record.bodyChecksum
      return try unsafe writer.append(
        header,
        key: record.key,
        value: record.value,
        bodyChecksum: checksum,
        isWarm: isWarm
      )
    case .packed(let entry, let view):
      guard let value = view.intactValue(of: entry) else { throw unreadable(segment, entry.offset) }
      let key = entry.key
      return try unsafe key.withUnsafeBytesTyped { (key) throws(StoreError) in
        try unsafe value.withUnsafeBytesTyped { (value) throws(StoreError) in
          try unsafe writer.append(header, key: key, value: value, bodyChecksum: nil, isWarm: isWarm)
        }
      }
    }
  }

  /// Makes the copies durable. Must be called after everything was copied.
  mutating func finish() throws(StoreError) -> [Segment] {
    let segments = try writer.finish()
    if let sparing { merger.leaveSparing(sparing) }
    for segment in segments { segment.change { $0.note(mergedThrough: beginning) } }
    writer.settle(&moves)
    return segments
  }

  /// Determines the tombstones that are still needed. Must be called after all segments were taken.
  mutating func chooseTombstones() {
    (shadows, blockers) = rule.needed(shadows)
    shadowBytes = shadows.reduce(0) { $0 + ($1.segment.storedRecord(at: $1.offset)?.tombstoneSize ?? 0) }
  }

  /// Copies the tombstones that are still needed.
  mutating func takeTombstones() throws(StoreError) {
    for shadow in shadows {
      guard let record = shadow.segment.storedRecord(at: shadow.offset), record.headIsIntact else {
        throw unreadable(shadow.segment, shadow.offset)
      }
      let key = record.key
      let header = RecordHeader(
        sequence: record.sequence,
        kind: .tombstone,
        keyHash: shadow.hash,
        keyLength: key.count,
        valueLength: 0,
        keyspace: record.keyspace,
        durableLag: 0
      )
      _ = try unsafe key.withUnsafeBytesTyped { (key) throws(StoreError) in
        try unsafe writer.append(
          header,
          key: key,
          value: UnsafeRawBufferPointer(start: nil, count: 0),
          bodyChecksum: nil,
          isWarm: false
        )
      }
    }
  }

  // MARK: The state of a record

  private mutating func isCurrent(_ tag: KeyspaceTag) -> Bool {
    if let known, known.tag == tag { return known.isCurrent }
    // Records of an unknown keyspace are kept, unless it was removed.
    let core = merger.keydir.keyspaces[tag.id]
    let isCurrent = core.map { $0.tag.incarnation <= tag.incarnation } ?? !merger.keydir.keyspaces.isRemoved(tag.id)
    known = (tag, isCurrent)
    return isCurrent
  }

  private func leads(to address: UInt64, _ hash: UInt64) throws(StoreError) -> Bool {
    var probe = merger.keydir.reader.probe(hash)
    while let candidate = probe.next() {
      if candidate == address { return true }
    }
    if probe.isDamaged { throw merger.keydir.indexDamage() }
    return false
  }

  /// Notes a record whose key is gone, unless it is certain that it hides nothing.
  private mutating func noteShadow(_ entry: FooterEntry, _ segment: Segment) throws(StoreError) {
    guard entry.sequence > rule.floor, isCurrent(entry.keyspace), try !isSuperseded(entry, segment) else { return }
    shadows.append(
      ShadowingRecord(hash: entry.keyHash, sequence: entry.sequence, segment: segment, offset: Int(entry.offset))
    )
  }

  /// Whether the index points to a newer record of the same key.
  private func isSuperseded(_ entry: FooterEntry, _ segment: Segment) throws(StoreError) -> Bool {
    let pin = merger.env.epochs.enter()
    defer { merger.env.epochs.exit(pin) }
    var probe = merger.keydir.reader.probe(entry.keyHash)
    while let address = probe.next() {
      guard let place = merger.catalog.granules.place(of: address), let record = StoredRecord(at: place),
        record.sequence > entry.sequence, record.keyspace == entry.keyspace,
        record.mayHave(entry.keyHash, merger.env.seed), record.headIsIntact,
        let own = segment.storedRecord(at: Int(entry.offset))
      else { continue }
      if own.hasSameKey(as: record) { return true }
    }
    if probe.isDamaged { throw merger.keydir.indexDamage() }
    return false
  }

  /// A verified record, with the header for its copy. Of a packed record, the value is not verified.
  private func record(
    _ entry: FooterEntry,
    _ segment: Segment
  ) throws(StoreError) -> (header: RecordHeader, record: StoredRecord) {
    let offset = Int(entry.offset)
    guard let record = segment.storedRecord(at: offset), record.headIsIntact, record.sequence == entry.sequence,
      record.size == Int(entry.size)
    else { throw unreadable(segment, offset) }
    let header = RecordHeader(
      sequence: record.sequence,
      kind: .put,
      keyHash: entry.keyHash,
      keyLength: record.keyLength,
      valueLength: record.valueLength,
      expiry: record.expiry,
      keyspace: record.keyspace,
      durableLag: 0
    )
    guard record.mayHave(entry.keyHash, merger.env.seed) else { throw unreadable(segment, offset) }
    return (header, record)
  }

  private func unreadable(_ segment: Segment, _ offset: Int) -> StoreError {
    segment.change { $0.noteUnreadable() }
    return .damaged(segment.location(offset), reason: "a record cannot be read, so its segment is not merged")
  }
}

extension StoredRecord {
  /// The size in bytes of a tombstone for the same key.
  fileprivate var tombstoneSize: Int {
    RecordLayout.size(keyLength: keyLength, valueLength: 0, expiry: .max, keyspace: keyspace)
  }
}
