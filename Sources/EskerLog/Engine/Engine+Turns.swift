internal import EskerFormat
internal import EskerPlatform

// A store that lets other processes write: for as long as it is told to, or in turn. Meanwhile it follows them as a read-only store does.

extension Engine {
  // MARK: When told to

  /// Lets go of all that keeps other processes from writing, until ``resume()``. Idempotent.
  ///
  /// - Parameter patience: How long a write waits for that before it throws.
  func suspend(patience: Duration) throws(StoreError) {
    // Otherwise events would be delivered under a lock that a handler which resumes the store waits for.
    env.holdEvents()
    defer { env.beginEvents() }
    guard let session = env.session else { return try env.checkOpen() }
    resumption.begin(patience: patience)
    // First: whoever waits for a turn gives up.
    env.withdraw()
    try turning.withLock { () throws(StoreError) in
      try env.checkOpen()
      // Again: a turn that was being taken has ended that.
      env.withdraw()
      letGo(of: session)
    }
    tellOfRest(session)
  }

  /// Takes back what ``suspend()`` has let go of, and what other processes have written since; a store that is written to in turn does that
  /// with its next write. Idempotent.
  func resume() throws(StoreError) {
    env.holdEvents()
    defer { env.beginEvents() }
    defer { feeds.wake() }
    let isBack = try turning.withLock { () throws(StoreError) -> Bool in
      try env.checkOpen()
      guard let session = env.session, env.isWithdrawn else { return false }
      if env.writesInTurn {
        env.endWithdrawal()
        return false
      }
      try takeBack(try session.takeAgain(), session)
      return true
    }
    resumption.end()
    if isBack { requestWork() }
  }

  // MARK: In turn

  /// Waits until the store is resumed, and for the turn of this process, if writes do; false if that does not come. The turn lasts until
  /// ``endClaim()``, so that what it was taken for can be done.
  ///
  /// - Throws: ``StoreError/locked(path:holder:)`` if it is another's for too long; what taking the files over throws.
  func takeTurn() throws(StoreError) -> Bool {
    repeat {
      if env.isWithdrawn {
        // A suspension waits for those.
        guard !env.workers.areCurrent, resumption.wait(while: { env.isWithdrawn && !env.isClosed }) else {
          return false
        }
      }
      guard case .inTurn(let patience) = env.options.sharing else {
        claims.wrappingAdd(1, ordering: .relaxed)
        return true
      }
      if try takeTurn(within: patience) { return true }
      // It was suspended meanwhile, and may be resumed by now.
    } while !env.workers.areCurrent
    return false
  }

  /// Takes the turn before a read on which a write depends, where another process may have changed what is to be read; false if there is
  /// no need, or it does not come: then the write throws. To be ended by ``endClaim()``.
  @inline(__always)
  func claimTurn() throws(StoreError) -> Bool {
    env.isUnhindered ? false : try claimTurnOfOthers()
  }

  @inline(never)
  private func claimTurnOfOthers() throws(StoreError) -> Bool {
    guard !env.options.readOnly, env.isSuspended || env.isWithdrawn else { return false }
    return try takeTurn()
  }

  /// Throws if the store takes no writes, now or once it is resumed.
  func checkMayWrite() throws(StoreError) {
    if try claimTurn() { endClaim() }
    try env.checkMayWrite()
  }

  /// The same for a task, before it writes. It keeps no thread of its executor waiting. The turn may be lost again before the write begins,
  /// which then waits for the next one on its thread.
  nonisolated(nonsending) func awaitTurn() async throws(StoreError) {
    if env.isWithdrawn { try await awaitResumption() }
    guard env.isSuspended, env.writesInTurn else { return }
    let isTaken = try await onThreadThatMayWait { [self] () throws(StoreError) in try takeTurn() }
    if isTaken { endClaim() }
  }

