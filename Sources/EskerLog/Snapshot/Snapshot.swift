package import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// A store as it was at one instant, unaffected by later writes.
///
/// Iterating it yields each live entry once, in no particular order, without locks. Keys and values are read and verified when an
/// entry is asked for them. As long as a snapshot or an iterator of it exists, the segments that it shows stay on disk. Safe to
/// use from any thread; several iterations may run at once.
public final class Snapshot: Sequence, Sendable {
  fileprivate let writer: Writer
  fileprivate let state: SnapshotState
  /// The segments shown, in the order of their addresses.
  private let places: [(segment: Segment, end: Int)]

  init(of writer: Writer, _ state: SnapshotState) {
    self.writer = writer
    self.state = state
    places = state.segments.sorted { $0.segment.startUnits < $1.segment.startUnits }
  }

  deinit {
    writer.withLock { held in held.keys.close(state) }
  }

  /// The segments shown, each up to an offset.
  var extents: [(segment: Segment, end: Int)] { state.segments }

  /// The store time at that instant, in milliseconds since 1970.
  package var time: Int64 { state.time }

  /// The keyspaces at that instant.
  var keyspaces: [UInt32: KeyspaceTable.Shown] { state.keyspaces }

  /// The number of the next keyspace at that instant.
  var nextKeyspaceID: UInt32 { state.nextKeyspaceID }

  /// The keyspaces shown, as a manifest lists them.
  package var keyspaceRows: [KeyspaceRow] {
    keyspaces.map { id, keyspace in
      KeyspaceRow(
        id: id,
        incarnation: keyspace.tag.incarnation,
        defaultExpiry: keyspace.defaultExpiry,
        name: keyspace.name,
        forms: keyspace.forms
      )
    }.sorted { $0.id < $1.id }
  }

  /// Whether the snapshot shows the record at an address, provided that it is not too new and has not expired.
  func isLive(_ hash: UInt64, at address: UInt64) -> Bool { writer.keydir.leads(to: address, hash: hash, in: state) }

  /// The addresses, in order, that entries of a keyspace may have; nil if only reading everything tells.
  func addresses(of core: KeyspaceCore, _ tag: KeyspaceTag) throws(StoreError) -> [UInt64]? {
    var found: Set<UInt64> = []
    let isSmall = try writer.withAddresses(of: core, tag) { (_, address, _) throws(StoreError) in found.insert(address)
    }
    return isSmall ? found.union(state.superseded).sorted() : nil
  }

