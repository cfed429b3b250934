package import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// A store as it was at one instant, unaffected by later writes.
///
/// Iterating it yields each live entry once, in no particular order, without locks. Keys and values are read and verified when an
/// entry is asked for them. As long as a snapshot or an iterator of it exists, the segments that it shows stay on disk. Safe to
/// use from any thread; several iterations may run at once.
public final class Snapshot: Sequence, Sendable {
  private let writer: Writer
  private let state: SnapshotState
  /// The segments shown, in the order of their addresses.
  private let places: [(segment: Segment, end: Int)]
  /// The keys of keyspaces in order, once they were asked for, by the keyspace's number.
  let orders = Guarded<[UInt32: SnapshotOrder]>([:], .leaf)

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

  /// Whether every record of a segment shown was live.
  func isWhole(_ position: Int) -> Bool { state.isWhole[position] }

  /// The store time at that instant, in milliseconds since 1970.
  package var time: Int64 { state.time }

  /// The keyspaces at that instant.
  var keyspaces: [UInt32: SnapshotKeyspace] { state.keyspaces }

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
        forms: keyspace.forms,
        budget: keyspace.budget
      )
    }.sorted { $0.id < $1.id }
  }

  /// Whether the snapshot shows the record at an address, provided that it is not too new and has not expired.
  func isLive(_ hash: UInt64, at address: UInt64) -> Bool { writer.keydir.leads(to: address, hash: hash, in: state) }

  /// The same for several records at once, bit by bit.
  func leads(_ batch: LeadBatch) -> UInt16 { writer.keydir.leads(batch, in: state) }

  /// The hash of a packed record's key.
  func hash(of record: PackedEntry) -> UInt64 { record.keyHash(writer.env.seed) }

  /// What its entries know of a keyspace.
  func place(of keyspace: KeyspaceTag, named name: String) -> Entry.Place {
    let seed = writer.env.seed
    return Entry.Place(name: name, hash: KeyHash(seedLow: seed.low, seedHigh: seed.high, keyspace: keyspace))
  }

  /// The addresses, in order, that entries of a keyspace may have; nil if only reading everything tells.
  func addresses(of core: KeyspaceCore, _ tag: KeyspaceTag) throws(StoreError) -> [UInt64]? {
    guard isOfStore(core) else { return nil }
    var found: Set<UInt64> = []
    let isSmall = try writer.withAddresses(of: core, tag) { (_, address, _) throws(StoreError) in found.insert(address)
    }
    guard isSmall else { return nil }
    var position = 0
    while case let some = superseded(behind: position), !some.isEmpty {
      found.formUnion(some)
      position += some.count
    }
    return found.sorted()
  }

  /// The addresses that were noted behind the first `position`: some, or all. None if there are none.
  func superseded(behind position: Int) -> [UInt64] { state.superseded(behind: position) }

  /// The number of addresses that were noted.
  var supersededCount: Int { state.supersededCount }

  /// Whether what is kept of a keyspace's keys is that of the store at hand: it may have been opened again since.
  private func isOfStore(_ core: KeyspaceCore) -> Bool { core.keydir === writer.keydir }

  /// The keys in order of a keyspace that is still what the snapshot shows; nil if nobody has asked for them, or one may be missing.
  func liveOrder(of core: KeyspaceCore) -> KeyOrder? {
    guard isOfStore(core), let shown = keyspaces[core.id] else { return nil }
    let (tag, order) = writer.withLock { _ in (core.tag, core.order) }
    guard tag == shown.tag else { return nil }
    guard let order, order.isWhole else { return nil }
    return order
  }

  /// The addresses to which the index leads for a hash, or one like it.
  ///
  /// - Throws: ``StoreError/damaged(_:reason:)`` if a part of the index is damaged.
  func addresses(for hash: UInt64) throws(StoreError) -> [UInt64] {
    var found: [UInt64] = []
    guard writer.keydir.forEachAddress(for: hash, { found.append($0) }) else { throw writer.keydir.indexDamage() }
    return found
  }

  /// The entry at an address, if the snapshot shows one of that keyspace there; or the damaged range, if nobody can tell.
  func entry(at address: UInt64, ofKeyspace id: UInt32) -> Snapshot.Entry? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].segment.startUnits <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let keyspace = keyspaces[id] else { return nil }
    let (segment, end) = places[low - 1]
    let offset = Int(truncatingIfNeeded: (address &- segment.startUnits) &<< 3)
    guard offset < end else { return nil }
    let place = place(of: keyspace.tag, named: keyspace.name)
    if let view = segment.packedView(end: end) {
      guard let entry = view.entry(at: offset) else { return damage(from: offset, in: segment, end) }
      guard entry.kind == .put, entry.keyspace == keyspace.tag, shows(entry.sequence, entry.expiry),
        isLive(hash(of: entry), at: address)
      else { return nil }
      return Snapshot.Entry(segment: segment, entry, keyspace: place)
    }
    guard case .record(let header) = segment.readRecord(at: offset, end: end) else {
      return damage(from: offset, in: segment, end)
    }
    guard header.kind == .put, header.keyspace == keyspace.tag, shows(header.sequence, header.expiry),
      isLive(header.keyHash, at: address)
    else { return nil }
    return Snapshot.Entry(segment: segment, offset: offset, header: header, keyspace: place)
  }

  private func damage(from offset: Int, in segment: Segment, _ end: Int) -> Snapshot.Entry {
    var entry = Snapshot.Entry(in: segment)
    if segment.layout.isPacked {
      entry.move(toDamage: offset..<end)
    } else {
      var records = RecordCursor(segment, from: offset, to: end)
      entry.move(toDamage: records.seek())
    }
    return entry
  }

  /// Whether a record with this number and expiry may be shown.
  @inline(__always)
  func shows(_ sequence: UInt64, _ expiry: Int64) -> Bool {
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
    /// nil once there is nothing more to yield.
    private var walk: SnapshotWalk?

    fileprivate init(_ snapshot: Snapshot) {
      walk = SnapshotWalk(snapshot)
    }

    /// The next live entry, or a damaged range; nil at the end. O(records skipped).
    public mutating func next() -> Snapshot.Entry? {
      if walk?.advance() == true { return walk?.entry }
      walk = nil
      return nil
    }
  }

  /// Calls `body` for each live entry, and each damaged range, until it returns false, in no particular order.
  ///
  /// As iterating, but several times as fast for small entries: `body` borrows the entry, and copies it only to keep it. Thread
  /// safety: any thread.
  ///
  /// - Parameters:
  ///   - keyspace: The name of the only keyspace whose entries are passed; nil for all. A damaged range may belong to any
  ///     keyspace, and is passed in any case.
  ///   - body: Returns whether to go on.
  /// - Throws: What `body` throws.
  /// - Complexity: O(records). No memory is allocated for an entry.
  public func forEachEntry(in keyspace: String? = nil, _ body: (borrowing Entry) throws -> Bool) rethrows {
    guard var walk = SnapshotWalk(self, only: keyspace) else { return }
    while walk.advance(), try body(walk.entry) {}
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
      let tail = state.logTail
      let segments = shown.segments.compactMap { segment -> (segment: Segment, end: Int)? in
        tail.recordsEnd(of: segment).map { (segment, $0) }
      }
      let snapshot = SnapshotState(
        sequence: writer.commits.publishedSequence,
        time: writer.env.time.now,
        count: writer.keydir.liveCount,
        keyspaces: writer.keydir.keyspaces.shown,
        nextKeyspaceID: writer.keydir.keyspaces.nextID,
        segments: segments,
        isWhole: segments.map { writer.keydir.leadsToAll(of: $0.segment, to: $0.end) },
        isAmidMerge: shown.isAmidMerge
      )
      state.keys.open(snapshot)
      return snapshot
    }
  }
}
