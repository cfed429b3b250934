internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform
internal import Synchronization

extension Keydir {
  /// Lets records of one keyspace take effect on the index, in their order.
  func apply(
    _ records: [LogRecord],
    _ run: Range<Int>,
    onlyMoving onlyMoves: Bool,
    _ keys: borrowing KeysState
  ) {
    let tag = records[run.lowerBound].keyspace
    let core = keyspaces[tag.id]
    if let core {
      if tag.incarnation > core.tag.incarnation {
        // In a merged segment the record that emptied the keyspace may come later.
        empty(core, beginning: tag, at: 0, keys)
      }
      // What was emptied since is not there; only a keyspace that nobody knows keeps its records.
      guard core.tag == tag else { return }
    }
    for position in run {
      // Where the bucket knows the key, both records are about to be compared.
      var probe = writeProbe(records[position].hash)
      guard let address = probe.next() else { continue }
      granules.prefetch(address)
      granules.prefetch(records[position].address)
    }
    for position in run { apply(records[position], onlyMoves, core, keys) }
  }

  /// Lets one record take effect.
  @inline(__always)
  private func apply(_ record: LogRecord, _ onlyMoves: Bool, _ core: KeyspaceCore?, _ keys: borrowing KeysState) {
    var probe = writeProbe(record.hash)
    let existing = existing(record, &probe) ?? Existing()
    if existing.address != 0 {
      // A put with the same number is a copy of what the index leads to.
      let isCopy =
        existing.sequence == record.sequence && existing.address != record.address && record.kind == .put
      guard isCopy || (existing.sequence < record.sequence && !onlyMoves) else { return }
    } else if onlyMoves || isLogForged {
      return
    }
    if record.kind == .put {
      lead(record.hash, to: record.address, record.size, replacing: existing, at: probe, core, keys)
      // Such an insertion leaves growing to whoever makes the next one.
      grow()
    } else if existing.address != 0 {
      takeOut(record.hash, existing, core, keys)
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
        found.mayHave(record.hash, env.seed)
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
    guard noteForgery() else { return }
    env.emit(madeUp(damage(at: record.address, .malformed, key: nil)))
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

  func applyReset(_ record: LogRecord, _ keys: borrowing KeysState) {
    guard let core = keyspaces[record.keyspace.id] else { return }
    guard record.keyspace.incarnation > core.tag.incarnation else { return }
    empty(core, beginning: record.keyspace, at: record.sequence, keys)
  }
}
