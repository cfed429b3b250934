internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

/// The outcome of a write under the writer's lock.
enum WriteAttempt<R> {
  case done(R)
  /// The tail has no room for that many bytes of records: room must be made, without the lock.
  case lacksSpace(Int)
}

/// What room is made for.
enum SpaceUse {
  case write
  /// A record that frees space: on a full volume, it may use the space reserved for that.
  case removal
}

// The slow path of a write: finding room for a record, and starting segments. Files are created, grown and listed under
// `rolling`, never under the writer's lock, so that others can go on writing. The tail changes under both.

extension Writer {
  /// How many bytes ahead of the writer pages are prefaulted for writers that do not sync, and in what steps.
  static let bufferedAhead = 8 << 20
  static let bufferedStep = 256 << 10
  /// How many bytes of a spare segment are prefaulted.
  static let bufferedFirst = 8 << 20
  /// The same for writers that sync: prefaulted pages are dirty, so the next sync writes them.
  static let syncedAhead = 1 << 20
  static let syncedStep = 256 << 10

  /// How many bytes of a segment are allocated at once at most.
  var reservedAtOnce: Int { min(catalog.usualSegmentSize, 32 << 20) }

  /// How often a write may find that others have taken the room made for it before it keeps them out.
  private static let openRounds = 3

  /// Runs a write that takes the writer's lock; if it finds no room, makes some and runs it again.
  ///
  /// - Parameter attempt: The write. It must change nothing before it has found room. `isAlone` says whether others are kept
  ///   out, for ``hasRoom(for:isAlone:_:)``.
  func writing<R>(
    _ use: SpaceUse = .write,
    _ attempt: (_ isAlone: Bool) throws(StoreError) -> WriteAttempt<R>
  ) throws(StoreError) -> R {
    switch try attempt(false) {
    case .done(let result): return result
    case .lacksSpace(let size): return try writeWithRoom(for: size, use, attempt)
    }
  }

  /// Makes room for a write that found none, and retries it.
  ///
  /// Refuses one of more than half of the capacity, beside which nothing else would fit: whether it is written must not depend on how
  /// full the store happens to be.
  @inline(never)
  func writeWithRoom<R>(
    for lacking: Int,
    _ use: SpaceUse,
    _ attempt: (_ isAlone: Bool) throws(StoreError) -> WriteAttempt<R>
  ) throws(StoreError) -> R {
    if lacking > mostBytes, let capacity = env.settings.capacity {
      throw .capacityReached(path: env.path, capacity: capacity, needed: lacking)
    }
    var size = lacking
    for _ in 0..<Self.openRounds {
      try rolling.withLock { () throws(StoreError) in try makeRoom(for: size, use) }
      switch try attempt(false) {
      case .done(let result): return result
      case .lacksSpace(let more): size = more
      }
    }
    return try rolling.withLock { () throws(StoreError) -> R in
      // Smaller records took the room each time.
      withLock { $0.keepOthersOut(true) }
      defer { withLock { $0.keepOthersOut(false) } }
      while true {
        try makeRoom(for: size, use)
        switch try attempt(true) {
        case .done(let result): return result
        case .lacksSpace(let more): size = more
        }
      }
    }
  }

  /// Opens the next part of the tail, if it is allocated, and wakes the background threads that prepare what follows.
  @inline(never)
  func goOn(for size: Int, _ isAlone: Bool, _ state: inout WriterState) -> Bool {
    guard size <= mostBytes, state.isMarkedOpen, isAlone || !state.keepsOthersOut, let tail = state.tail else {
      return false
    }
    // Acquiring: what is accessible was mapped before.
    let end = min(tail.accessible.load(ordering: .acquiring), state.tailEnd) - tailReserve
    guard state.offset + size <= end else { return false }
    tail.reached.store(state.offset, ordering: .relaxed)
    env.workers.merger.request(.merge)
    env.workers.ahead.request(
      state.offset > state.tailEnd / 2 && lacksSpares(state)
        ? [.growTail, .growIndex, .prepareSegment] : [.growTail, .growIndex]
    )
    // Return here after one step, so that the background threads learn how far the writer is.
    let step = min(commits.hasDemand ? Self.syncedStep / 2 : 1 << 20, mostBytes)
    state.open(to: min(end, max(state.offset + size, state.offset + step)))
    oweDelay()
    if state.passedCheckpoint(every: checkpointInterval) { env.workers.maintainer.request(.checkpoint) }
    return true
  }

