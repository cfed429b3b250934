internal import EskerFormat
internal import EskerIndex
internal import EskerPlatform

// Keyspaces of limited capacity. A write that does not fit is refused under the lock, before anything is changed, and tried again once
// enough was evicted (`Writer+Eviction`): so the limits hold at each moment.

// Safety: what the index leads to stays mapped under the writer's lock.
extension Writer {
  /// Throws unless a keyspace of limited capacity can take a record, if its condition holds.
  @inline(never)
  func checkBudget(
    of core: KeyspaceCore,
    putting size: Int,
    _ hash: UInt64,
    _ key: UnsafeRawBufferPointer,
    _ condition: WriteCondition
  ) throws(StoreError) {
    var probe = keydir.writeProbe(hash)
    let existing = try unsafe keydir.findForWrite(hash, key, core.tag, &probe)
    guard try holds(condition, existing) else { return }
    let entries = existing.address == 0 ? 1 : 0
    // A key that is written is in use.
    if entries == 0 { core.noteRead(hash) }
    try checkBudget(of: core, adding: size - existing.unpackedSize, entries: entries, writing: (size, 1))
  }

  /// - Parameter written: What is written in all, which has to fit whatever goes.
  private func checkBudget(
    of core: KeyspaceCore,
    adding bytes: Int,
    entries: Int,
    writing written: (bytes: Int, entries: Int)
  ) throws(StoreError) {
    let budget = core.budget
    guard budget.holds(bytes: written.bytes, entries: written.entries) else {
      throw .keyspaceFull(keyspace: core.name, bytes: written.bytes, entries: written.entries)
    }
    guard bytes > 0 || entries > 0 else { return }
    // Room that another write is being made is not taken.
    let pledged = core.keyClock?.pledged ?? (bytes: 0, entries: 0)
    guard
      budget.holds(bytes: core.byteCount + bytes + pledged.bytes, entries: core.count + entries + pledged.entries)
    else { throw .keyspaceFull(keyspace: core.name, bytes: bytes, entries: entries) }
  }

  /// Throws unless keyspaces of limited capacity can take what a batch adds to them. Called under the lock.
  func checkBudgets(of batch: borrowing WriteBatch) throws(StoreError) {
    guard batch.keyspaces.contains(where: { $0.isLimited }) else { return }
    /// What an operation makes of its key: the last one counts.
    struct Change {
      var before: Int
      var after: Int
      var isThere: Bool
      var isPut: Bool
    }
    var changes: [UInt32: (core: KeyspaceCore, keys: [UInt64: Change])] = [:]
    // Safety: the keys lie in the batch's bytes, which are lent until the loop has ended and do not change.
    try unsafe batch.bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for operation in batch.operations {
        let core = batch.keyspaces[operation.keyspace]
        guard core.isLimited else { continue }
        let key = unsafe UnsafeRawBufferPointer(
          rebasing: bytes[operation.start..<operation.start + operation.keyLength]
        )
        let hash = unsafe core.incarnation.pointee.hash.hash(key)
        let after = operation.isPut ? header(operation, of: core.tag, hash: hash, isLast: true).size : 0
        if changes[core.id]?.keys[hash] != nil {
          changes[core.id]?.keys[hash]?.after = after
          changes[core.id]?.keys[hash]?.isPut = operation.isPut
          continue
        }
        var probe = keydir.writeProbe(hash)
        let existing = try unsafe keydir.findForWrite(hash, key, core.tag, &probe)
        let isThere = existing.address != 0
        if isThere { core.noteRead(hash) }
        changes[core.id, default: (core, [:])].keys[hash] = Change(
          before: existing.unpackedSize,
          after: after,
          isThere: isThere,
          isPut: operation.isPut
        )
      }
    }
    for (core, keys) in changes.values {
      let bytes = keys.values.reduce(0) { $0 + $1.after - $1.before }
      let entries = keys.values.reduce(0) { $0 + ($1.isPut ? 1 : 0) - ($1.isThere ? 1 : 0) }
      let written = keys.values.reduce((bytes: 0, entries: 0)) { ($0.0 + $1.after, $0.1 + ($1.isPut ? 1 : 0)) }
      try checkBudget(of: core, adding: bytes, entries: entries, writing: written)
    }
  }
}
