internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Brings the index up to the log, a window of records at a time.
///
/// The newest record of a key wins, whatever the order. Records wait in a window between the moment their bucket is asked for
/// and the moment they enter it, so that the waits for memory overlap.
struct Replay: ~Copyable {
  private let engine: Engine
  private let index: HashIndex
  /// Open snapshots, which must hear what stops being the newest record of its key.
  private let snapshots: [SnapshotState]
  private var window: [LogRecord] = []
  private static let depth = 32
  /// Records that took part.
  private(set) var count = 0

  init(_ engine: Engine, notifying snapshots: [SnapshotState] = []) {
    self.engine = engine
    index = engine.index
    self.snapshots = snapshots
    window.reserveCapacity(Self.depth)
  }

  mutating func apply(_ record: LogRecord) {
    index.prefetch(record.hash)
    window.append(record)
    if window.count == Self.depth { drain() }
  }

  /// True when every record has taken effect.
  var isIdle: Bool { window.isEmpty }

  mutating func drain() {
    var start = 0
    while start < window.count {
      let first = window[start]
      var end = start + 1
      if first.kind == .reset {
        engine.applyReset(first)
      } else {
        while end < window.count, window[end].keyspace == first.keyspace, window[end].kind != .reset { end += 1 }
        engine.apply(window, start..<end, notifying: snapshots)
      }
      start = end
    }
    count += window.count
    window.removeAll(keepingCapacity: true)
  }
}

extension Engine {
  /// Lets records of one keyspace take effect on the index, in their order. Nobody writes meanwhile.
  fileprivate func apply(_ records: [LogRecord], _ run: Range<Int>, notifying snapshots: [SnapshotState]) {
    let tag = records[run.lowerBound].keyspace
    let core = keyspaces.withLock { $0.byID[tag.id] }
    if let core {
      if tag.incarnation > core.tag.incarnation {
        // In a merged segment the record that emptied the keyspace may come later.
        core.entryCount.store(0, ordering: .relaxed)
        core.begin(incarnation: tag.incarnation)
        needsSweep.store(true, ordering: .relaxed)
      }
      // What was emptied since is not there; only a keyspace that nobody knows keeps its records.
      guard core.tag == tag else { return }
    }
    let index = index
    for position in run {
      // Where the bucket knows the key, both records are about to be compared.
      var probe = index.writeProbe(records[position].hash)
      guard let address = probe.next() else { continue }
      granules.prefetch(address)
      granules.prefetch(records[position].address)
    }
    var entries = 0
    for position in run { entries += apply(records[position], to: index, notifying: snapshots) }
    core?.entryCount.add(entries, ordering: .relaxed)
  }

  /// Lets one record take effect; by how much the number of entries changes.
  @inline(__always)
  private func apply(_ record: LogRecord, to index: HashIndex, notifying snapshots: [SnapshotState]) -> Int {
    var probe = index.writeProbe(record.hash)
    guard let existing = existing(record, &probe) else {
      guard record.kind == .put else { return 0 }
      guard !probe.isDamaged, index.insert(record.hash, address: record.address, after: probe) else {
        isIndexIncomplete.store(true, ordering: .relaxed)
        return 0
      }
      // Such an insertion leaves growing to whoever makes the next one.
      index.grow()
      granules.addLive(at: record.address, bytes: record.size)
      return 1
    }
    if existing.sequence >= record.sequence { return 0 }
    for snapshot in snapshots { snapshot.noteSuperseded(existing.address, existing.sequence) }
    granules.addLive(at: existing.address, bytes: -existing.size)
    if record.kind == .put {
      granules.addLive(at: record.address, bytes: record.size)
      probe.replaceCurrent(with: record.address)
      return 0
    }
    return index.remove(record.hash, address: existing.address) ? -1 : 0
  }

  /// The record the index has for the same key. The probe stops at its slot; without one, where it would be.
  @inline(__always)
  func existing(_ record: LogRecord, _ probe: inout WriteProbe) -> Existing? {
    while let address = probe.next() {
      if address == record.address {
        return Existing(address: address, sequence: record.sequence, size: record.size)
      }
      guard let place = granules.place(of: address), let found = StoredRecord(at: place),
        found.mayHave(record.hash, seed)
      else { continue }
      if isSameKey(found, as: record) {
        return Existing(address: address, sequence: found.sequence, size: found.size)
      }
    }
    return nil
  }

  /// Whether two records with the same 64-bit hash have the same key: nearly always, all others are one in four billion
  /// billion.
  ///
  /// Where one of the two is damaged the hash decides: a damaged record must take the place of the older one, or that would
  /// be found.
  private func isSameKey(_ found: StoredRecord, as record: LogRecord) -> Bool {
    guard let ownPlace = granules.place(of: record.address), let own = StoredRecord(at: ownPlace) else { return true }
    return own.hasSameKey(as: found) || !own.headIsIntact || !found.headIsIntact
  }

  func applyReset(_ record: LogRecord) {
    guard let core = keyspaces.withLock({ $0.byID[record.keyspace.id] }) else { return }
    guard record.keyspace.incarnation > core.tag.incarnation else { return }
    core.incarnationBeforeReset.store(core.tag.incarnation, ordering: .relaxed)
    core.resetSequence.store(record.sequence, ordering: .relaxed)
    core.entryCount.store(0, ordering: .relaxed)
    core.begin(incarnation: record.keyspace.incarnation)
    needsSweep.store(true, ordering: .relaxed)
  }
}
