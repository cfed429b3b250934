internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

/// A store as it was at one instant, whatever is written since.
///
/// Iterating it shows each live entry once, in no promised order, without locks. Keys and values are read, and checked, when
/// an entry is asked for them. While a snapshot exists, or an iterator of it, the segments it shows stay on disk. Safe to use
/// from any thread; several iterations may run at once.
public final class Snapshot: Sequence, Sendable {
  fileprivate let engine: Engine
  fileprivate let state: SnapshotState

  init(engine: Engine, state: SnapshotState) {
    self.engine = engine
    self.state = state
  }

  deinit {
    engine.release(state)
  }

  /// The segments shown, and how far.
  var extents: [(segment: Segment, end: Int)] { state.segments }

  /// The store time of the instant, in milliseconds.
  var time: Int64 { state.time }

  /// The keyspaces there were, and the incarnation each was in.
  var keyspaces: [UInt32: (name: String, tag: KeyspaceTag)] { state.keyspaces }

  /// Whether the snapshot shows the record at an address, if it is not too new and has not expired.
  func isLive(_ hash: UInt64, at address: UInt64) -> Bool { engine.leads(to: address, hash: hash, in: state) }

  /// The last write the snapshot shows.
  public var sequence: SequenceNumber { SequenceNumber(rawValue: state.sequence) }

  /// Entries of all keyspaces, expired ones that were not reaped included. O(1).
  public var count: Int { state.count }

  /// The entries of one keyspace. Iterating them keeps the snapshot open.
  public func entries(in keyspace: Keyspace) -> some Sequence<LogEntry> {
    let name = keyspace.name
    return lazy.filter { $0.keyspace == name }
  }

  /// The entries of the default keyspace, or of `keyspace`, whose keys begin with `prefix`. Reads every entry: keys are in no
  /// order. Entries whose key cannot be read are included, so that damage is not mistaken for absence.
  public func entries(withPrefix prefix: [UInt8], in keyspace: Keyspace? = nil) -> some Sequence<LogEntry> {
    let name = keyspace?.name ?? ""
    return lazy.filter { entry in
      guard entry.keyspace == name else { return false }
      guard let key = try? entry.key() else { return true }
      return key.starts(with: prefix)
    }
  }

  /// Begins at the oldest segment. The iterator keeps the snapshot open.
  public func makeIterator() -> Iterator {
    Iterator(self)
  }

  /// Walks the segments and picks the records that were live. Keeps its snapshot open as long as it lives.
  public struct Iterator: IteratorProtocol {
    /// Whatever is looked at goes through it: what is overwritten is noted for the snapshot only while that is there.
    private let snapshot: Snapshot
    private var position = 0
    private var offset = SegmentHeader.length
    /// Where it stands in a packed segment.
    private var walk: PackedWalk?
    /// Whether it has told that the segment's file ends before its records.
    private var isPastEnd = false

    fileprivate init(_ snapshot: Snapshot) {
      self.snapshot = snapshot
    }

    private var engine: Engine { snapshot.engine }
    private var state: SnapshotState { snapshot.state }

    /// The next live entry. O(dead records in between).
    public mutating func next() -> LogEntry? {
      while position < state.segments.count {
        let (segment, end) = state.segments[position]
        if let view = segment.packedView(end: end) {
          if let entry = next(in: segment, view, to: end) { return entry }
          position += 1
          walk = nil
          isPastEnd = false
          continue
        }
        switch segment.readRecord(at: offset, end: end) {
        case .record(let header):
          let place = offset
          offset += header.size
          if header.kind == .put, isShown(header.sequence, header.expiry, header.keyspace),
            engine.leads(to: segment.startUnits + UInt64(place >> 3), hash: header.keyHash, in: state)
          {
            return LogEntry(segment: segment, offset: place, header: header, keyspace: name(of: header.keyspace))
          }
        case .end where offset >= end:
          position += 1
          offset = SegmentHeader.length
        case .end, .damaged:
          let start = offset
          offset = segment.nextRecord(after: start, end: end) ?? end
          return LogEntry(damagedIn: segment, offset: start, length: offset - start)
        }
      }
      return nil
    }

