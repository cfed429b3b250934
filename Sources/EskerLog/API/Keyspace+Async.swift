extension Keyspace {
  /// The operations of a keyspace for tasks: a task that waits for durability is suspended and blocks no thread, and all tasks that
  /// wait at the same time share one sync.
  ///
  /// They are separate from the synchronous operations, under `async`, so that synchronous calls remain possible in asynchronous
  /// code. Both may be mixed freely. Cancelling a waiting task ends the wait and throws ``StoreError/cancelled``; the write itself
  /// stays. Thread safety: any task.
  public struct Async: Sendable {
    @usableFromInline let core: KeyspaceCore

    /// Stores `value` under `key`; see ``ByteStore/put(_:forKey:expiry:durability:)``.
    @inlinable @discardableResult
    public nonisolated(nonsending) func put<V: ByteSource, K: ByteSource>(
      _ value: V,
      forKey key: K,
      expiry: Expiry? = nil,
      durability: Durability? = nil
    ) async throws(StoreError) -> SequenceNumber {
      let start = core.engine.startOfSample()
      try await core.prepareWrite(of: key)
      let sequence = try CoreView(core: core).writeValue(
        value,
        forKey: key,
        expiry: expiry,
        condition: .always,
        // Many tasks share a sync, so the page that they store to is flushed from the TLBs only once.
        durability: .buffered
      )
      try await core.engine.settleAsync(sequence.rawValue, durability)
      core.engine.endPut(start)
      return sequence
    }

    /// A copy of the value of `key`; see ``ByteStore/get(_:)-(K)``. Suspends if it must be read from a device: no thread of the task's
    /// executor waits for one.
    @inlinable
    public nonisolated(nonsending) func get<K: ByteSource>(_ key: K) async throws(StoreError) -> [UInt8]? {
      guard core.mustWait(for: key), await core.mustWaitLonger(for: key) else {
        return try CoreView(core: core).get(key)
      }
      return try await core.awaitValue(of: key)
    }

    /// Copies of the values of several keys, in the order of the keys; see `get` of ``ByteStore``. If any must be read from a device,
    /// the task suspends once for all of them.
    @inlinable
    public nonisolated(nonsending) func get(_ keys: [some ByteSource]) async throws(StoreError) -> [[UInt8]?] {
      guard core.mustWait(forAnyOf: keys), await core.mustWaitLonger(forAnyOf: keys) else {
        return try CoreView(core: core).get(keys)
      }
      return try await core.awaitValues(of: keys)
    }

    /// Whether `key` has a value; see `contains` of ``ByteStore``. Suspends if its record must be read from a device.
    @inlinable
    public nonisolated(nonsending) func contains(_ key: some ByteSource) async throws(StoreError) -> Bool {
      await core.pageIn(key)
      return try CoreView(core: core).contains(key)
    }

    /// What is known of the value of `key`, without reading it; see `metadata` of ``ByteStore``. Suspends if its record must be read
    /// from a device.
    @inlinable
    public nonisolated(nonsending) func metadata(forKey key: some ByteSource) async throws(StoreError) -> ValueMetadata?
    {
      await core.pageIn(key)
      return try CoreView(core: core).metadata(forKey: key)
    }

    /// Removes `key`; see ``ByteStore/remove(_:durability:)``.
    @inlinable @discardableResult
    public nonisolated(nonsending) func remove<K: ByteSource>(_ key: K, durability: Durability? = nil)
      async throws(StoreError) -> Bool
    {
      try await core.prepareWrite(of: key)
      let removal = try CoreView(core: core).writeRemoval(key, condition: .always)
      try await core.engine.settleAsync(removal.sequence, durability)
      return removal.wasVisible
    }

    /// Replaces, removes or keeps a value depending on its current content; see `update` of ``ByteStore``.
    @discardableResult
    public nonisolated(nonsending) func update<K: ByteSource>(
      forKey key: K,
      durability: Durability? = nil,
      _ body: (RawSpan?) throws(StoreError) -> Update
    ) async throws(StoreError) -> SequenceNumber? {
      try await core.prepareWrite(of: key)
      return try await settled(try CoreView(core: core).logUpdate(forKey: key, .buffered, body), durability)
    }

    /// Replaces, removes or keeps a value depending on its current content; `body` may throw any error.
    @discardableResult
    public nonisolated(nonsending) func update<K: ByteSource>(
      forKey key: K,
      durability: Durability? = nil,
      _ body: (RawSpan?) throws -> Update
    ) async throws -> SequenceNumber? {
      try await core.prepareWrite(of: key)
      return try await settled(try CoreView(core: core).logUpdate(forKey: key, .buffered, body), durability)
    }

    /// Removes every key of the keyspace in constant time; see ``ByteStore/removeAll(durability:)``.
    public nonisolated(nonsending) func removeAll(durability: Durability? = nil) async throws(StoreError) {
      try await core.engine.awaitTurn()
      try await core.engine.settleAsync(try core.engine.removeAll(in: core), durability)
    }

    /// Commits a batch of writes atomically; see `write` of ``LogStore``.
    public nonisolated(nonsending) func write<R>(
      durability: Durability? = nil,
      _ body: (inout WriteBatch) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
      var batch = WriteBatch(defaultKeyspace: core)
      let result = try body(&batch)
      try await commit(batch, durability)
      return result
    }

    /// Commits a batch of writes atomically; `body` may throw any error, which discards the batch.
    public nonisolated(nonsending) func write<R>(
      durability: Durability? = nil,
      _ body: (inout WriteBatch) throws -> R
    ) async throws -> R {
      var batch = WriteBatch(defaultKeyspace: core)
      let result = try body(&batch)
      try await commit(batch, durability)
      return result
    }

    /// Removes every expired entry of the keyspace now, on a thread that may wait; see ``ByteStore/removeExpired()``.
    ///
    /// A task that is cancelled meanwhile gets the outcome all the same.
    @discardableResult
    public nonisolated(nonsending) func removeExpired() async throws(StoreError) -> Int {
      let core = core
      return try await onThreadThatMayWait { () throws(StoreError) in
        try core.engine.inTurn { () throws(StoreError) in try core.engine.maintainer.removeExpired(in: core) }
      }
    }

    /// Removes every expired entry of every keyspace now, on a thread that may wait; see ``LogStore/removeAllExpired()``.
    @discardableResult
    public nonisolated(nonsending) func removeAllExpired() async throws(StoreError) -> Int {
      let engine = core.engine
      return try await onThreadThatMayWait { () throws(StoreError) in
        try engine.inTurn { () throws(StoreError) in try engine.maintainer.removeExpired(in: nil) }
      }
    }

    /// Removes a keyspace of the store with all its entries; see ``LogStore/removeKeyspace(_:durability:)``.
    @discardableResult
    public nonisolated(nonsending) func removeKeyspace(_ name: String, durability: Durability? = nil)
      async throws(StoreError) -> Bool
    {
      try await core.engine.awaitTurn()
      let sequence = try core.engine.removeKeyspace(named: name)
      if sequence != 0 { try await core.engine.settleAsync(sequence, durability) }
      return sequence != 0
    }

    /// Makes every write that returned before the call durable; see ``LogStore/sync()``.
    public nonisolated(nonsending) func sync() async throws(StoreError) {
      try await core.engine.waitDurableAsync(core.engine.lastToSync)
    }

    /// Waits until the write with that sequence number is durable; see ``LogStore/waitDurable(_:)``.
    public nonisolated(nonsending) func waitDurable(_ sequence: SequenceNumber) async throws(StoreError) {
      try await core.engine.waitDurableAsync(sequence.rawValue)
    }
  }
}

extension Keyspace.Async {
  /// Gives a write its durability, and returns its number; nil if there was none.
  nonisolated(nonsending) func settled(
    _ sequence: UInt64,
    _ durability: Durability?,
    timedFrom start: UInt64 = 0
  ) async throws(StoreError) -> SequenceNumber? {
    guard sequence != 0 else { return nil }
    try await core.engine.settleAsync(sequence, durability)
    core.engine.endPut(start)
    return SequenceNumber(rawValue: sequence)
  }
}

/// Lends the operations of ``ByteStore`` to code that holds only a keyspace's core.
@usableFromInline
struct CoreView: ByteStore {
  @usableFromInline let _core: KeyspaceCore

  @inlinable
  init(core: KeyspaceCore) {
    _core = core
  }
}
