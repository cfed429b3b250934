internal import EskerPlatform

// Safety: pointers to keys are used only while the caller's span is lent.
extension KeyspaceCore {
  /// Whether a look-up would wait for a device. The pages that it would wait for are then being read.
  @inlinable
  func mustWait(for key: some ByteSource) -> Bool {
    key.withBytes { span in unsafe span.withKeyPointer { unsafe mustWait(for: $0) } }
  }

  /// Whether a look-up would still wait for a device once other tasks have had their turn.
  ///
  /// Where many tasks read, what was asked for arrives while they run, and no thread has to wait for it: that takes half of the
  /// processor time. A task that is alone goes to a thread a moment later.
  @usableFromInline
  nonisolated(nonsending) func mustWaitLonger(for key: some ByteSource) async -> Bool {
    await Task.yield()
    return mustWait(for: key)
  }

  /// Whether a look-up of any of the keys would wait for a device. What they would wait for is then being read.
  @inlinable
  func mustWait(forAnyOf keys: [some ByteSource]) -> Bool {
    var mustWait = false
    for key in keys where self.mustWait(for: key) { mustWait = true }
    return mustWait
  }

  /// The same once other tasks have had their turn.
  @usableFromInline
  nonisolated(nonsending) func mustWaitLonger(forAnyOf keys: [some ByteSource]) async -> Bool {
    await Task.yield()
    return mustWait(forAnyOf: keys)
  }

  /// The values of several keys, copied by a thread that may wait.
  @usableFromInline
  nonisolated(nonsending) func awaitValues(of keys: [some ByteSource]) async throws(StoreError) -> [[UInt8]?] {
    let keys = keys.map { key in key.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } }
    return try await IOThreads.shared.run(orThrow: .cancelled) { [self] () throws(StoreError) in
      try CoreView(core: self).get(keys)
    }
  }

  /// The value of a key, copied by a thread that may wait.
  @usableFromInline
  nonisolated(nonsending) func awaitValue(of key: some ByteSource) async throws(StoreError) -> [UInt8]? {
    let key = key.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
    return try await IOThreads.shared.run(orThrow: .cancelled) { [self] () throws(StoreError) in
      try CoreView(core: self).get(key)
    }
  }

  /// Suspends until this process may write, and what a write of the key looks at is in memory.
  @usableFromInline
  nonisolated(nonsending) func prepareWrite(of key: some ByteSource) async throws(StoreError) {
    if !engine.env.isUnhindered { try await engine.awaitTurn() }
    await pageIn(key)
  }

  /// Suspends until what a look-up of the key looks at is in memory, so that the task's thread does not wait for it.
  ///
  /// A cancelled task goes on at once: whether its write happens must not depend on where it waited.
  @usableFromInline
  nonisolated(nonsending) func pageIn(_ key: some ByteSource) async {
    guard engine.env.isUnhindered, mustWait(for: key), await mustWaitLonger(for: key) else { return }
    await pageIn([(self, key.copiedBytes)])
  }

  /// Has a thread look at the keys, unless the task is cancelled before its turn.
  fileprivate nonisolated(nonsending) func pageIn(_ keys: [(core: KeyspaceCore, key: [UInt8])]) async {
    do throws(StoreError) {
      try await IOThreads.shared.run(orThrow: .cancelled) { () throws(StoreError) in
        for (core, key) in keys { unsafe key.withUnsafeBytes { unsafe core.touch($0) } }
      }
    } catch {
      // What is missing is read when it is needed.
    }
  }
}

extension WriteBatch {
  /// Suspends until this process may write, and brings in what its keys look at.
  nonisolated(nonsending) func prepare() async throws(StoreError) {
    let core = defaultKeyspace
    if !core.engine.env.isUnhindered { try await core.engine.awaitTurn() }
    guard core.engine.env.isUnhindered, core.engine.env.pages.mayWait else { return }
    let missing = keys.map { ($0.keyspace, Array(bytes[$0.place])) }.filter { core, key in core.mustWait(for: key) }
    if !missing.isEmpty { await core.pageIn(missing) }
  }
}

extension Keyspace.Async {
  /// Commits a batch. What its keys look at is brought in first, as for a single write.
  nonisolated(nonsending) func commit(_ batch: borrowing WriteBatch, _ durability: Durability?) async throws(StoreError)
  {
    try await batch.prepare()
    try await core.engine.settleAsync(try core.engine.commit(batch), durability)
  }
}

/// Runs a call that takes its time where it may, also for a task that is cancelled.
nonisolated(nonsending) func onThreadThatMayWait<R: Sendable>(
  _ call: @escaping @Sendable () throws(StoreError) -> R
) async throws(StoreError) -> R {
  let outcome: Result<R, StoreError> = await withCheckedContinuation { continuation in
    IOThreads.shared.submit { continuation.resume(returning: Result(catching: call)) }
  }
  return try outcome.get()
}
