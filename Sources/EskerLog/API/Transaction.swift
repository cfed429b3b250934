extension LogStore {
  /// Reads and writes of any keys of a store that take effect together, as if nobody else had been there. Exists only in the body of
  /// ``LogStore/transaction(durability:attempts:_:)``. Thread safety: one thread at a time.
  ///
  /// All that it reads is the store at one instant, whatever others write meanwhile, and what it has written itself. It holds no lock.
  public struct Transaction: ~Copyable {
    fileprivate struct KeyID: Hashable {
      let keyspace: ObjectIdentifier
      let bytes: [UInt8]

      func hash(into hasher: inout Hasher) {
        // Safety: the bytes are lent during the call. One by one, they took a tenth of a small transaction.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      }
    }

    /// What is known of a key.
    private enum Known {
      /// As it was read; nil if it was absent.
      case read(SequenceNumber?)
      /// The operation that writes it.
      case written(Int)
    }

    private var batch: WriteBatch
    private var keys = [KeyID: Known](minimumCapacity: 8)
    /// The number of the last write of the instant that is read.
    private var instant: UInt64
    /// Whether others have changed what was read.
    private(set) var hasConflict = false

    init(in core: KeyspaceCore) {
      batch = WriteBatch(defaultKeyspace: core)
      batch.bytes.reserveCapacity(256)
      instant = core.engine.publishedSequence
    }

    /// A copy of the value of a key; nil if it is absent or expired.
    ///
    /// - Throws: ``StoreError/conflict(keyspace:key:)`` if others have changed what was read before: the body then runs again, so it should let
    ///   the error pass. What ``ByteStore/get(_:)`` throws; ``StoreError/otherStore(path:)`` for a keyspace of another store.
    public mutating func get<K: ByteSource & ~Copyable & ~Escapable>(
      _ key: borrowing K,
      in keyspace: Keyspace? = nil
    ) throws(StoreError) -> [UInt8]? {
      try entry(forKey: key, in: keyspace)?.value
    }

    /// A copy of the value of a key, and what is known of it: of one that the transaction has written, no version.
    package mutating func entry<K: ByteSource & ~Copyable & ~Escapable>(
      forKey key: borrowing K,
      in keyspace: Keyspace?
    ) throws(StoreError) -> Entry? {
      let core = try batch.target(keyspace)
      let id = KeyID(of: key, core)
      if case .written(let position)? = keys[id] { return batch.entry(of: position) }
      let lease = try CoreView(core: core).lease(id.bytes)
      try note(lease?.version, of: id, core)
      return lease.map { Entry(value: $0.copy, version: $0.version, expiry: $0.expiry) }
    }

    package struct Entry {
      package var value: [UInt8]
      package var version: SequenceNumber?
      package var expiry: Expiry
    }

    /// Reads a key; a task that does suspends if the record must be read from a device.
    public nonisolated(nonsending) mutating func get(
      _ key: some ByteSource,
      in keyspace: Keyspace? = nil
    ) async throws(StoreError) -> [UInt8]? {
      let core = try batch.target(keyspace)
      await core.pageIn(key)
      return try entry(forKey: key, in: keyspace)?.value
    }

    /// Whether a key has a value; see ``get(_:in:)``.
    public mutating func contains<K: ByteSource & ~Copyable & ~Escapable>(
      _ key: borrowing K,
      in keyspace: Keyspace? = nil
    ) throws(StoreError) -> Bool {
      let core = try batch.target(keyspace)
      let id = KeyID(of: key, core)
      if case .written(let position)? = keys[id] { return batch.entry(of: position) != nil }
      let version = try CoreView(core: core).metadata(forKey: id.bytes)?.version
      try note(version, of: id, core)
      return version != nil
    }

    /// Adds a put of `value` under `key`, which the transaction reads from now on; see ``WriteBatch/put(_:forKey:in:expiry:)``.
    public mutating func put<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
      _ value: borrowing V,
      forKey key: borrowing K,
      in keyspace: Keyspace? = nil,
      expiry: Expiry? = nil
    ) throws(StoreError) {
      try batch.put(value, forKey: key, in: keyspace, expiry: expiry)
      noteWrites(from: batch.count - 1)
    }

    /// Adds a removal of `key`, which is absent to the transaction from now on; see ``WriteBatch/remove(_:in:)``.
    public mutating func remove<K: ByteSource & ~Copyable & ~Escapable>(
      _ key: borrowing K,
      in keyspace: Keyspace? = nil
    ) throws(StoreError) {
      try batch.remove(key, in: keyspace)
      noteWrites(from: batch.count - 1)
    }

    /// Adds what `body` writes.
    package mutating func addWrites<E: Error>(_ body: (inout WriteBatch) throws(E) -> Void) throws(E) {
      let first = batch.count
      defer { noteWrites(from: first) }
      try body(&batch)
    }

    private mutating func noteWrites(from first: Int) {
      for position in first..<batch.count { keys[KeyID(of: batch, position)] = .written(position) }
    }

    /// Notes what was read of a key, and lets it be so when the transaction is committed.
    private mutating func note(_ version: SequenceNumber?, of id: KeyID, _ core: KeyspaceCore) throws(StoreError) {
      if case .read(let before)? = keys[id] {
        guard before == version else { throw conflict(id, core) }
        return
      }
      keys[id] = .read(version)
      try batch.require(id.bytes, .version(version?.rawValue), core)
      // A value that was written before the instant, and is there now, was there at the instant.
      if let version, version.rawValue <= instant { return }
      do throws(StoreError) { instant = try core.engine.writer.newestInstant(after: instant, of: batch) } catch {
        if case .conflict = error { hasConflict = true }
        throw error
      }
    }

    private mutating func conflict(_ id: KeyID, _ core: KeyspaceCore) -> StoreError {
      hasConflict = true
      return .conflict(keyspace: core.name, key: id.bytes)
    }

    /// Logs what was written, if others have not changed what was read. Reads alone were the store at one instant.
    ///
    /// - Returns: The number of the last write; 0 if there is none.
    mutating func commit() throws(StoreError) -> UInt64 {
      let engine = batch.defaultKeyspace.engine
      do throws(StoreError) {
        // Whatever the body made of the error.
        if hasConflict { throw .conflict(keyspace: batch.defaultKeyspace.name, key: []) }
        return batch.count == 0 ? 0 : try engine.commit(batch)
      } catch {
        if case .conflict = error { hasConflict = true }
        throw error
      }
    }

    /// The same for a task, which suspends where a device is waited for.
    nonisolated(nonsending) mutating func commitAsync() async throws(StoreError) -> UInt64 {
      await batch.pageIn()
      return try commit()
    }
  }
}

extension LogStore.Transaction.KeyID {
  init(of key: borrowing some ByteSource & ~Copyable & ~Escapable, _ core: KeyspaceCore) {
    self.init(keyspace: ObjectIdentifier(core), bytes: key.copiedBytes)
  }

  init(of batch: borrowing WriteBatch, _ position: Int) {
    let operation = batch.operations[position]
    let key = operation.start..<operation.start + operation.keyLength
    self.init(keyspace: ObjectIdentifier(operation.keyspace), bytes: Array(batch.bytes[key]))
  }
}

extension WriteBatch {
  /// What an operation stores; nil if it removes the key.
  fileprivate func entry(of position: Int) -> LogStore.Transaction.Entry? {
    let operation = operations[position]
    guard operation.isPut, operation.expiry == .max || operation.expiry > defaultKeyspace.keydir.env.time.now else {
      return nil
    }
    let start = operation.start + operation.keyLength
    let value = Array(bytes[start..<start + operation.valueLength])
    return LogStore.Transaction.Entry(value: value, version: nil, expiry: Expiry(stored: operation.expiry))
  }
}
