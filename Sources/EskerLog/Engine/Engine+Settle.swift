internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Sees to it that a write survives what it was asked to survive. 0: nothing was written.
  @usableFromInline
  @inline(__always)
  func settle(_ sequence: UInt64, _ durability: Durability?) throws(StoreError) {
    // Nothing is left to do for nearly every write.
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

  /// Waits until a write is durable that is logged: what fails now leaves it where it is.
  private func waitDurable(logged sequence: UInt64) throws(StoreError) {
    do throws(StoreError) { try commits.waitDurable(sequence) } catch { throw error.ofLoggedWrite }
  }

  /// As `settle`, suspending the task instead of blocking its thread.
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
    // A number that was never given out would be waited for in vain.
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

  /// Waits as long as the last step of writes has to, and seals what is full where that is too much. No lock is held.
  @inline(never)
  func payDelay() {
    let delay = writer.takeOwed()
    if catalog.isCrowdedUnsealed { keeper.sealFull() }
    env.deliverEvents()
    if delay != 0, env.isThreaded { env.workers.merger.nap(nanoseconds: delay) }
  }

  /// As `payDelay`, suspending the task.
  @inline(never)
  func payDelayAsync() async {
    let delay = writer.takeOwed()
    if catalog.isCrowdedUnsealed { keeper.sealFull() }
    env.deliverEvents()
    // A cancelled task goes on: its write is done.
    if delay != 0, env.isThreaded { try? await Task.sleep(nanoseconds: delay) }
  }
}