  private nonisolated(nonsending) func awaitResumption() async throws(StoreError) {
    let start = env.platform.clock.monotonicNanoseconds()
    var pause: UInt64 = 1_000_000
    while env.isWithdrawn, !env.isClosed {
      guard env.platform.clock.monotonicNanoseconds() &- start < resumption.limit else {
        throw .suspended(path: env.path)
      }
      if Task.isCancelled { throw .cancelled }
      try? await Task.sleep(for: .nanoseconds(Int64(pause)))
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// How late a task may notice that the store was resumed, in nanoseconds.
  private static let longestPause: UInt64 = 16_000_000

  /// - Returns: False if the store is not to take any. Otherwise this is a claim.
  private func takeTurn(within patience: Duration) throws(StoreError) -> Bool {
    env.holdEvents()
    defer { env.beginEvents() }
    let start = env.platform.clock.monotonicNanoseconds()
    // An event handler must not wait for a thread that waits for its return, in order to let go of the files.
    if env.workers.areCurrent {
      guard turning.tryLock() else { return false }
    } else {
      turning.lock()
    }
    var isNew = false
    do throws(StoreError) {
      defer { turning.unlock() }
      // Also for others that wait with this one.
      let waited = env.platform.clock.monotonicNanoseconds() &- start
      isNew = try awaitTurn(atMost: patience.wholeNanoseconds &- min(patience.wholeNanoseconds, waited))
      claims.wrappingAdd(1, ordering: .relaxed)
    } catch {
      // They may have been told to wait for a writer that this process is not, after all.
      feeds.wake()
      if case .suspended = error { return false }
      throw error
    }
    if isNew { requestWork() }
    return true
  }

  /// Waits for the turn, unless it is this process's. Called with `turning` held.
  private func awaitTurn(atMost limit: UInt64) throws(StoreError) -> Bool {
    try env.checkMayWrite()
    guard env.isSuspended, let session = env.session else { return false }
    let turn = try session.awaitTurn(atMost: limit) { () throws(StoreError) in
      try env.checkMayWrite()
    }
    try takeBack(turn, session)
    return true
  }

  /// Takes the turn if no other process has it, so that a close leaves the store as one that needs no recovery.
  func takeLastTurn() {
    guard env.writesInTurn, turning.tryLock() else { return }
    defer { turning.unlock() }
    _ = try? awaitTurn(atMost: 0)
  }

  /// What a turn was taken for has been tried.
  func endClaim() { claims.wrappingSubtract(1, ordering: .releasing) }

  /// Runs a body that may write, in the turn of this process.
  func inTurn<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try body() } catch { guard case .suspended = error else { throw error } }
    while try takeTurn() {
      defer { endClaim() }
      do throws(StoreError) { return try body() } catch { guard case .suspended = error else { throw error } }
    }
    throw .suspended(path: env.path)
  }

  /// Starts to watch for other processes that ask for the files, if these are shared.
  func watchForRequests() {
    guard env.writesInTurn, env.isThreaded, let session = env.session else { return }
    do throws(PlatformError) {
      let started = try TurnWatch(session) { [unowned self] in handOver() }
      watch.withLock { $0 = started }
    } catch {
      env.emit(.backgroundFailure(operation: "watch for processes that want to write", StoreError(error)))
    }
  }

  func endWatch() {
    watch.withLock { $0.take() }?.stop()
  }

  /// Lets other processes write that have asked for it, if this one can.
  ///
  /// - Parameter always: Whether it lets go if none has asked, for tests.
  func handOver(always: Bool = false) {
    guard let session = env.session, always || session.isAwaited, !env.isSuspended else { return }
    env.holdEvents()
    defer { env.beginEvents() }
    // A turn is worth what it costs to take it.
    let began = turning.withLock { turnBegan }
    let now = env.platform.clock.monotonicNanoseconds()
    if now &- began < Self.leastTurn { env.workers.merger.sleep(nanoseconds: Self.leastTurn - (now &- began)) }
    let isDone = turning.withLock { () -> Bool in
      guard !env.isClosed, !env.isSuspended else { return false }
      // What the turn was taken for comes first; but a thread that was stopped must not keep the others waiting for ever.
      let start = env.platform.clock.monotonicNanoseconds()
      while claims.load(ordering: .acquiring) > 0,
        env.platform.clock.monotonicNanoseconds() &- start < Self.mostGrace
      { env.workers.merger.sleep(nanoseconds: 20_000) }
      letGo(of: session, within: timeForWork)
      return true
    }
    if isDone { tellOfRest(session) }
  }

  /// The least time in nanoseconds for which a process keeps the files.
  private static let leastTurn: UInt64 = 200_000

  // MARK: Letting go