  // MARK: Making room. `rolling` is held.

  /// Makes `size` bytes of room in the tail, which others may still take.
  private func makeRoom(for size: Int, _ use: SpaceUse) throws(StoreError) {
    do throws(StoreError) { try makeRoom(for: size) } catch {
      guard case .removal = use, error.bytesLacking != nil, catalog.reserve.release() else { throw error }
      try makeRoom(for: size)
    }
  }

  private func makeRoom(for size: Int) throws(StoreError) {
    try env.checkWritable()
    if withLock({ !$0.isMarkedOpen || $0.tail == nil }) { try begin(for: size) }
    // The tail of a clean close may have been ended.
    if withLock({ $0.tail == nil }) { try begin(for: size) }
    let step = env.settings.capacity == nil ? catalog.usualSegmentSize : .max
    if withLock({ $0.mustEndTail(before: $0.offset + size + tailReserve, step: step) }) { try rotate(for: size) }
    let (tail, needed) = withLock { ($0.tail, $0.offset + size + tailReserve) }
    guard let tail, needed <= tail.capacity else { return }
    do throws(PlatformError) { try grow(tail, to: needed) } catch {
      // The exact size may fit where the rounded one does not.
      guard error.isFull else { throw StoreError(error, needed: needed) }
      do throws(PlatformError) { try tail.grow(to: needed, in: catalog.granules) } catch {
        throw StoreError(error, needed: size)
      }
    }
  }

  /// Gives the store a tail and marks it as being written, before its first write since it was opened. No other thread can write
  /// meanwhile. The tail of a clean close goes on, unless it is too large for the store's capacity: then there is none.
  private func begin(for size: Int) throws(StoreError) {
    if let tail = withLock({ $0.tail }) {
      // Continue the tail of a clean close. A file that was truncated right behind its records has no room for the seal.
      // Without room for a mark, there is none for a record either, so neither will be written.
      let end = min(tail.capacity, withLock { $0.offset } + tailReserve)
      do throws(PlatformError) { try grow(tail, to: end) } catch {
        throw StoreError(error, needed: tailReserve)
      }
      try markOpen(reopening: tail)
      // Made before the store had a capacity, it would grow beyond that, and counts as if it had.
      if env.settings.capacity != nil, tail.capacity > catalog.usualSegmentSize,
        withLock({ $0.offset > SegmentHeader.length })
      {
        sealTail()
      }
      return
    }
    // Listed, with its first sequence number, by the edit that marks the store.
    let next = withLock { $0.nextSequence }
    let segment: Segment
    if let spare = try takeSpare(for: size) {
      segment = spare
    } else {
      segment = try catalog.createSegment(for: size, firstSequence: next)
    }
    segment.change { $0.begin(with: next) }
    do throws(StoreError) { try markOpen() } catch {
      leaveUnused(segment)
      throw error
    }
    withLock { setTail(segment, offset: SegmentHeader.length, &$0) }
  }

  /// Records in the manifest that the store is being written, and the next sequence number.
  ///
  /// The tail is reopened after that, since another edit may come first: as long as the manifest calls the store closed, the
  /// tail's row must say where it ends.
  private func markOpen(reopening tail: Segment? = nil) throws(StoreError) {
    let next = withLock { $0.nextSequence }
    try catalog.commit(.beginWriting(nextSequence: next))
    if let tail {
      tail.change { $0.reopen() }
      catalog.granules.updateLimit(tail)
    }
    lookForReaders()
    withLock { $0.noteMarkedOpen() }
    env.workers.ahead.request(.migrateIndex)
    env.workers.maintainer.request(keydir.needsPurge ? [.seal, .purge] : .seal)
    catalog.removeDiscarded()
  }

