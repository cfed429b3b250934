internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Keydir {
  /// Applies a run of records, all of one keyspace, to the index in order.
  func apply(
    _ records: [LogRecord],
    _ run: Range<Int>,
    onlyMoving onlyMoves: Bool,
    _ keys: borrowing KeydirState
  ) {
    let tag = records[run.lowerBound].keyspace
    // Only the record of a removal has such a tag: the log was forged.
    if tag.isRemoved { return }
    let core = keyspaces[tag.id]
    if let core {
      if tag.incarnation > core.tag.incarnation {
        // In a merged segment, the record that emptied the keyspace may come later.
        empty(core, beginning: tag, at: 0, keys)
        core.notifyEmptied()
      }
      // Records from before the keyspace was emptied are skipped; those of an unknown keyspace are kept.
      guard core.tag == tag else { return }
    } else if keyspaces.isRemoved(tag.id) {
      return
    }
    for position in run {
      // If the bucket has a match, both records are about to be compared.
      if prefetchRecord(records[position].hash) { granules.prefetch(records[position].address) }
    }
    // Relaxed: under the writer's lock, as listeners are added.
    let isWatched = !onlyMoves && core?.isWatched.load(ordering: .relaxed) == true
    for position in run { apply(records[position], onlyMoves, core, isWatched: isWatched, keys) }
  }

  @inline(__always)
  private func apply(
    _ record: LogRecord,
    _ onlyMoves: Bool,
    _ core: KeyspaceCore?,
    isWatched: Bool,
    _ keys: borrowing KeydirState
  ) {
    var probe = writeProbe(record.hash)
    let existing = existing(record, &probe) ?? CurrentRecord()
    if existing.address != 0 {
      // A put with the same sequence number is a copy of the record that the index leads to.
      let isCopy =
        existing.sequence == record.sequence && existing.address != record.address && record.kind == .put
      guard isCopy || (existing.sequence < record.sequence && !onlyMoves) else { return }
    } else if onlyMoves || isLogForged {
      return
    }
    // What a suspended store reads of another process is news to those who observe it.
    if isWatched, let core, existing.sequence < record.sequence { core.notifyReplay(of: record, replacing: existing) }
    if record.kind == .put {
      upsert(
        record.hash,
        to: record.address,
        record.size,
        unpacked: record.unpackedSize,
        expiring: record.expiry,
        replacing: existing,
        at: probe,
        core,
        keys
      )
      // `insert` does not grow the index.
      grow()
    } else if existing.address != 0 {
      removeEntry(record.hash, existing, core, keys)
    }
  }

  /// The record that the index has for the same key. Leaves the probe at its slot, or where it would be.
  @inline(__always)
  func existing(_ record: LogRecord, _ probe: inout WriteProbe) -> CurrentRecord? {
    var alike = 0
    while let address = probe.next() {
      alike += 1
      if alike > Self.mostAlike {
        noteTooManyAlike(record)
        return nil
      }
      if address == record.address {
        return CurrentRecord(
          address: address,
          sequence: record.sequence,
          size: record.size,
          unpackedSize: record.unpackedSize
        )
      }
      guard let place = granules.place(of: address), let found = StoredRecord(at: place),
        found.mayHave(record.hash, env.seed)
      else { continue }
      if isSameKey(found, as: record) {
        return CurrentRecord(
          address: address,
          sequence: found.sequence,
          size: found.size,
          unpackedSize: found.unpackedSize
        )
      }
    }
    return nil
  }

  /// The most keys whose hashes may share the 36 bits that the index stores. Chance brings together two or three, and nobody
  /// can choose such keys without the seed. Each is compared with all others, so a log forged from such keys would take
  /// quadratic time.
  static let mostAlike = 64

  @inline(never)
  private func noteTooManyAlike(_ record: LogRecord) {
    guard noteForgery() else { return }
    env.emit(madeUp(damage(at: record.address, .malformed, key: nil)))
  }

  private func madeUp(_ error: StoreError) -> StoreEvent {
    guard case .damaged(let location, _) = error else { return .backgroundFailure(operation: "read the log", error) }
    return .damaged(location, reason: Self.tooManyAlike)
  }

  static let tooManyAlike = "implausibly many keys share a hash: the log was forged"

  /// Whether two records with the same 64-bit hash have the same key, as nearly all such records do.
  ///
  /// If either is damaged, the hash decides: a damaged record must replace the older one, or that would be found.
  private func isSameKey(_ found: StoredRecord, as record: LogRecord) -> Bool {
    guard let ownPlace = granules.place(of: record.address), let own = StoredRecord(at: ownPlace) else { return true }
    return own.hasSameKey(as: found) || !own.headIsIntact || !found.headIsIntact
  }

  func applyReset(_ record: LogRecord, _ keys: borrowing KeydirState) {
    guard let core = keyspaces[record.keyspace.id] else { return }
    guard record.keyspace.incarnation > core.tag.incarnation else { return }
    if record.keyspace.isRemoved {
      guard core.id != 0 else { return }
      remove(core, at: record.sequence, keys)
    } else {
      empty(core, beginning: record.keyspace, at: record.sequence, keys)
    }
    core.notifyEmptied()
  }
}
