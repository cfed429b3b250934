internal import EskerPlatform
internal import Synchronization

// What surrounds a write to the log: fronts first, the expiry, room in a store with a capacity, feeds, and durability.
//
// Safety: the caller keeps key and value until the call returns. An incarnation stays allocated as long as the core.

extension KeyspaceCore {
  func anticipate(_ key: UnsafeRawBufferPointer) {
    unsafe keydir.reader.prefetch(incarnation.pointee.hash.hash(key))
  }

  /// Stores a value; returns its sequence number, or 0 if the condition does not hold.
  @usableFromInline
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ expiry: Expiry?,
    _ condition: WriteCondition,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    // What another process has set counts for a value that does not say when it expires.
    let isClaimed = try engine.claimTurn()
    defer { if isClaimed { engine.endClaim() } }
    return try unsafe put(value, key, at: instant(of: expiry), condition, durability)
  }

  /// Stores a value that expires at an instant.
  @inline(__always)
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    at instant: Int64,
    _ condition: WriteCondition,
    _ durability: Durability?
  ) throws(StoreError) -> UInt64 {
    var isSynced = false
    if case .synced = durability ?? engine.env.settings.durability { isSynced = true }
    return try unsafe engine.put(value, key, self, expiry: instant, condition, isSynced: isSynced)
  }

  /// Stores a value, and gives it its durability.
  @usableFromInline
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ expiry: Expiry?,
    durability: Durability?
  ) throws(StoreError) -> UInt64 {
    let start = engine.startOfSample()
    let sequence = try unsafe put(value, key, expiry, .always, durability)
    try engine.settle(sequence, durability)
    engine.endPut(start)
    return sequence
  }

  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, _ condition: WriteCondition) throws(StoreError) -> RemovalResult {
    try unsafe engine.remove(key, self, condition)
  }
}

extension KeyspaceCore {
  /// Whether values written without an expiry may expire.
  @inline(__always)
  private var mayExpire: Bool {
    keydir.env.hasDefaultExpiry || defaultExpiryMilliseconds.load(ordering: .relaxed) >= 0
  }

  /// The same as `resolve`, at once where nothing expires.
  @inline(__always)
  func instant(of expiry: Expiry?) -> Int64 { expiry == nil && !mayExpire ? .max : resolve(expiry) }

  /// The instant in store time at which a value written now expires; `Int64.max` for never.
  func resolve(_ expiry: Expiry?) -> Int64 {
    switch expiry {
    case .never: return .max
    case .at(let instant): return instant.millisecondsSince1970
    case .after(let duration): return keydir.env.checkedNow.addingClamped(duration.wholeMilliseconds)
    case nil:
      let milliseconds = defaultExpiryMilliseconds.load(ordering: .relaxed)
      if milliseconds >= 0 { return keydir.env.checkedNow.addingClamped(milliseconds) }
      if case .never = keydir.env.settings.defaultExpiry { return .max }
      return resolve(keydir.env.settings.defaultExpiry)
    }
  }
}

extension Engine {
  /// Stores a value; returns its sequence number, or 0 if the condition does not hold.
  func put(
    _ value: UnsafeRawBufferPointer,
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    expiry: Int64,
    _ condition: WriteCondition,
    isSynced: Bool
  ) throws(StoreError) -> UInt64 {
    unsafe core.anticipateBeyondMemory(key)
    let sequence = try makingRoom { () throws(StoreError) in
      try unsafe writer.put(value, key, core, expiry: expiry, condition, isSynced: isSynced)
    }
    wakeFeeds()
    return sequence
  }

  func remove(
    _ key: UnsafeRawBufferPointer,
    _ core: KeyspaceCore,
    _ condition: WriteCondition
  ) throws(StoreError) -> RemovalResult {
    unsafe core.anticipateBeyondMemory(key)
    let removal = try makingRoom { () throws(StoreError) in try unsafe writer.remove(key, core, condition) }
    wakeFeeds()
    return removal
  }

  /// Wakes the tasks that wait for a write. Called after each, without a lock.
  @inline(__always)
  func wakeFeeds() {
    if feeds.isWriteAwaited { feeds.wake() }
  }

  /// Logs a batch, and gives it its durability.
  func commit(_ batch: borrowing WriteBatch, durability: Durability?) throws(StoreError) {
    defer { env.deliverEvents() }
    let sequence = try commit(batch)
    try settle(sequence, durability)
  }

  /// Logs a batch; if a store with a capacity has no room for it, makes room and retries.
  ///
  /// - Returns: the sequence number of the batch's last record; 0 for an empty batch.
  func commit(_ batch: borrowing WriteBatch) throws(StoreError) -> UInt64 {
    anticipateBeyondMemory(batch)
    let sequence = try makingRoom { () throws(StoreError) in try writer.commit(batch) }
    wakeFeeds()
    return sequence
  }

