internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

/// Brings the index up to the log, a record at a time.
///
/// The newest record of a key wins, whatever the order. Records wait in a short queue between the moment their bucket is
/// asked for and the moment they enter it, so that the waits for memory overlap.
struct Replay: ~Copyable {
  private let engine: Engine
  /// Open snapshots, which must hear what stops being the newest record of its key.
  private let snapshots: [SnapshotState]
  private var queue: [LogRecord] = []
  private static let depth = 16
  /// The keyspace of the last record.
  private var known: (tag: KeyspaceTag, core: KeyspaceCore?)?
  /// Records that took part.
  private(set) var count = 0

  init(_ engine: Engine, notifying snapshots: [SnapshotState] = []) {
    self.engine = engine
    self.snapshots = snapshots
    queue.reserveCapacity(Self.depth)
  }

  mutating func apply(_ record: LogRecord) {
    engine.index.prefetch(record.hash)
    if queue.count == Self.depth { drain() }
    queue.append(record)
  }

  /// True when every record has taken effect.
  var isIdle: Bool { queue.isEmpty }

  mutating func drain() {
    for record in queue {
      if record.kind == .reset {
        engine.applyReset(record)
        known = nil
        continue
      }
      // Nearly always the same keyspace as the record before.
      if known?.tag != record.keyspace { known = (record.keyspace, engine.replayedKeyspace(record.keyspace)) }
      engine.apply(record, to: known?.core, notifying: snapshots)
    }
    count += queue.count
    queue.removeAll(keepingCapacity: true)
  }
}

extension Engine {
  /// Lets one record of the log take effect on the index. Nobody writes meanwhile.
  ///
  /// - Parameter core: the keyspace it belongs to; see `replayedKeyspace`.
  func apply(_ record: LogRecord, to core: KeyspaceCore?, notifying snapshots: [SnapshotState]) {
    // What was emptied since is not there; only a keyspace that nobody knows keeps its records.
    if core == nil, keyspaces.withLock({ $0.byID[record.keyspace.id] }) != nil { return }
    let existing = existing(record)
    if let existing {
      if existing.sequence >= record.sequence { return }
      for snapshot in snapshots { snapshot.noteSuperseded(existing.address, existing.sequence) }
    }
    switch record.kind {
    case .put:
      granules.addLive(at: record.address, bytes: record.size)
      if let existing {
        granules.addLive(at: existing.address, bytes: -existing.size)
        _ = index.replace(record.hash, address: existing.address, with: record.address)
      } else {
        guard index.insert(record.hash, address: record.address) else { return }
        core?.entryCount.add(1, ordering: .relaxed)
      }
    case .tombstone:
      guard let existing else { return }
      granules.addLive(at: existing.address, bytes: -existing.size)
      if index.remove(record.hash, address: existing.address) { core?.entryCount.subtract(1, ordering: .relaxed) }
    case .seal, .reset:
      break
    }
  }

  /// The record the index has for the same key.
  private func existing(_ record: LogRecord) -> Existing? {
    var probe = index.probe(record.hash)
    var own: RecordView?
    var isOwnDamaged: Bool?
    while let address = probe.next() {
      if address == record.address {
        return Existing(address: address, sequence: record.sequence, size: record.size)
      }
      guard let place = granules.place(of: address),
        let found = unsafe RecordView(at: place.pointer, limit: place.limit), found.keyHash == record.hash
      else { continue }
      if isOwnDamaged == nil, let place = granules.place(of: record.address) {
        own = unsafe RecordView(at: place.pointer, limit: place.limit)
        isOwnDamaged = own.map { $0.damage(salt: place.salt, offsetUnits: place.offsetUnits) != nil } ?? true
      }
      // Equal 64-bit hashes: the same key, or one in four billion billion. Where one of the two is damaged the hash decides:
      // a damaged record must take the place of the older one, or that would be found.
      let isDamaged = isOwnDamaged != false || found.damage(salt: place.salt, offsetUnits: place.offsetUnits) != nil
      if isDamaged || own.map({ unsafe $0.key.elementsEqual(found.key) }) == true {
        return Existing(address: address, sequence: found.sequence, expiry: found.expiry, size: found.size)
      }
    }
    return nil
  }

  /// The keyspace a record belongs to; nil for one that was emptied since, or that is not known.
  func replayedKeyspace(_ tag: KeyspaceTag) -> KeyspaceCore? {
    guard let core = keyspaces.withLock({ $0.byID[tag.id] }) else { return nil }
    if tag.incarnation > core.tag.incarnation { core.begin(incarnation: tag.incarnation) }
    return core.tag == tag ? core : nil
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
