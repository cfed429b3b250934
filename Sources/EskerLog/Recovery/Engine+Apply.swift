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
  /// Whether records only take the place of their own copies.
  private let onlyMoves: Bool
  private var window: [LogRecord] = []
  private static let depth = 32
  /// Records that took part.
  private(set) var count = 0

  init(_ engine: Engine, onlyMoving onlyMoves: Bool = false) {
    self.engine = engine
    index = engine.index
    self.onlyMoves = onlyMoves
    window.reserveCapacity(Self.depth)
  }

  mutating func apply(_ record: LogRecord) {
    index.prefetch(record.hash)
    window.append(record)
    if window.count == Self.depth { drain() }
  }

  /// Lets all records take effect that wait. Takes the writer's lock, so that nobody walks the index meanwhile.
  mutating func drain() {
    guard !window.isEmpty else { return }
    engine.writer.withLock { state in
      var start = 0
      while start < window.count {
        let first = window[start]
        var end = start + 1
        if first.kind == .reset {
          engine.applyReset(first)
        } else {
          while end < window.count, window[end].keyspace == first.keyspace, window[end].kind != .reset { end += 1 }
          engine.apply(window, start..<end, onlyMoving: onlyMoves, &state)
        }
        start = end
      }
    }
    count += window.count
    window.removeAll(keepingCapacity: true)
  }
}

extension Engine {
  /// Lets records of one keyspace take effect on the index, in their order.
  fileprivate func apply(
    _ records: [LogRecord],
    _ run: Range<Int>,
    onlyMoving onlyMoves: Bool,
    _ state: inout WriterState
  ) {
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
    for position in run { apply(records[position], onlyMoves, core, &state) }
  }

  /// Lets one record take effect.
  @inline(__always)
  private func apply(_ record: LogRecord, _ onlyMoves: Bool, _ core: KeyspaceCore?, _ state: inout WriterState) {
    var probe = index.writeProbe(record.hash)
    let existing = existing(record, &probe) ?? Existing()
    if existing.address != 0 {
      // A put with the same number is a copy of what the index leads to.
      let isCopy =
        existing.sequence == record.sequence && existing.address != record.address && record.kind == .put
      guard isCopy || (existing.sequence < record.sequence && !onlyMoves) else { return }
    } else if onlyMoves || isLogMadeUp.load(ordering: .relaxed) {
      return
    }
    if record.kind == .put {
      lead(record.hash, to: record.address, record.size, replacing: existing, at: probe, core, &state)
      // Such an insertion leaves growing to whoever makes the next one.
      index.grow()
    } else if existing.address != 0 {
      takeOut(record.hash, existing, core, &state)
    }
  }

  /// The record the index has for the same key. The probe stops at its slot; without one, where it would be.
  @inline(__always)
  func existing(_ record: LogRecord, _ probe: inout WriteProbe) -> Existing? {
    var alike = 0
    while let address = probe.next() {
      alike += 1
      if alike > Self.mostAlike {
        noteTooManyAlike(record)
        return nil
      }
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

  /// No store has more keys than this whose hashes share the 36 bits that the index knows: without the seed nobody can choose
  /// them, and chance brings together two or three. Each is compared with all others, so that a log which was made up of
  /// such keys would take a time that grows with the square of their number.
  static let mostAlike = 64

  @inline(never)
  private func noteTooManyAlike(_ record: LogRecord) {
    guard !isLogMadeUp.exchange(true, ordering: .relaxed) else { return }
    emit(madeUp(damage(at: record.address, .malformed, key: nil)))
  }

  private func madeUp(_ error: StoreError) -> StoreEvent {
    guard case .damaged(let location, _) = error else { return .backgroundFailure(operation: "read the log", error) }
    return .damaged(location, reason: Self.tooManyAlike)
  }

  static let tooManyAlike = "implausibly many keys share a hash: the log was forged"

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
