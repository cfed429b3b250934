internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Syncs, writes a checkpoint, says in the manifest that nothing is in flight, and gives everything back.
  @usableFromInline
  func close() throws(StoreError) {
    // What is written ahead of the store would deliver some, under a lock that a handler which closes the store waits for.
    env.holdEvents()
    defer { env.beginEvents() }
    try closeOnce()
  }

  private func closeOnce() throws(StoreError) {
    closing.lock()
    defer { closing.unlock() }
    let waitingFailure = closeAhead()
    let before = env.markClosed()
    guard !before.contains(.closed) else { return }
    // Whatever came ahead meanwhile finds the store closed, and says so.
    let lateFailure = closeAhead()
    // Let go of outside its lock: what is kept may call the store as it goes.
    _ = kept.withLock { $0.take() }
    stopPublishing()
    committer.stop()
    env.workers.stop()
    // A look at the log of another process may be under way, or a last checkpoint. A merge on demand ends soon: it asks.
    let failure = follower.holding {
      merger.whileResting {
        keeper.holdingImages {
          // Whoever makes room for a record has begun before the store was marked; nobody begins any more.
          writer.awaitRoom()
          return end(after: before)
        }
      }
    }
    follower.end()
    env.emit(.closed)
    if let failure = failure ?? waitingFailure ?? lateFailure { throw failure }
  }

  /// Ends a store that nobody works on any more; what went wrong.
  private func end(after before: Environment.Status) -> StoreError? {
    // Whoever was writing has the lock; from here on nobody gets past `checkWritable`.
    let isChanged = writer.withLock { $0.isMarkedOpen || $0.isReaped } || catalog.hasDiscarded
    var failure: StoreError?
    if before.contains(.syncFailed) {
      // What was only buffered may be lost in a power cut, and who closes the store counts on the opposite.
      failure = .syncFailed(errno: commits.failureCode ?? PlatformError.inputOutput)
    }
    var isClean = false
    if before.isEmpty, isChanged || catalog.manifest.state == .open {
      do throws(StoreError) {
        try leaveClean()
        isClean = true
      } catch {
        failure = error
      }
    } else if before.isEmpty {
      keepTime()
    }
    committer.finish()
    release(givingBackUnused: isClean)
    return failure
  }

  /// Keeps the time that a session without writes has seen, so that what it saw expire stays so.
  private func keepTime() {
    let isBehind = catalog.manifest.storeTime < env.time.now
    guard isBehind else { return }
    do throws(StoreError) { try catalog.commit(.listed) } catch {
      env.emit(.backgroundFailure(operation: "save the store time", error))
    }
  }

  /// Leaves a store whose next opening has nothing to do. Nobody writes any more.
  private func leaveClean() throws(StoreError) {
    try commits.waitDurable(publishedSequence)
    keeper.sealFull()
    var dropped = catalog.takeDiscarded()
    writer.withLock { state in
      if let tail = state.tail {
        let end = state.offset
        tail.change { $0.close(at: end, last: publishedSequence) }
      }
    }
    let tail = writer.withLock { $0.tail }
    // Everything is durable now, so whatever has an end may be called sealed; segments without a record go.
    let unused = catalog.take { segment in
      segment.change { facts in if facts.state == .sealed { facts.settle(with: facts.footer) } }
      let isUnusedTail = segment === tail && segment.recordsEnd <= SegmentHeader.length
      return segment.firstSequence == 0 || isUnusedTail
    }
    dropped += unused.map(\.path)
    for segment in unused { catalog.uninstall(segment) }
    let listed = catalog.manifest
    let (checkpointID, oldID) = (listed.nextCheckpointID, listed.checkpointID)
    let isWritten: Bool
    do throws(StoreError) {
      isWritten = keeper.isCheckpointWorthwhile ? try keeper.writeCheckpoint(id: checkpointID) != nil : false
    } catch {
      // Without room for a checkpoint the next opening reads the segments.
      guard case .noSpace = error else { throw error }
      isWritten = false
    }
    let next = writer.withLock { $0.nextSequence }
    try catalog.commit(.clean(checkpoint: isWritten ? checkpointID : 0, nextSequence: next))
    for path in dropped { catalog.removeFile(path) }
    if oldID != 0 { catalog.removeFile("\(env.path)/\(FileName.checkpoint(oldID))") }
  }
}

extension Engine {
  /// Has all that waits written; the first error, if any.
  func closeAhead() -> StoreError? {
    var failure: StoreError?
    for core in keydir.keyspaces.all {
      guard let ahead = core.ahead.withLock({ $0 }) else { continue }
      do throws(StoreError) { try ahead.close() } catch { failure = failure ?? error }
    }
    return failure
  }
}
