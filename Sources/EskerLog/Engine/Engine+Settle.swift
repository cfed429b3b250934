internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Gives a write its durability. `sequence` is 0 if nothing was written.
  @usableFromInline
  @inline(__always)
  func settle(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    // The common case: nothing to do.
    if case .buffered = durability ?? env.options.durability, env.isThreaded {
      if writer.isOwing { payDelay() }
      return
    }
    try settleSlowly(sequence, durability)
  }

  @inline(never)
  private func settleSlowly(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    defer { env.deliverEvents() }
    if writer.isOwing { payDelay() }
    switch durability ?? env.options.durability {
    case .buffered:
      break
    case .synced:
      guard sequence != 0 else { break }
      commits.noteDemand()
      if durability == nil, DeferredSyncs.leave(sequence, of: committer) { break }
      try waitDurable(logged: sequence)
    case .periodic(let interval):
      guard sequence != 0 else { break }
      if !committer.requestSync(within: interval.wholeNanoseconds) { try waitDurable(logged: sequence) }
    }
    if !env.isThreaded { env.workers.runPending() }
  }

  /// Waits until a logged write is durable; errors say that the write stays in the log.
  private func waitDurable(logged sequence: UInt64) throws(StoreError) {
    do throws(StoreError) { try commits.waitDurable(sequence) } catch { throw error.ofLoggedWrite }
  }

  /// Like `settle`, but suspends the task instead of blocking its thread.
  @usableFromInline
  func settleAsync(_ sequence: UInt64, _ durability: Durability?) async throws(StoreError) {
    if writer.isOwing { await payDelayAsync() }
    guard case .synced = durability ?? env.options.durability, sequence != 0 else {
      return try settle(sequence, durability)
    }
    commits.noteDemand()
    defer { env.deliverEvents() }
    do throws(StoreError) { try await committer.waitDurable(sequence) } catch { throw error.ofLoggedWrite }
  }

  func waitDurable(_ sequence: UInt64) throws(StoreError) {
    defer { env.deliverEvents() }
    try env.checkSyncable()
    // Clamped: a sequence number that was never assigned would be waited for in vain.
    try commits.waitDurable(min(sequence, commits.publishedSequence))
  }

  func waitDurableAsync(_ sequence: UInt64) async throws(StoreError) {
    try env.checkSyncable()
    try await committer.waitDurable(min(sequence, commits.publishedSequence))
  }

  func sync() throws(StoreError) {
    try waitDurable(commits.publishedSequence)
    if !env.isThreaded { env.workers.runPending() }
  }

  /// Waits for the delay that the last step of writes owes, and seals full segments if too many are waiting. Called without
  /// locks.
  @inline(never)
  func payDelay() {
    let delay = writer.takeOwed()
    if catalog.isCrowdedUnsealed { keeper.sealFull() }
    env.deliverEvents()
    if delay != 0, env.isThreaded { env.workers.merger.nap(nanoseconds: delay) }
  }

  /// Like `payDelay`, but suspends the task.
  @inline(never)
  func payDelayAsync() async {
    let delay = writer.takeOwed()
    if catalog.isCrowdedUnsealed { keeper.sealFull() }
    env.deliverEvents()
    // Cancellation only ends the sleep: the write is done.
    if delay != 0, env.isThreaded { try? await Task.sleep(nanoseconds: delay) }
  }
}