    /// The next live entry of a packed segment.
    private mutating func next(in segment: Segment, _ view: PackedSegmentView, to end: Int) -> LogEntry? {
      var walk = self.walk ?? PackedWalk(view)
      defer { self.walk = walk }
      while let step = walk.next(in: view) {
        switch step {
        case .record(let entry):
          if entry.kind == .put, isShown(entry.sequence, entry.expiry, entry.keyspace),
            engine.leads(
              to: segment.startUnits + UInt64(entry.offset >> 3),
              hash: entry.keyHash(engine.seed),
              in: state
            )
          {
            return LogEntry(segment: segment, entry, keyspace: name(of: entry.keyspace))
          }
        case .damaged(let range):
          return LogEntry(damagedIn: segment, offset: range.lowerBound, length: range.count)
        }
      }
      let reach = segment.reach(end)
      guard reach < end, !isPastEnd else { return nil }
      isPastEnd = true
      return LogEntry(damagedIn: segment, offset: reach, length: end - reach)
    }

    private func isShown(_ sequence: UInt64, _ expiry: Int64, _ keyspace: KeyspaceTag) -> Bool {
      sequence <= state.sequence && (expiry == .max || expiry > state.time)
        && state.keyspaces[keyspace.id]?.tag == keyspace
    }

    private func name(of keyspace: KeyspaceTag) -> String {
      state.keyspaces[keyspace.id]?.name ?? ""
    }
  }
}

extension Segment {
  /// Where the next readable record begins behind a damaged place.
  func nextRecord(after offset: Int, end: Int) -> Int? {
    var position = offset + 8
    while let candidate = nextNonzeroWord(from: position, end: end) {
      if case .record = readRecord(at: candidate, end: end) { return candidate }
      position = candidate + 8
    }
    return nil
  }
}

extension Engine {
  func snapshot() throws(StoreError) -> Snapshot {
    if status.load(ordering: .acquiring) != 0 { try checkReadable() }
    let state = try opening.withLock { () throws(StoreError) in
      // It may have been closed since, while this waited for the lock.
      if status.load(ordering: .acquiring) & Status.closed != 0 { throw .closed }
      return writer.withLock { state -> SnapshotState in
        let sequence = publishedSequence
        let tail = state.tail
        let offset = state.offset
        let snapshot = SnapshotState(
          sequence: sequence,
          time: time.now,
          count: totalCount,
          keyspaces: keyspaces.withLock { $0.byID.mapValues { (name: $0.name, tag: $0.tag) } },
          segments: segments.withLock { list in
            list.compactMap { segment in
              if segment === tail { return (segment, offset) }
              let end = segment.recordsEnd.load(ordering: .acquiring)
              return end == 0 ? nil : (segment, end)
            }
          }
        )
        state.snapshots.append(snapshot)
        openSnapshots.add(1, ordering: .relaxed)
        return snapshot
      }
    }
    return Snapshot(engine: self, state: state)
  }

  func release(_ snapshot: SnapshotState) {
    writer.withLock { state in state.snapshots.removeAll { $0 === snapshot } }
    openSnapshots.subtract(1, ordering: .relaxed)
  }

  /// Whether the index led to exactly this record at a snapshot's instant.
  func leads(to address: UInt64, hash: UInt64, in state: SnapshotState) -> Bool {
    // The index first: whoever takes the record out of it notes it before.
    leads(to: address, hash: hash) || state.wasSuperseded(address)
  }

  /// Whether the index leads to exactly this record.
  func leads(to address: UInt64, hash: UInt64) -> Bool {
    let pin = epochs.enter()
    defer { epochs.exit(pin) }
    var probe = index.probe(hash)
    while let candidate = probe.next() {
      if candidate == address { return true }
    }
    return false
  }
}
