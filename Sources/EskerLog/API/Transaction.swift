extension LogStore {
  /// Reads and writes of any keys of a store that take effect together, as if nobody else had been there. Exists only in the body of
  /// `transaction`. Thread safety: one thread at a time.
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

    /// A value and what is known of it.
    package struct Entry {
      package var value: [UInt8]
      package var version: SequenceNumber?
      package var expiry: Expiry
    }

    private var batch: WriteBatch
    private var keys = [KeyID: Known](minimumCapacity: 8)
    /// The number of the last write of the instant that is read.
    private var instant: UInt64
    /// Whether something that was read may go without a write: what expires, or is evicted.
    private var mayVanish: Bool
    /// Why the transaction cannot be committed.
    private var failure: StoreError?
    /// Whether that is since others have changed what was read.
    private(set) var hasConflict = false

    init(in core: KeyspaceCore) {
      batch = WriteBatch(defaultKeyspace: core)
      instant = core.engine.publishedSequence
      mayVanish = core.engine.env.settings.capacity != nil
    }

    /// A copy of the value of a key; nil if it is absent or expired.
    ///
    /// Where it is absent, or newer than what was read before, all keys that were read are looked up again, if anybody has written anything:
    /// a transaction reads some hundred keys, not many thousand.
    ///
    /// - Throws: ``StoreError/conflict(keyspace:key:)`` if others have changed what was read before: the body then runs again, so it should let
    ///   the error pass. What ``ByteStore/get(_:)-(K)`` throws; ``StoreError/keyTooLong(_:)``; ``StoreError/otherStore(path:)`` for a keyspace of
    ///   another store.
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
      let core = try present(keyspace)
      let id = KeyID(of: key, core)
      if case .written(let position)? = keys[id] { return batch.entry(of: position) }
      let lease = try CoreView(core: core).lease(id.bytes)
      try note(lease?.version, lease?.expiry ?? .never, of: id, core)
      return lease.map { Entry(value: $0.copy, version: $0.version, expiry: $0.expiry) }
    }

    /// As `get` for threads; suspends if the record must be read from a device.
    public nonisolated(nonsending) mutating func get(
      _ key: some ByteSource,
      in keyspace: Keyspace? = nil
    ) async throws(StoreError) -> [UInt8]? {
      try await (try present(keyspace)).prepareWrite(of: key)
      return try entry(forKey: key, in: keyspace)?.value
    }

    /// Whether a key has a value; see ``get(_:in:)-(K,_)``.
    public mutating func contains<K: ByteSource & ~Copyable & ~Escapable>(
      _ key: borrowing K,
      in keyspace: Keyspace? = nil
    ) throws(StoreError) -> Bool {
      let core = try present(keyspace)
      let id = KeyID(of: key, core)
      if case .written(let position)? = keys[id] { return batch.entry(of: position) != nil }
      let found = try CoreView(core: core).metadata(forKey: id.bytes)
      try note(found?.version, found?.expiry ?? .never, of: id, core)
      return found != nil
    }

    /// Adds a put of `value` under `key`, which the transaction reads from now on; see ``WriteBatch/put(_:forKey:in:expiry:)``.
    public mutating func put<V: ByteSource & ~Copyable & ~Escapable, K: ByteSource & ~Copyable & ~Escapable>(
      _ value: borrowing V,
      forKey key: borrowing K,
      in keyspace: Keyspace? = nil,
      expiry: Expiry? = nil
    ) throws(StoreError) {
      _ = try present(keyspace)
      try batch.put(value, forKey: key, in: keyspace, expiry: expiry)
      noteWrites(from: batch.count - 1)
    }

    /// Adds a removal of `key`, which is absent to the transaction from now on; see ``WriteBatch/remove(_:in:)``.
    public mutating func remove<K: ByteSource & ~Copyable & ~Escapable>(
      _ key: borrowing K,
      in keyspace: Keyspace? = nil
    ) throws(StoreError) {
      _ = try present(keyspace)
      try batch.remove(key, in: keyspace)
      noteWrites(from: batch.count - 1)
    }

    /// The keyspace to work on. One that was removed before is an error of the caller's, and no conflict.
    private func present(_ keyspace: Keyspace?) throws(StoreError) -> KeyspaceCore {
      let core = try batch.target(keyspace)
      try core.checkPresent()
      return core
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
    private mutating func note(
      _ version: SequenceNumber?,
      _ expiry: Expiry,
      of id: KeyID,
      _ core: KeyspaceCore
    ) throws(StoreError) {
      let engine = core.engine
      do throws(StoreError) {
        if case .read(let before)? = keys[id] {
          guard before == version else { throw .conflict(keyspace: core.name, key: id.bytes) }
          return
        }
        try batch.require(id.bytes, .version(version?.rawValue), core)
        keys[id] = .read(version)
        if expiry != .never { mayVanish = true }
        // A value that was written before the instant, and is there now, was there at the instant.
        if let version, version.rawValue <= instant { return }
        let known = mayVanish ? nil : instant
        instant = try engine.inTurn { () throws(StoreError) in
          try engine.writer.newestInstant(after: known, of: batch)
        }
      } catch {
        throw failed(error)
      }
    }

    /// Notes the first error, which the body may make nothing of. A keyspace that was read, and removed since, is a conflict, too.
    private mutating func failed(_ error: StoreError) -> StoreError {
      failure = failure ?? error
      switch error {
      case .conflict, .keyspaceRemoved: hasConflict = true
      default: break
      }
      return error
    }

    /// Logs what was written, if others have not changed what was read. Reads alone were the store at one instant.
    ///
    /// - Returns: The number of the last write; 0 if there is none.
    mutating func commit() throws(StoreError) -> UInt64 {
      let engine = batch.defaultKeyspace.engine
      do throws(StoreError) {
        if let failure { throw failure }
        return batch.count == 0 ? 0 : try engine.commit(batch)
      } catch {
        throw failed(error)
      }
    }

    /// The same for a task, which suspends where a device is waited for.
    nonisolated(nonsending) mutating func commitAsync() async throws(StoreError) -> UInt64 {
      try await batch.prepare()
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
    self.init(keyspace: ObjectIdentifier(batch.keyspaces[operation.keyspace]), bytes: Array(batch.bytes[key]))
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