  /// Lets go of the files, unless that is done already. Called with `turning` held.
  ///
  /// - Parameter limit: How long work in the background may go on first, in nanoseconds.
  private func letGo(of session: Session, within limit: UInt64 = 0) {
    guard !env.isSuspended else { return }
    if env.workers.areBusy {
      let start = env.platform.clock.monotonicNanoseconds()
      while env.workers.areBusy, env.platform.clock.monotonicNanoseconds() &- start < limit { env.platform.pause() }
      brokenOff = env.workers.areBusy ? brokenOff + 1 : 0
    }
    env.beginSuspension()
    // Those who wait for a sync have written before.
    commits.awaitIdle()
    stopPublishing()
    env.workers.suspend()
    // One that was asked for ends soon; the body that is told of its progress may wait for what is held from here on.
    merger.whileResting {}
    follower.begin { rest(lettingGoOf: session) }
  }

  /// How long work in the background may go on although others wait, in nanoseconds. It is broken off at once some times, and then gets a
  /// while, longer each time, as it would never come to an end otherwise: so few wait, and those long enough.
  private var timeForWork: UInt64 {
    guard brokenOff > 0, brokenOff % Self.timesBrokenOff == 0 else { return 0 }
    let doublings = min(brokenOff / Self.timesBrokenOff - 1, 10)
    return min(Self.leastGrace << UInt64(doublings), Self.mostGrace)
  }

  private static let timesBrokenOff = 128
  private static let leastGrace: UInt64 = 50_000_000
  private static let mostGrace: UInt64 = 1_000_000_000

  /// Waits for calls that write to files, and lets go of these; returns where the log goes on. Called with `following` held.
  private func rest(lettingGoOf session: Session) -> (segment: Segment, offset: Int)? {
    merger.whileResting {
      maintainer.holdingImages {
        maintainer.holdingSealing {
          writer.rolling.withLock {
            dropDiscarded()
            catalog.letGo()
            let resting = writer.withLock { restWriter(&$0) }
            restingTail = resting
            followedFrom = catalog.manifest.generation
            // Last: from here on, the files may change.
            session.release(leaving: baton(of: resting))
            // One without records has no place in the log: it may be used later, or not at all.
            return resting.offset > SegmentHeader.length ? resting.segment.map { ($0, resting.offset) } : nil
          }
        }
      }
    }
  }

  /// Has the manifest list no segments any more that this process has dropped: what it follows from now on is what is listed. If that
  /// fails, the next writer drops them.
  private func dropDiscarded() {
    guard catalog.hasDiscarded else { return }
    do throws(StoreError) {
      try catalog.commit(.beginWriting(nextSequence: writer.withLock { $0.nextSequence }))
      catalog.removeDiscarded()
    } catch {
      env.emit(.backgroundFailure(operation: "let go of the files", error))
    }
  }

  private func restWriter(_ state: inout WriterState) -> WriterState.RestingTail {
    writer.freeze(&state)
    // As in a store that was just opened: until the first look for readers.
    if env.reusesSpace { state.noteReaders(true) }
    let resting = state.rest()
    env.session?.tellReaders(false)
    commits.letGo()
    env.follow(true)
    for core in keydir.keyspaces.all { core.notifyWillEmpty() }
    if let tail = resting.segment {
      // Whoever goes on in it may write behind the end that a clean close has given it.
      if !resting.isMarkedOpen { tail.change { $0.reopen() } }
      catalog.granules.updateLimit(tail)
    }
    return resting
  }

  /// What the next process needs to go on; nil if it must not trust this one.
  private func baton(of resting: WriterState.RestingTail) -> Baton? {
    guard env.writesInTurn, commits.failureCode == nil else { return nil }
    var baton = resting.baton
    baton.last = publishedSequence
    baton.nextSequence = writer.withLock { $0.nextSequence }
    baton.durable = durableSequence
    env.time.describe(in: &baton)
    catalog.describe(in: &baton)
    return baton
  }

  /// Tells other processes, and those who keep values, or wait for writes. Called without locks.
  private func tellOfRest(_ session: Session) {
    session.announceRelease()
    for core in keydir.keyspaces.all { for watcher in core.watchers.watchers { watcher.afterEmptying() } }
    // They look themselves from now on.
    feeds.wake()
  }

  // MARK: Taking back

  /// Goes on with the files, whose lock this process has got. Called with `turning` held.
  private func takeBack(_ turn: Session.Turn, _ session: Session) throws(StoreError) {
    do throws(StoreError) {
      switch turn {
      case .unchanged:
        if let restingTail { goOn(in: restingTail) } else { try takeOver(at: nil) }
      case .left(let baton): try takeOver(at: baton)
      case .unknown: try takeOver(at: nil)
      }
    } catch {
      restingTail = nil
      catalog.letGo()
      session.giveUpTurn()
      throw error
    }
    restingTail = nil
    turnBegan = env.platform.clock.monotonicNanoseconds()
    // In turn, others look so often that it would be vain.
    if !env.writesInTurn { writer.rolling.withLock { writer.lookForReaders() } }
    env.workers.resume()
    startPublishing()
    // Who has asked before was not heard.
    if session.isAwaited { session.wakeWaiters() }
  }