  /// Runs a write; if a store with a capacity has no room for it, makes room and retries.
  @inline(__always)
  func makingRoom<R>(_ write: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try write() } catch { return try makeRoomAndWrite(after: error, write) }
  }

  @inline(never)
  private func makeRoomAndWrite<R>(
    after first: StoreError,
    _ write: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var failure = first
    var isAgain = false
    while true {
      var hasClaim = false
      defer { if hasClaim { endClaim() } }
      do throws(StoreError) {
        try makeRoom(after: failure, isAgain: isAgain)
      } catch {
        guard case .suspended = error, try takeTurn() else {
          env.deliverEvents()
          throw error
        }
        hasClaim = true
      }
      if failure.bytesLacking != nil { isAgain = true }
      do throws(StoreError) { return try write() } catch { failure = error }
    }
  }

  /// Makes the room that a write has not found. Throws if the failure has another reason, or nothing can be done.
  private func makeRoom(after failure: StoreError, isAgain: Bool) throws(StoreError) {
    if case .keyspaceFull(let name, let bytes, let entries) = failure {
      defer {
        env.deliverEvents()
        wakeFeeds()
      }
      try env.checkWritable()
      guard let core = keydir.keyspaces[name] else { throw .keyspaceRemoved(name) }
      do throws(StoreError) { return try writer.evict(from: core, toAdd: bytes, entries: entries) } catch {
        // For a tombstone, the store may have to make room.
        guard env.settings.capacity != nil, error.bytesLacking != nil else { throw error }
        return try makeRoom(after: error, isAgain: isAgain)
      }
    }
    guard env.settings.capacity != nil, let needed = failure.bytesLacking else { throw failure }
    // Of a capacity's room, others may have taken what was made: that is a reason to make more, but not to evict without need.
    let isVolumeFull = if case .noSpace = failure { isAgain } else { false }
    try merger.makeRoom(for: needed, isVolumeFull: isVolumeFull, orThrow: failure)
  }
}

extension Engine {
  // MARK: Durability

  /// Gives a write its durability. `sequence` is 0 if nothing was written.
  @usableFromInline
  @inline(__always)
  func settle(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    // The common case: nothing to do.
    if case .buffered = durability ?? env.settings.durability, env.isThreaded {
      if writer.isOwing { payDelay() }
      return
    }
    try settleSlowly(sequence, durability)
  }

  @inline(never)
  private func settleSlowly(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    defer { env.deliverEvents() }
    if writer.isOwing { payDelay() }
    switch durability ?? env.settings.durability {
    case .buffered:
      break
    case .synced:
      guard sequence > commits.durableSequence else { break }
      commits.noteDemand()
      try waitDurable(logged: sequence)
    case .periodic(let interval):
      guard sequence > commits.durableSequence else { break }
      if !committer.requestSync(within: interval.wholeNanoseconds) { try waitDurable(logged: sequence) }
    }
    if !env.isThreaded { env.workers.runPending() }
  }

  /// Waits until a logged write is durable; errors say that the write stays in the log.
  private func waitDurable(logged sequence: UInt64) throws(StoreError) {
    // It may be what another process has written, where nothing had to be changed.
    do throws(StoreError) { try inTurn { () throws(StoreError) in try commits.waitDurable(sequence) } } catch {
      throw error.ofLoggedWrite
    }
  }

  /// Like `settle`, but suspends the task instead of blocking its thread.
  @usableFromInline
  nonisolated(nonsending) func settleAsync(
    _ sequence: UInt64,
    _ durability: Durability?,
    isAbandonable: Bool = true
  ) async throws(StoreError) {
    if writer.isOwing { await payDelayAsync() }
    guard case .synced = durability ?? env.settings.durability, sequence > commits.durableSequence else {
      return try settle(sequence, durability)
    }
    commits.noteDemand()
    defer { env.deliverEvents() }
    while true {
      do throws(StoreError) { return try await committer.waitDurable(sequence, isAbandonable: isAbandonable) } catch {
        guard case .suspended = error else { throw error.ofLoggedWrite }
        try await awaitTurn()
      }
    }
  }

  func waitDurable(_ sequence: UInt64) throws(StoreError) {
    defer { env.deliverEvents() }
    try env.checkSyncable()
    let sequence = assigned(sequence)
    try inTurn { () throws(StoreError) in try commits.waitDurable(sequence) }
  }

  nonisolated(nonsending) func waitDurableAsync(_ sequence: UInt64) async throws(StoreError) {
    try env.checkSyncable()
    let sequence = assigned(sequence)
    while true {
      do throws(StoreError) { return try await committer.waitDurable(sequence) } catch {
        guard case .suspended = error else { throw error }
        try await awaitTurn()
      }
    }
  }

  /// A number that was assigned: one that never was would be waited for in vain. One that is not published yet may have been read.
  private func assigned(_ sequence: UInt64) -> UInt64 {
    sequence <= commits.publishedSequence ? sequence : min(sequence, writer.lastVisible)
  }

  /// The last write that a sync makes durable: of all that anybody may have seen.
  var lastToSync: UInt64 { writer.withLock { _ in commits.lastToSync } }

  func sync() throws(StoreError) {
    try waitDurable(lastToSync)
    if !env.isThreaded { env.workers.runPending() }
  }

  /// Waits for the delay that the last step of writes owes, seals full segments if too many are waiting, and wakes the merger. Called
  /// without locks.
  @inline(never)
  func payDelay() {
    let delay = takeOwed()
    env.deliverEvents()
    if delay != 0, env.isThreaded { env.workers.merger.sleep(nanoseconds: delay) }
  }

  private func takeOwed() -> UInt64 {
    let delay = writer.takeOwed()
    if catalog.isCrowdedUnsealed { maintainer.sealFull() }
    env.workers.merger.request(.merge)
    return delay
  }

  /// Like `payDelay`, but suspends the task.
  @inline(never)
  nonisolated(nonsending) func payDelayAsync() async {
    let delay = takeOwed()
    env.deliverEvents()
    // Cancellation only ends the sleep: the write is done.
    if delay != 0, env.isThreaded { try? await Task.sleep(nanoseconds: delay) }
  }
}
