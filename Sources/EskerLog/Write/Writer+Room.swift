internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// The slow path of a write: finding room for a record, and starting segments. Everything here runs under the writer's lock.

extension Writer {
  /// How far ahead of the tail pages are brought in for writers that do not sync, and in what steps.
  static let bufferedAhead = 8 << 20
  static let bufferedStep = 256 << 10
  /// How much of a segment that will be the next tail.
  static let bufferedFirst = 8 << 20
  /// The same for writers that sync: pages brought in are dirty, so the next sync pays for them.
  static let syncedAhead = 1 << 20
  static let syncedStep = 256 << 10

  /// As `prepareWrite(of:)`, for a record that frees space: on a full volume, what was set aside for it is used.
  func prepareRemoval(of size: Int, _ state: inout WriterState) throws(StoreError) {
    do throws(StoreError) { try prepareWrite(of: size, &state) } catch {
      guard error.bytesLacking != nil, catalog.reserve.release() else { throw error }
      try prepareWrite(of: size, &state)
    }
  }

  /// Makes sure that the store takes writes and that `size` bytes can be written at the tail.
  @inline(__always)
  func prepareWrite(of size: Int, _ state: inout WriterState) throws(StoreError) {
    if !env.isUnhindered { try env.checkWritable() }
    if state.offset &+ size > state.fastEnd { try makeRoom(for: size, &state) }
  }

  @inline(never)
  func makeRoom(for size: Int, _ state: inout WriterState) throws(StoreError) {
    if !state.isMarkedOpen || state.tail == nil { try begin(for: size, &state) }
    guard let tail = state.tail else { return }
    if state.offset + size + Segment.tailReserve > tail.capacity {
      try rotate(for: size, &state)
    }
    try reserve(size, &state)
  }

  /// Gives the store a tail and marks it as being written, before its first write since it was opened.
  private func begin(for size: Int, _ state: inout WriterState) throws(StoreError) {
    if let tail = state.tail {
      // The tail of a clean close goes on.
      let end = tail.recordsEnd.exchange(0, ordering: .acquiringAndReleasing)
      catalog.granules.updateLimit(tail)
      do throws(StoreError) { return try markOpen(&state) } catch {
        // Its row says where it ends as long as the store counts as closed.
        tail.recordsEnd.store(end, ordering: .releasing)
        catalog.granules.updateLimit(tail)
        throw error
      }
    }
    // Listed by the edit that marks the store; one that is listed already has its first number there then.
    let segment =
      try state.spares.isEmpty
      ? catalog.createSegment(for: size, firstSequence: state.nextSequence) : nextTail(for: size, &state)
    setTail(segment, offset: SegmentHeader.length, &state)
    do throws(StoreError) { try markOpen(&state) } catch {
      state.leaveTail()
      leaveUnused(segment, &state)
      throw error
    }
  }

  /// Says in the manifest that the store is being changed, and what number comes next.
  func markOpen(_ state: inout WriterState) throws(StoreError) {
    try catalog.commit(.beginWriting(nextSequence: state.nextSequence))
    state.noteMarkedOpen()
    env.workers.ahead.request(.migrateIndex)
    env.workers.keeper.request(keydir.needsSweep ? [.seal, .sweep] : .seal)
    catalog.removeDiscarded()
  }

  /// Ends the tail and goes on in the next segment.
  func rotate(for size: Int, _ state: inout WriterState) throws(StoreError) {
    guard let old = state.tail else { return }
    let next = try nextTail(for: size, &state)
    if state.offset == SegmentHeader.length {
      // Nothing was ever written there: the record is too large for a segment of the usual size.
      leaveUnused(old, &state)
    } else {
      seal(old, &state)
    }
    setTail(next, offset: SegmentHeader.length, &state)
    env.workers.keeper.request(.seal)
    if catalog.isCrowdedUnsealed { owe() }
  }

  /// Ends the tail; the next write starts another.
  func sealTail(_ state: inout WriterState) {
    guard let tail = state.tail else { return }
    seal(tail, &state)
    state.leaveTail()
    env.workers.keeper.request(.seal)
  }

