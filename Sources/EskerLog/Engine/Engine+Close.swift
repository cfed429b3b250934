internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Syncs, writes a checkpoint if one is needed, marks the manifest clean, and releases everything.
  @usableFromInline
  func close() throws(StoreError) {
    // Otherwise events would be delivered under a lock that a handler which closes the store waits for.
    env.holdEvents()
    defer { env.beginEvents() }
    try closeOnce()
  }

  private func closeOnce() throws(StoreError) {
    closing.lock()
    defer { closing.unlock() }
    takeLastTurn()
    var before = env.markClosed()
    guard !before.contains(.closed) else { return }
    endWatch()
    resumption.end()
    // Who waits for a turn notices the mark, and nobody waits any more.
    turning.withLock {}
    // A turn may have begun or ended at that moment.
    before.subtract([.suspended, .withdrawn, .loading])
    if env.isSuspended { before.insert(.suspended) }
    for core in keydir.keyspaces.all { end(core, .closed) }
    // In a store opened read-only, a writer in another process removes keyspaces, and watchers are not notified before this.
    endRemoved()
    // Released outside the lock: the objects may call the store in their deinit.
    _ = kept.withLock { $0.take() }
    stopPublishing()
    committer.stop()
    env.workers.stop()
    // A read-only store may be following its writer, or a last checkpoint be in progress. A merge on demand notices and stops.
    let (failure, isClean) = follower.end {
      merger.whileResting {
        maintainer.holdingImages {
          // Threads that are making room began before the store was marked closed; no others begin.
          writer.awaitRoom()
          return end(after: before)
        }
      }
    }
    // Not under those locks: this waits for pinned threads, and one of them may be waiting for a lock.
    if env.writesInTurn, before.isEmpty { leaveTime() }
    release(givingBackUnused: isClean)
    env.emit(.closed)
    if let failure { throw failure }
  }

  /// Ends a store whose background work has stopped; returns the error, if any, and whether the next opening needs no recovery.
  private func end(after before: Environment.Status) -> (failure: StoreError?, isClean: Bool) {
    // Waits for a write in progress; no later one gets past `checkWritable`.
    let isChanged =
      writer.withLock { $0.isMarkedOpen || $0.hasPurged } || catalog.hasDiscarded || maintainer.lacksOrders
    var failure: StoreError?
    if before.contains(.syncFailed) {
      // Buffered writes may be lost in a power failure, although a close should make them durable.
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
    } else if before.contains(.suspended), !before.contains(.syncFailed) {
      // The files may belong to another process. But what was written here was to be durable after the close.
      do throws(StoreError) { try commits.waitDurable(commits.lastToSync) } catch { failure = error }
    }
    committer.finish()
    return (failure, isClean)
  }

  /// Tells those who follow the store time, which may have been reset.
  private func leaveTime() {
    var baton = Baton()
    env.time.describe(in: &baton)
    env.session?.leave(baton)
  }

  /// Saves the store time after a session without writes, so that what expired in it stays expired.
  private func keepTime() {
    let isBehind = catalog.manifest.storeTime < env.time.now
    guard isBehind else { return }
    do throws(StoreError) { try catalog.commit(.listed) } catch {
      env.emit(.backgroundFailure(operation: "save the store time", error))
    }
  }

  /// Leaves a store that needs no recovery. No other thread writes any more.
  private func leaveClean() throws(StoreError) {
    try commits.waitDurable(publishedSequence)
    maintainer.sealFull()
    var dropped = catalog.takeDiscarded()
    writer.withLock { state in
      if let tail = state.tail {
        let end = state.offset
        tail.change { $0.close(at: end, last: publishedSequence) }
      }
    }
    let tail = writer.withLock { $0.tail }
    // Everything is durable now, so every sealed segment is settled; empty segments are removed. A thread that writes may be about
    // to seal what it filled.
    let unused = maintainer.holdingSealing {
      catalog.take { segment in
        segment.change { facts in if facts.awaitsSettling { facts.settle(with: facts.footer) } }
        let isUnusedTail = segment === tail && segment.recordBytes == 0
        return segment.firstSequence == 0 || isUnusedTail
      }
    }
    dropped += unused.map(\.path)
    for segment in unused { catalog.uninstall(segment) }
    let oldID = catalog.manifest.checkpointID
    let checkpointID = try leaveCheckpoint(oldID)
    let next = writer.withLock { $0.nextSequence }
    try catalog.commit(.clean(checkpoint: checkpointID, nextSequence: next))
    for path in dropped { catalog.removeFile(path) }
    if oldID != 0, oldID != checkpointID { catalog.removeFile("\(env.path)/\(FileName.checkpoint(oldID))") }
  }

  /// Writes a checkpoint if one is needed; returns the id of the one to begin with, or 0 for none.
  private func leaveCheckpoint(_ present: UInt64) throws(StoreError) -> UInt64 {
    switch maintainer.closingCheckpoint {
    case .none: return 0
    case .present: return present
    case .new:
      let id = catalog.manifest.nextCheckpointID
      do throws(StoreError) { return try maintainer.writeCheckpoint(id: id) == nil ? 0 : id } catch {
        // Without room for a checkpoint, the next opening reads the segments.
        guard case .noSpace = error else { throw error }
        return 0
      }
    }
  }
}
