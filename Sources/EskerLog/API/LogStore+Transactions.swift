extension LogStore {
  /// Runs `body`, which reads and writes through a transaction, and then logs its writes as one batch, if nothing that it has read has changed
  /// meanwhile. Otherwise nothing is written, and `body` runs again.
  ///
  /// So transactions are serializable: each takes effect as if it had been alone, those of threads and of tasks, and beside other writes.
  /// That holds for the keys that were read, absent ones too, and not for ranges. `body` runs without any lock, and may run several
  /// times, so it should change nothing else. It sees its own writes.
  ///
  /// ```swift
  /// try store.transaction { transaction in
  ///   guard try transaction.get("name/anna") == nil else { throw NameIsTaken() }
  ///   try transaction.put(id, forKey: "name/anna")
  ///   try transaction.put(profile, forKey: "user/17")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - durability: When the writes survive a power failure.
  ///   - attempts: How often `body` runs at most.
  ///   - body: Reads and writes. It may run several times, so it does nothing else that counts.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, which discards its writes; ``StoreError/conflict(keyspace:key:)`` if others were faster at each attempt;
  ///   what `write` throws; ``StoreError/readOnly``: a store that only reads has snapshots.
  public func transaction<R: ~Copyable>(
    durability: Durability? = nil,
    attempts: Int = Transaction.defaultAttempts,
    _ body: (inout Transaction) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var attempt = 1
    while true {
      try engine.checkMayWrite()
      var transaction = Transaction(in: core)
      do throws(StoreError) {
        let result = try body(&transaction)
        try settle(try transaction.commit(), durability)
        return result
      } catch {
        guard transaction.hasConflict, attempt < attempts else { throw error }
      }
      if attempt > Self.attemptsAtOnce { engine.env.platform.pause() }
      attempt += 1
    }
  }

  /// Runs `body`, which may throw any error, in a transaction.
  public func transaction<R: ~Copyable>(
    durability: Durability? = nil,
    attempts: Int = Transaction.defaultAttempts,
    _ body: (inout Transaction) throws -> R
  ) throws -> R {
    var attempt = 1
    while true {
      try engine.checkMayWrite()
      var transaction = Transaction(in: core)
      do {
        let result = try body(&transaction)
        try settle(try transaction.commit(), durability)
        return result
      } catch {
        guard transaction.hasConflict, attempt < attempts else { throw error }
      }
      if attempt > Self.attemptsAtOnce { engine.env.platform.pause() }
      attempt += 1
    }
  }

  /// Attempts between which nobody waits.
  fileprivate static let attemptsAtOnce = 4

  private func settle(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    defer { engine.env.deliverEvents() }
    if sequence != 0 { try engine.settle(sequence, durability) }
  }
}

extension LogStore.Transaction {
  /// How often the body runs at most, unless the call says otherwise.
  public static var defaultAttempts: Int { 1_000 }
}

extension Keyspace.Async {
  /// Runs `body` in a transaction, whose keys are of this keyspace unless it says otherwise; see `transaction` of ``LogStore``. Nothing is
  /// held while `body` is suspended, and others may change what it has read: then it runs again.
  ///
  /// - Throws: What `body` throws; ``StoreError/cancelled`` if the task is cancelled between two attempts.
  public nonisolated(nonsending) func transaction<R>(
    durability: Durability? = nil,
    attempts: Int = LogStore.Transaction.defaultAttempts,
    _ body: nonisolated(nonsending) (inout LogStore.Transaction) async throws -> R
  ) async throws -> R {
    let engine = core.engine
    var attempt = 1
    while true {
      try await engine.awaitTurn()
      try engine.env.checkMayWrite()
      var transaction = LogStore.Transaction(in: core)
      do {
        let result = try await body(&transaction)
        let sequence = try await transaction.commitAsync()
        if sequence != 0 { try await engine.settleAsync(sequence, durability) }
        return result
      } catch {
        guard transaction.hasConflict, attempt < attempts else { throw error }
      }
      if Task.isCancelled { throw StoreError.cancelled }
      if attempt > LogStore.attemptsAtOnce {
        try? await Task.sleep(for: .microseconds(attempt))
      } else {
        await Task.yield()
      }
      attempt += 1
    }
  }
}