  /// Writes the seal behind the last record of a segment that takes no more.
  private func seal(_ segment: Segment, _ state: inout WriterState) {
    let last = state.nextSequence &- 1
    segment.lastSequence.store(last, ordering: .relaxed)
    let header = RecordHeader(sequence: last, kind: .seal, keyHash: 0, keyLength: 0, valueLength: 0)
    let empty = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    let place = unsafe state.base + state.offset
    let firstWord = unsafe RecordEncoder.write(
      header,
      key: empty,
      value: empty,
      bodyChecksum: RecordEncoder.bodyChecksum(key: empty, value: empty),
      salt: state.salt,
      offsetUnits: UInt32(truncatingIfNeeded: state.offset >> 3),
      to: place
    )
    onPublish?()
    unsafe RecordEncoder.publish(firstWord, at: place)
    segment.recordsEnd.store(state.offset, ordering: .releasing)
    segment.isSealed.store(true, ordering: .releasing)
    catalog.granules.updateLimit(segment)
  }

  func setTail(_ segment: Segment, offset: Int, _ state: inout WriterState) {
    state.setTail(segment, offset: offset)
    if segment.firstSequence.load(ordering: .relaxed) == 0 {
      segment.firstSequence.store(state.nextSequence, ordering: .relaxed)
    }
    commits.add(segment)
  }

  /// Allocates what the next `size` bytes need, and asks the background to go ahead of the tail.
  private func reserve(_ size: Int, _ state: inout WriterState) throws(StoreError) {
    guard let tail = state.tail else { return }
    let needed = state.offset + size + Segment.tailReserve
    if needed > tail.accessible.load(ordering: .acquiring) {
      do throws(PlatformError) {
        try grow(tail, to: needed)
      } catch {
        // The generous step may not fit where the record itself does.
        guard error.isFull else { throw StoreError(error, needed: needed) }
        do throws(PlatformError) { try tail.grow(to: needed, in: catalog.granules) } catch {
          throw StoreError(error, needed: size)
        }
      }
    }
    tail.reached.store(state.offset, ordering: .relaxed)
    env.workers.merger.request(.merge)
    env.workers.ahead.request(
      state.offset > tail.capacity / 2 && state.spares.isEmpty
        ? [.growTail, .growIndex, .prepareSegment] : [.growTail, .growIndex]
    )
    // Come back after a step, so that the background hears how far the tail is.
    let step = commits.hasDemand ? Self.syncedStep / 2 : 1 << 20
    state.open(
      to: min(
        tail.accessible.load(ordering: .acquiring) - Segment.tailReserve,
        tail.capacity - Segment.tailReserve,
        max(state.offset + size, state.offset + step)
      )
    )
    oweDelay()
    if state.passedCheckpoint(every: checkpointInterval) { env.workers.keeper.request(.checkpoint) }
  }

  /// Makes at least the first `length` bytes of a segment accessible, and allocates more.
  func grow(_ segment: Segment, to length: Int) throws(PlatformError) {
    guard length > segment.accessible.load(ordering: .acquiring) else { return }
    let reservation = reservation(for: length, of: segment)
    if commits.hasDemand {
      try segment.grow(to: reservation, in: catalog.granules)
    } else {
      let step = 64 << 10
      let end = min(reservation, (length + step - 1) / step * step)
      try segment.grow(to: end, reserving: reservation, zeroing: true, in: catalog.granules)
    }
  }

  /// How much of a segment to allocate when `needed` bytes are wanted: twice as much, so that a store of ten keys takes
  /// kilobytes and a large one is extended rarely.
  func reservation(for needed: Int, of segment: Segment) -> Int {
    let step = 64 << 10
    let wanted = needed >= 16 << 20 ? segment.capacity : max(step, needed * 2)
    return max(needed, min(segment.capacity, (wanted + step - 1) / step * step))
  }

  /// Bytes of records after which a checkpoint is due: it bounds what a crash makes the next opening read again, and costs
  /// at most a 32nd of what is logged.
  private var checkpointInterval: Int {
    max(256 << 20, keydir.count * 14 * 32)
  }

  /// Says in the manifest that the store is being changed.
  func markOpen() throws(StoreError) {
    try withLock { (state) throws(StoreError) in
      try env.checkWritable()
      guard !state.isMarkedOpen else { return }
      // A tail goes on where it ended; without one, none is needed.
      if state.tail == nil { try markOpen(&state) } else { try makeRoom(for: 0, &state) }
    }
  }

  /// Ends the tail if it holds anything, so that it can be sealed.
  func endTail() throws(StoreError) {
    try withLock { (state) throws(StoreError) in
      try env.checkWritable()
      guard state.tail != nil, state.offset > SegmentHeader.length else { return }
      if !state.isMarkedOpen { try makeRoom(for: 0, &state) }
      if catalog.hasRoom(forSegment: catalog.usualSegmentSize) { try rotate(for: 0, &state) } else { sealTail(&state) }
    }
  }
}
