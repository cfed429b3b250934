internal import EskerFormat
internal import EskerIndex

// What the index tells of the keys that it gets and loses to a keyspace that keeps them. Called under the writer's lock.

// Safety: nothing is unmapped under the writer's lock that the index leads to, or has just left. An incarnation stays allocated as long as
// its core.
extension Keydir {
  /// Keeps a key that the index is about to get, as its keyspace does.
  @inline(never)
  func keepKey(_ hash: UInt64, at address: UInt64, of core: KeyspaceCore?, _ keys: borrowing KeydirState) {
    guard let core else { return }
    if core.hasKeyHashes { enlist(hash, in: core, keys) }
    if core.isLimited { core.keyClock?.append(hash, count: core.count) }
    guard let order = core.keptOrder else { return }
    switch unsafe withKey(hash, at: address, of: core, { unsafe order.insert($0) }) {
    case true?: break
    case false?:
      // The next scan gathers the keys anew. Those that go on with this one notice the damage, if it is that.
      if order.damageEvent == nil { order.noteGap(Self.outOfMemory(env)) }
      forget(order, of: core)
    // The record is damaged, and a reader of its key gets that error.
    case nil: order.noteGap(damage(at: address, .bodyChecksum, key: nil))
    }
  }

  /// Keeps a key whose record takes the place of a damaged one, which may have been that of another key.
  @inline(never)
  func keepKeyInsteadOfAnother(
    _ hash: UInt64,
    at address: UInt64,
    of core: KeyspaceCore?,
    _ keys: borrowing KeydirState
  ) {
    if core?.keptKeys.isEmpty == false { keepKey(hash, at: address, of: core, keys) }
  }

  /// Forgets an order that is of no use any more, unless there is another one already.
  func forget(_ order: KeyOrder, of core: KeyspaceCore) {
    guard core.order === order else { return }
    core.order = nil
    if let event = order.damageEvent { env.emit(event) }
  }

  /// Takes a key that the index no longer has out of its keyspace's order.
  ///
  /// - Parameter isSwept: Whether the log has no record of that.
  @inline(__always)
  func dropKey(_ hash: UInt64, at address: UInt64, of core: KeyspaceCore?, isSwept: Bool) {
    if core?.keptKeys.contains(.order) == true { dropOrderedKey(hash, at: address, of: core, isSwept) }
  }

  @inline(never)
  private func dropOrderedKey(_ hash: UInt64, at address: UInt64, of core: KeyspaceCore?, _ isSwept: Bool) {
    guard let core, let order = core.order else { return }
    _ = unsafe withKey(hash, at: address, of: core) { key in
      if isSwept { unsafe order.sweep(key) } else { unsafe order.remove(key) }
    }
  }

  /// Calls `body` with the key of a record if it is the one with that hash; nil if it is not, since the record is damaged.
  private func withKey<R>(
    _ hash: UInt64,
    at address: UInt64,
    of core: KeyspaceCore,
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R? {
    unsafe granules.place(of: address).flatMap { StoredRecord(at: $0) }?.withKey { key in
      unsafe core.incarnation.pointee.hash.hash(key) == hash ? unsafe body(key) : nil
    }
  }
}

// Safety: the caller keeps the record mapped.
extension KeyOrder {
  /// Takes the key of a record out that the index no longer leads to, without a record of it in the log.
  func sweep(_ record: StoredRecord) {
    // A damaged key might be that of another record.
    guard record.headIsIntact else { return }
    unsafe record.withKey { unsafe sweep($0) }
  }
}

// Safety: the caller keeps the record mapped as long as it uses it.
extension StoredRecord {
  /// Lends the key: in place, or a copy of a packed one.
  func withKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    switch self {
    case .plain(let record, _): unsafe try body(record.key)
    case .packed(let entry, _): unsafe try entry.key.withUnsafeBytesTyped(body)
    }
  }
}
