internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Sees to it that a write survives what it was asked to survive. 0: nothing was written.
  @usableFromInline
  @inline(__always)
  func settle(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    // Nothing is left to do for nearly every write.
    if case .buffered = durability ?? options.durability, background.isThreaded {
      if owedDelay.load(ordering: .relaxed) != 0 { payDelay() }
      return
    }
    try settleSlowly(sequence, durability)
  }

  @inline(never)
  private func settleSlowly(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    defer { events.deliver() }
    if owedDelay.load(ordering: .relaxed) != 0 { payDelay() }
    switch durability ?? options.durability {
    case .buffered:
      break
    case .synced:
      guard sequence != 0 else { break }
      noteSyncDemand()
      if durability == nil, DeferredSyncs.leave(sequence, of: self) { break }
      try waitDurable(logged: sequence)
    case .periodic(let interval):
      guard sequence != 0 else { break }
      if !committer.requestSync(within: interval.wholeNanoseconds) { try waitDurable(logged: sequence) }
    }
    if !background.isThreaded { runBackgroundWork() }
  }

  /// Waits until a write is durable that is logged: what fails now leaves it where it is.
  private func waitDurable(logged sequence: UInt64) throws(StoreError) {
    do throws(StoreError) { try commits.waitDurable(sequence) } catch { throw error.ofLoggedWrite }
  }

  /// As `settle`, suspending the task instead of blocking its thread.
  @usableFromInline
  func settleAsync(_ sequence: UInt64, _ durability: Durability?) async throws(StoreError) {
    if owedDelay.load(ordering: .relaxed) != 0 { await payDelayAsync() }
    guard case .synced = durability ?? options.durability, sequence != 0 else {
      return try settle(sequence, durability)
    }
    noteSyncDemand()
    defer { events.deliver() }
    do throws(StoreError) { try await committer.waitDurable(sequence) } catch { throw error.ofLoggedWrite }
  }

  func waitDurable(_ sequence: UInt64) throws(StoreError) {
    defer { events.deliver() }
    try checkSyncable()
    // A number that was never given out would be waited for in vain.
    try commits.waitDurable(min(sequence, publishedSequence))
  }

  func waitDurableAsync(_ sequence: UInt64) async throws(StoreError) {
    try checkSyncable()
    try await committer.waitDurable(min(sequence, publishedSequence))
  }

  func sync() throws(StoreError) {
    try waitDurable(publishedSequence)
    if !background.isThreaded { runBackgroundWork() }
  }

  private func checkSyncable() throws(StoreError) {
    let flags = status.load(ordering: .acquiring)
    if flags & Status.closed != 0 { throw .closed }
    if flags & Status.readOnly != 0 { throw .readOnly }
  }

  private func noteSyncDemand() {
    if !hasSyncDemand.load(ordering: .relaxed) { hasSyncDemand.store(true, ordering: .relaxed) }
  }

  /// Whether writers wait for syncs, so that pages are brought in sparingly ahead of the tail.
  var isSyncing: Bool { hasSyncDemand.load(ordering: .relaxed) }

  /// Does what the background was asked for on the calling thread.
  func runBackgroundWork() {
    background.runPending()
    keeper.runPending()
    merger.runPending()
  }
}

extension StoreError {
  /// What a failure to make a write durable says of that write.
  var ofLoggedWrite: StoreError {
    if case .syncFailed(let code) = self { .outcomeUnknown(errno: code) } else { self }
  }
}
