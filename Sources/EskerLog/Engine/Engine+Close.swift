internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

extension Engine {
  /// Syncs, writes a checkpoint, says in the manifest that nothing is in flight, and gives everything back.
  @usableFromInline
  func close() throws(StoreError) {
    defer { events.deliver() }
    try closeOnce()
  }

  private func closeOnce() throws(StoreError) {
    closing.lock()
    defer { closing.unlock() }
    let waitingFailure = closeAhead()
    let before = status.bitwiseOr(Status.closed, ordering: .sequentiallyConsistent).oldValue
    guard before & Status.closed == 0 else { return }
    // Whatever came ahead meanwhile finds the store closed, and says so.
    let lateFailure = closeAhead()
    // Let go of outside its lock: what is kept may call the store as it goes.
    _ = kept.withLock { $0.take() }
    stopPublishing()
    // The workers end before `opening` is taken: a job under way may be waiting for it.
    committer.stop()
    background.stop()
    keeper.stop()
    merger.stop()
    // A merge on demand ends soon: it asks.
    merging.lock()
    defer { merging.unlock() }
    opening.lock()
    defer { opening.unlock() }
    // Whoever was writing has the lock; from here on nobody gets past `checkWritable`.
    let isChanged = writer.withLock { $0.isMarkedOpen || $0.isReaped } || !discarded.isEmpty
    var failure: StoreError?
    if before & Status.syncFailed != 0 {
      // What was only buffered may be lost in a power cut, and who closes the store counts on the opposite.
      failure = .syncFailed(errno: commits.failureCode ?? PlatformError.inputOutput)
    }
    var isClean = false
    if before == 0, isChanged || manifests.withLock({ $0.manifest.state == .open }) {
      do throws(StoreError) {
        try leaveClean()
        isClean = true
      } catch {
        failure = error
      }
    } else if before == 0 {
      keepTime()
    }
    committer.finish()
    release(givingBackUnused: isClean)
    emit(.closed)
    if let failure = failure ?? waitingFailure ?? lateFailure { throw failure }
  }

  /// Keeps the time that a session without writes has seen, so that what it saw expire stays so.
  private func keepTime() {
    let isBehind = manifests.withLock { $0.manifest.storeTime < time.now }
    guard isBehind else { return }
    do throws(StoreError) { try editManifest(.listed) } catch {
      emit(.backgroundFailure(operation: "save the store time", error))
    }
  }

  /// Leaves a store whose next opening has nothing to do. Nobody writes any more.
  private func leaveClean() throws(StoreError) {
    try commits.waitDurable(publishedSequence)
    sealFinished()
    var dropped = discarded
    writer.withLock { state in
      if let tail = state.tail {
        tail.recordsEnd.store(state.offset, ordering: .releasing)
        tail.lastSequence.store(publishedSequence, ordering: .relaxed)
      }
    }
    let tail = writer.withLock { $0.tail }
    // Everything is durable now, so whatever has an end may be called sealed; segments without a record go.
    let unused = segments.withLock { list -> [Segment] in
      for segment in list where segment.isSealed.load(ordering: .relaxed) {
        segment.isSettled.store(true, ordering: .relaxed)
      }
      func isUsed(_ segment: Segment) -> Bool {
        let isUnusedTail = segment === tail && segment.recordsEnd.load(ordering: .relaxed) <= SegmentHeader.length
        return segment.firstSequence.load(ordering: .relaxed) != 0 && !isUnusedTail
      }
      defer { list.removeAll { !isUsed($0) } }
      return list.filter { !isUsed($0) }
    }
    dropped += unused.map(\.path)
    for segment in unused { uninstall(segment) }
    let (checkpointID, oldID) = manifests.withLock { ($0.manifest.nextCheckpointID, $0.manifest.checkpointID) }
    let isWritten: Bool
    do throws(StoreError) {
      isWritten = isCheckpointWorthwhile ? try writeCheckpoint(id: checkpointID) != nil : false
    } catch {
      // Without room for a checkpoint the next opening reads the segments.
      guard case .noSpace = error else { throw error }
      isWritten = false
    }
    let next = writer.withLock { $0.nextSequence }
    try editManifest(.clean(checkpoint: isWritten ? checkpointID : 0, nextSequence: next))
    for path in dropped { try? platform.fileSystem.remove(path) }
    if oldID != 0 { try? platform.fileSystem.remove("\(path)/\(FileName.checkpoint(oldID))") }
  }
}

extension Engine {
  /// The index does not shrink, so that of a store that was nearly emptied is larger than all its records: these are faster
  /// to read then, and take less space.
  private var isCheckpointWorthwhile: Bool {
    let records = segments.withLock { list in list.reduce(0) { $0 + $1.recordsEnd.load(ordering: .relaxed) } }
    let length = index.bucketCount * CheckpointHeader.lineSize
    return length <= max(1 << 20, records) && hasRoom(for: length + length / 8)
  }
}

extension Segment {
  /// Bytes of the file that mean something, and the page of the word behind them: a reader in another process looks there to
  /// see whether the log goes on.
  var usedLength: Int {
    let footer = footer.withLock { $0 }
    let end = recordsEnd.load(ordering: .relaxed)
    let used = max(footer.offset + footer.length, end + Engine.tailReserve)
    return (used + 4095) & ~4095
  }
}