  /// Seals the tail and continues in the next segment. Others may write until then.
  func rotate(for size: Int) throws(StoreError) {
    if env.settings.capacity != nil {
      catalog.usualRecordSize.store(withLock { $0.takeMeanSize() }, ordering: .relaxed)
    }
    let next: Segment
    if let spare = try takeSpare(for: size) {
      next = spare
    } else {
      next = try catalog.createListedSegment(for: size, firstSequence: 0)
    }
    let unused = withLock { state -> Segment? in
      let old = state.tail
      var unused: Segment?
      if state.offset == SegmentHeader.length {
        // An empty tail: the record is too large for a segment of the usual size.
        unused = old
        if let old { forgetUnused(old) }
      } else if let old {
        seal(old, &state)
      }
      setTail(next, offset: SegmentHeader.length, &state)
      return unused
    }
    if let unused { keepIfListed(unused) }
    lookForReaders()
    env.workers.maintainer.request(.seal)
    if env.settings.capacity != nil {
      env.workers.merger.request(.merge)
      if withLock({ lacksSpares($0) }) { env.workers.ahead.request(.prepareSegment) }
    }
    if catalog.isCrowdedUnsealed { owe() }
  }

  // MARK: For other parts of the engine

  /// Makes sure that the manifest says that the store is being written.
  func open() throws(StoreError) {
    try rolling.withLock { () throws(StoreError) in
      try env.checkWritable()
      guard withLock({ !$0.isMarkedOpen }) else { return }
      // An existing tail is continued; otherwise none is needed.
      if withLock({ $0.tail == nil }) { try markOpen() } else { try begin(for: 0) }
    }
  }

  /// Seals the tail if it has any records, so that it can be merged.
  func endTail() throws(StoreError) {
    try rolling.withLock { () throws(StoreError) in
      try env.checkWritable()
      guard withLock({ $0.tail != nil && $0.offset > SegmentHeader.length }) else { return }
      if withLock({ !$0.isMarkedOpen }) { try begin(for: 0) }
      // Within a capacity there may be no room for another, which nobody needs yet.
      if env.settings.capacity == nil { try rotate(for: 0) } else { sealTail() }
    }
  }

  /// Waits for threads that are making room. The store is marked closed, so no other thread begins to.
  func awaitRoom() { rolling.withLock {} }

  /// Seals the tail; the next write starts another.
  func sealTail() {
    withLock { state in
      guard let tail = state.tail else { return }
      seal(tail, &state)
      state.leaveTail()
    }
    env.workers.maintainer.request(.seal)
  }

  // MARK: The tail

  /// Writes the seal after the last record of a segment.
  private func seal(_ segment: Segment, _ state: inout WriterState) {
    freeze(&state)
    let last = state.nextSequence &- 1
    let header = RecordHeader(sequence: last, kind: .seal, keyHash: 0, keyLength: 0, valueLength: 0)
    // Safety: `begin` and `hasRoom` leave `Segment.tailReserve` bytes accessible behind the last record, and the seal takes less.
    // Nothing is read from an empty buffer.
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
    let end = state.offset
    segment.change { $0.seal(at: end, last: last) }
    catalog.granules.updateLimit(segment)
  }

  /// Makes a segment that the manifest lists the tail.
  func setTail(_ segment: Segment, offset: Int, _ state: inout WriterState) {
    state.setTail(segment, offset: offset)
    let next = state.nextSequence
    segment.change { facts in if facts.firstSequence == 0 { facts.begin(with: next) } }
    commits.add(segment)
  }

  /// Makes at least the first `length` bytes of a segment accessible, and allocates ahead.
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

  /// How many bytes of a segment to allocate when `needed` bytes are wanted: twice as many, so that a store of ten keys takes
  /// kilobytes and a large one is rarely extended.
  private func reservation(for needed: Int, of segment: Segment) -> Int {
    let step = 64 << 10
    let most = reservedAtOnce
    let wanted = needed >= most / 2 ? (needed + most - 1) / most * most : max(step, needed * 2)
    return max(needed, min(segment.capacity, (wanted + step - 1) / step * step))
  }

  /// Bytes of records after which a checkpoint is due. Bounds what must be replayed after a crash; a checkpoint costs at most a
  /// 32nd of what is logged.
  private var checkpointInterval: Int {
    max(256 << 20, (keydir.count * 14 + keydir.savedOrderBytes) * 32)
  }
}