  /// The entry at an address, if the snapshot shows one of that keyspace there.
  func entry(at address: UInt64, ofKeyspace id: UInt32) -> Snapshot.Entry? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].segment.startUnits <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let keyspace = state.keyspaces[id] else { return nil }
    let (segment, end) = places[low - 1]
    let offset = Int(truncatingIfNeeded: (address &- segment.startUnits) &<< 3)
    guard offset < end else { return nil }
    if let view = segment.packedView(end: end) {
      guard let entry = view.entry(at: offset), entry.kind == .put, entry.keyspace == keyspace.tag,
        shows(entry.sequence, entry.expiry), isLive(entry.keyHash(writer.env.seed), at: address)
      else { return nil }
      return Snapshot.Entry(segment: segment, entry, keyspace: keyspace.name)
    }
    guard case .record(let header) = segment.readRecord(at: offset, end: end), header.kind == .put,
      header.keyspace == keyspace.tag, shows(header.sequence, header.expiry), isLive(header.keyHash, at: address)
    else { return nil }
    return Snapshot.Entry(segment: segment, offset: offset, header: header, keyspace: keyspace.name)
  }

  /// Whether a record with this number and expiry may be shown.
  fileprivate func shows(_ sequence: UInt64, _ expiry: Int64) -> Bool {
    sequence <= state.sequence && (expiry == .max || expiry > state.time)
  }

  /// The sequence number of the last write that the snapshot shows.
  public var sequence: SequenceNumber { SequenceNumber(rawValue: state.sequence) }

  /// The number of entries in all keyspaces, including expired ones that had not been removed yet. O(1).
  public var count: Int { state.count }

  /// An iterator that begins at the oldest segment, and keeps the snapshot open.
  public func makeIterator() -> Iterator {
    Iterator(self)
  }

  /// Reads the segments and yields the records that were live. Keeps its snapshot open.
  public struct Iterator: IteratorProtocol {
    /// Kept open, since overwritten records are noted only for open snapshots.
    private let snapshot: Snapshot
    private var position = 0
    private var offset = SegmentHeader.length
    /// Up to here, the buckets of the records' hashes were prefetched.
    private var prefetched = 0
    /// How many are prefetched at a time: the waits for memory overlap.
    private static let prefetchCount = 16
    /// The position in a packed segment.
    private var walk: PackedWalk?
    private var ahead: ScanWindow?
    /// Whether the missing end of a truncated packed segment has been reported.
    private var isPastEnd = false

    fileprivate init(_ snapshot: Snapshot) {
      self.snapshot = snapshot
    }

    private var writer: Writer { snapshot.writer }
    private var state: SnapshotState { snapshot.state }

    /// The next live entry, or a damaged range; nil at the end. O(records skipped).
    public mutating func next() -> Snapshot.Entry? {
      while position < state.segments.count {
        let (segment, end) = state.segments[position]
        if ahead?.isOf(segment) != true { look(at: segment) }
        if let view = segment.packedView(end: end) {
          if let entry = next(in: segment, view, to: end) { return entry }
          position += 1
          walk = nil
          isPastEnd = false
          continue
        }
        var records = RecordCursor(segment, from: offset, to: end)
        while let (place, header) = records.next() {
          if place >= prefetched { prefetch(in: segment, from: place, to: end) }
          ahead?.reach(place, size: header.size)
          if header.kind == .put, isShown(header.sequence, header.expiry, header.keyspace),
            writer.keydir.leads(to: segment.startUnits + UInt64(place >> 3), hash: header.keyHash, in: state)
          {
            offset = records.offset
            return Snapshot.Entry(segment: segment, offset: place, header: header, keyspace: name(of: header.keyspace))
          }
        }
        guard records.offset >= end else {
          let damaged = records.seek()
          offset = records.offset
          return Snapshot.Entry(damagedIn: segment, offset: damaged.lowerBound, length: damaged.count)
        }
        position += 1
        offset = SegmentHeader.length
        prefetched = 0
      }
      ahead?.finish()
      ahead = nil
      return nil
    }

    private mutating func prefetch(in segment: Segment, from offset: Int, to end: Int) {
      var records = RecordCursor(segment, from: offset, to: end)
      for _ in 0..<Self.prefetchCount {
        guard let (_, header) = records.next() else { break }
        writer.keydir.reader.prefetch(header.keyHash)
      }
      prefetched = records.offset
    }

    /// Reads ahead in the next segment.
    private mutating func look(at segment: Segment) {
      ahead?.finish()
      ahead = ScanWindow(segment)
      ahead?.reach(0)
    }

    /// The next live entry of a packed segment; nil at its end.
    private mutating func next(in segment: Segment, _ view: PackedSegmentView, to end: Int) -> Snapshot.Entry? {
      var walk = self.walk ?? PackedWalk(view)
      defer { self.walk = walk }
      while let step = walk.next(in: view) {
        switch step {
        case .record(let entry):
          ahead?.reach(entry.offset, size: entry.size)
          if entry.kind == .put, isShown(entry.sequence, entry.expiry, entry.keyspace),
            writer.keydir.leads(
              to: segment.startUnits + UInt64(entry.offset >> 3),
              hash: entry.keyHash(writer.env.seed),
              in: state
            )
          {
            return Snapshot.Entry(segment: segment, entry, keyspace: name(of: entry.keyspace))
          }
        case .damaged(let range):
          return Snapshot.Entry(damagedIn: segment, offset: range.lowerBound, length: range.count)
        }
      }
      let reach = segment.reach(end)
      guard reach < end, !isPastEnd else { return nil }
      isPastEnd = true
      return Snapshot.Entry(damagedIn: segment, offset: reach, length: end - reach)
    }

    private func isShown(_ sequence: UInt64, _ expiry: Int64, _ keyspace: KeyspaceTag) -> Bool {
      snapshot.shows(sequence, expiry) && state.keyspaces[keyspace.id]?.tag == keyspace
    }

    private func name(of keyspace: KeyspaceTag) -> String {
      state.keyspaces[keyspace.id]?.name ?? ""
    }
  }
}

extension SnapshotState {
  /// Opens a snapshot of the current state, without disk waits.
  ///
  /// During a merge, some index entries already lead to its outputs and others still to its inputs. So both are shown, and
  /// addresses that enter or leave the index from now on are noted: of a record and its copy, exactly one is seen.
  static func open(of writer: Writer) throws(StoreError) -> SnapshotState {
    try writer.withLock { (state) throws(StoreError) -> SnapshotState in
      // A close takes this lock before it releases the segments.
      try writer.env.checkOpen()
      writer.freeze(&state)
      let shown = writer.catalog.shown
      let snapshot = SnapshotState(
        sequence: writer.commits.publishedSequence,
        time: writer.env.time.now,
        count: writer.keydir.liveCount,
        keyspaces: writer.keydir.keyspaces.shown,
        nextKeyspaceID: writer.keydir.keyspaces.nextID,
        segments: shown.segments.compactMap { segment in
          let end = state.end(of: segment) ?? segment.recordsEnd
          return end == 0 ? nil : (segment, end)
        },
        isAmidMerge: shown.isAmidMerge
      )
      state.keys.open(snapshot)
      return snapshot
    }
  }
}