  /// Goes on as if nothing had been: no other process has written.
  private func goOn(in resting: WriterState.RestingTail) {
    follower.end {
      env.follow(false)
      catalog.takeBack()
      if let tail = resting.segment, !resting.isMarkedOpen {
        tail.change { $0.close(at: resting.offset, last: publishedSequence) }
        catalog.granules.updateLimit(tail)
      }
      commits.takeOver(catalog.segments)
      writer.withLock { state in
        state.wake(resting)
        endRest(&state)
      }
    }
  }

  /// Goes on where other processes have stopped: where the last of them says, or as an opening would.
  private func takeOver(at baton: Baton?) throws(StoreError) {
    try follower.end { (position) throws(StoreError) in
      if catalog.manifest.generation != followedFrom { keydir.keyspaces.takeOver(catalog.manifest) }
      if let baton { env.time.adopt(baton) }
      if let baton, goOn(at: baton, position) { return }
      catalog.takeOver()
      writer.withLock { $0.leaveTail() }
      if baton == nil { env.time.advance(to: catalog.manifest.storeTime) }
      var recovery = Recovery(writer)
      try recovery.takeOver(through: position.whole)
      // Its addresses would be taken for those of the segments that a manifest of this process lists.
      if !catalog.isWhereListed { _ = try maintainer.dropCheckpoint() }
      // What was found and decided counts for those who come next, also if this process writes nothing: they go by the manifest.
      let next = writer.withLock { $0.nextSequence }
      try catalog.commit(.beginWriting(nextSequence: next))
      catalog.removeDiscarded()
      // Now that nothing fails any more: otherwise what others have written would be for this process to sync.
      commits.takeOver(catalog.segments)
      writer.withLock { endRest(&$0) }
    }
  }

  /// Goes on in the tail that another process has left; false if what was read of the log is not what that process says, or more is to be
  /// done first.
  private func goOn(at baton: Baton, _ position: LogPosition) -> Bool {
    guard catalog.manifest.state == .open, catalog.isWhereListed || catalog.manifest.checkpointID == 0,
      let tail = catalog.segments.first(where: { $0.id == baton.segment }), !tail.isSealed,
      position.isAt(baton, in: tail)
    else { return false }
    _ = catalog.growToFile(tail)
    let end = Int(clamping: baton.offset) + writer.tailReserve
    let accessible = tail.accessible.load(ordering: .acquiring)
    // The file may be shorter than it was: a close cuts it to what was used of it, and the next process may have gone on in it. What is
    // mapped here is neither allocated again nor made longer when the tail grows, so all of that must be there.
    guard end <= min(tail.capacity, accessible), let size = try? tail.file.status().size, size >= tail.mapping.length
    else {
      return false
    }
    if let segment = position.segment, segment !== tail {
      segment.settleRead(to: position.offset, last: baton.last, catalog.granules)
    }
    catalog.takeOver(at: baton)
    tail.change { facts in if facts.firstSequence == 0 { facts.begin(with: baton.nextSequence) } }
    commits.noteDurable(min(baton.durable, publishedSequence))
    commits.takeOver(catalog.segments)
    let spares = catalog.spares(besides: tail)
    writer.withLock { state in
      state.goOn(at: baton, in: tail, spares: spares)
      endRest(&state)
    }
    return true
  }

  /// Lets writes in again, and fronts keep what is read.
  private func endRest(_ state: inout WriterState) {
    state.endRest()
    env.session?.tellReaders(true)
    for core in keydir.keyspaces.all { core.notifyDidEmpty() }
    env.endSuspension()
  }

  /// Asks for what a suspension may have broken off, and tells those whose keyspaces others have removed. Called without locks.
  private func requestWork() {
    feeds.wake()
    endRemoved()
    if keydir.needsMigration { env.workers.ahead.request(.migrateIndex) }
    if keydir.needsPurge { env.workers.maintainer.request(.purge) }
    if !catalog.fullSegments.isEmpty { env.workers.maintainer.request(.seal) }
    merger.askForMerge()
    if !env.isThreaded { env.workers.runPending() }
  }
}
