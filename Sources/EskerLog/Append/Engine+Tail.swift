internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// The slow path of a write: finding room for a record, and starting segments. Everything here runs under the writer's lock.

extension Engine {
  /// Bytes kept free behind the last record: the seal, and the zero word that ends the log.
  static let tailReserve = 40

  /// How far ahead of the tail pages are brought in for writers that do not sync, and in what steps.
  static let bufferedAhead = 8 << 20
  static let bufferedStep = 256 << 10
  /// How much of a segment that will be the next tail.
  static let bufferedFirst = 8 << 20
  /// The same for writers that sync: pages brought in are dirty, so the next sync pays for them.
  static let syncedAhead = 1 << 20
  static let syncedStep = 256 << 10

  /// Throws unless the store takes writes.
  func checkWritable() throws(StoreError) {
    let flags = status.load(ordering: .acquiring)
    guard flags != 0 else { return }
    if flags & Status.closed != 0 { throw .closed }
    if flags & Status.readOnly != 0 { throw .readOnly }
    throw .syncFailed(errno: commits.failureCode ?? PlatformError.inputOutput)
  }

  /// As `prepareWrite(of:)`, for a record that frees space: on a full volume, what was set aside for it is used.
  func prepareRemoval(of size: Int, _ state: inout WriterState) throws(StoreError) {
    do throws(StoreError) { try prepareWrite(of: size, &state) } catch {
      guard error.bytesLacking != nil, reserve.release() else { throw error }
      try prepareWrite(of: size, &state)
    }
  }

  /// Bytes that are set aside for removals and merges: at least what a new segment takes, and as much again.
  var reserveLength: Int {
    let records = segments.withLock { list in list.reduce(0) { $0 + $1.recordsEnd.load(ordering: .relaxed) } }
    let length = max(128 << 10, min(usualSegmentSize / 8, records / 16))
    return min(length, (options.capacity ?? .max) / 64)
  }

  /// Makes sure that the store takes writes and that `size` bytes can be written at the tail.
  @inline(__always)
  func prepareWrite(of size: Int, _ state: inout WriterState) throws(StoreError) {
    if status.load(ordering: .relaxed) != 0 { try checkWritable() }
    if state.offset &+ size > state.fastEnd { try makeRoom(for: size, &state) }
  }

  @inline(never)
  func makeRoom(for size: Int, _ state: inout WriterState) throws(StoreError) {
    if !state.isMarkedOpen || state.tail == nil { try begin(for: size, &state) }
    guard let tail = state.tail else { return }
    if state.offset + size + Self.tailReserve > tail.capacity {
      try rotate(for: size, &state)
    }
    try reserve(size, &state)
  }

  /// Gives the store a tail and marks it as being written, before its first write since it was opened.
  private func begin(for size: Int, _ state: inout WriterState) throws(StoreError) {
    if let tail = state.tail {
      // The tail of a clean close goes on.
      let end = tail.recordsEnd.exchange(0, ordering: .acquiringAndReleasing)
      granules.updateLimit(tail)
      do throws(StoreError) { return try markOpen(&state) } catch {
        // Its row says where it ends as long as the store counts as closed.
        tail.recordsEnd.store(end, ordering: .releasing)
        granules.updateLimit(tail)
        throw error
      }
    }
    // Listed by the edit that marks the store; one that is listed already has its first number there then.
    let segment =
      try state.spares.isEmpty
      ? createSegment(for: size, firstSequence: state.nextSequence) : nextTail(for: size, &state)
    setTail(segment, offset: SegmentHeader.length, &state)
    do throws(StoreError) { try markOpen(&state) } catch {
      state.tail = nil
      state.fastEnd = 0
      leaveUnused(segment, &state)
      throw error
    }
  }

  /// Says in the manifest that the store is being changed, and what number comes next.
  func markOpen(_ state: inout WriterState) throws(StoreError) {
    try editManifest(.beginWriting(nextSequence: state.nextSequence))
    state.isMarkedOpen = true
    background.request(.migrateIndex)
    keeper.request(needsSweep.load(ordering: .relaxed) ? [.seal, .sweep] : .seal)
    try removeDiscarded()
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
    keeper.request(.seal)
    if isCrowdedUnsealed { owedDelay.max(1, ordering: .relaxed) }
  }

  /// Ends the tail; the next write starts another.
  func sealTail(_ state: inout WriterState) {
    guard let tail = state.tail else { return }
    seal(tail, &state)
    state.tail = nil
    state.fastEnd = 0
    keeper.request(.seal)
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
    granules.updateLimit(segment)
  }

  func setTail(_ segment: Segment, offset: Int, _ state: inout WriterState) {
    state.tail = segment
    unsafe state.base = segment.base
    state.salt = segment.salt
    state.startUnits = segment.startUnits
    state.offset = offset
    state.fastEnd = 0
    state.faultFlag = segment.mapping.faultFlag
    if segment.firstSequence.load(ordering: .relaxed) == 0 {
      segment.firstSequence.store(state.nextSequence, ordering: .relaxed)
    }
    commits.add(segment)
  }

  /// Allocates what the next `size` bytes need, and asks the background to go ahead of the tail.
  private func reserve(_ size: Int, _ state: inout WriterState) throws(StoreError) {
    guard let tail = state.tail else { return }
    let needed = state.offset + size + Self.tailReserve
    if needed > tail.accessible.load(ordering: .acquiring) {
      do throws(PlatformError) {
        try grow(tail, to: needed)
      } catch {
        // The generous step may not fit where the record itself does.
        guard error.isFull else { throw StoreError(error, needed: needed) }
        do throws(PlatformError) { try tail.grow(to: needed, in: granules) } catch {
          throw StoreError(error, needed: size)
        }
      }
    }
    tail.reached.store(state.offset, ordering: .relaxed)
    merger.request()
    background.request(
      state.offset > tail.capacity / 2 && state.spares.isEmpty
        ? [.growTail, .growIndex, .prepareSegment] : [.growTail, .growIndex]
    )
    // Come back after a step, so that the background hears how far the tail is.
    let step = isSyncing ? Self.syncedStep / 2 : 1 << 20
    state.fastEnd = min(
      tail.accessible.load(ordering: .acquiring) - Self.tailReserve,
      tail.capacity - Self.tailReserve,
      max(state.offset + size, state.offset + step)
    )
    let delay = writeDelay.load(ordering: .relaxed)
    if delay != 0 { owedDelay.store(delay / (isSyncing ? 8 : 1), ordering: .relaxed) }
    checkpointIfDue(&state)
  }

  /// Makes at least the first `length` bytes of a segment accessible, and allocates more.
  func grow(_ segment: Segment, to length: Int) throws(PlatformError) {
    guard length > segment.accessible.load(ordering: .acquiring) else { return }
    let reservation = reservation(for: length, of: segment)
    if isSyncing {
      try segment.grow(to: reservation, in: granules)
    } else {
      let step = 64 << 10
      let end = min(reservation, (length + step - 1) / step * step)
      try segment.grow(to: end, reserving: reservation, zeroing: true, in: granules)
    }
  }

  /// How much of a segment to allocate when `needed` bytes are wanted: twice as much, so that a store of ten keys takes
  /// kilobytes and a large one is extended rarely.
  func reservation(for needed: Int, of segment: Segment) -> Int {
    let step = 64 << 10
    let wanted = needed >= 16 << 20 ? segment.capacity : max(step, needed * 2)
    return max(needed, min(segment.capacity, (wanted + step - 1) / step * step))
  }

  /// Creates a segment file that is durable, header and name, but not listed yet.
  ///
  /// - Parameter isRecovery: What a crash left must be saved first: the store may exceed its capacity until it is written to.
  func createSegment(
    for size: Int,
    firstSequence: UInt64,
    isRecovery: Bool = false
  ) throws(StoreError) -> Segment {
    let needed = SegmentHeader.length + size + Self.tailReserve
    let capacity = max(usualSegmentSize, (needed + 4095) & ~4095)
    if let limit = options.capacity, !isRecovery, !hasRoom(forSegment: capacity) {
      throw .capacityReached(path: path, capacity: limit, needed: needed)
    }
    guard let lease = addresses.take(GranuleTable.granules(for: capacity)) else {
      throw .noSpace(path: path, needed: needed)
    }
    let id = takeSegmentID()
    let segmentPath = "\(path)/\(FileName.segment(id))"
    do throws(PlatformError) {
      return try createSegmentFile(segmentPath, id, capacity, lease, needed, firstSequence)
    } catch {
      commits.noteFailure(error)
      throw StoreError(error, needed: needed)
    }
  }

  private func createSegmentFile(
    _ segmentPath: String,
    _ id: UInt64,
    _ capacity: Int,
    _ lease: AddressSpace.Lease,
    _ needed: Int,
    _ firstSequence: UInt64
  ) throws(PlatformError) -> Segment {
    let file = try platform.fileSystem.open(segmentPath, .create)
    do throws(PlatformError) {
      return try makeSegment(in: file, segmentPath, id, capacity, lease, needed, firstSequence)
    } catch {
      file.close()
      // Best effort: what stays behind is not listed, and the next opening removes it.
      try? platform.fileSystem.remove(segmentPath)
      throw error
    }
  }

  private func makeSegment(
    in file: any File,
    _ segmentPath: String,
    _ id: UInt64,
    _ capacity: Int,
    _ lease: AddressSpace.Lease,
    _ needed: Int,
    _ firstSequence: UInt64
  ) throws(PlatformError) -> Segment {
    let salt = UInt32(truncatingIfNeeded: platform.random())
    let first = max(needed, min(capacity, 64 << 10))
    try file.reserve(first)
    let header = SegmentHeader(
      storeID: storeID,
      seed: seed,
      segmentID: id,
      salt: salt,
      kind: .log,
      creationTime: time.now,
      plannedCapacity: UInt64(capacity)
    )
    let bytes = header.encoded()
    try file.writeAll(bytes, at: 0)
    try file.sync()
    try platform.fileSystem.syncDirectory(path)
    let mapping = try file.map(capacity: capacity, writable: true)
    try mapping.extend(to: first)
    let segment = Segment(
      id: id,
      kind: .log,
      salt: salt,
      path: segmentPath,
      file: file,
      mapping: mapping,
      capacity: capacity,
      lease: lease,
      created: header.creationTime
    )
    segment.firstSequence.store(firstSequence, ordering: .relaxed)
    segment.durableLength.store(first, ordering: .relaxed)
    bytesWritten.wrappingAdd(bytes.count, ordering: .relaxed)
    granules.install(segment)
    segments.withLock { $0.append(segment) }
    return segment
  }

  /// Bytes a new segment may grow to: an eighth of the store, within limits, so that merging a store of a few segments does
  /// not take as much room again.
  var usualSegmentSize: Int {
    if let capacity = options.capacity { return segmentSize(of: capacity) }
    let least = 32 << 20
    guard options.segmentSize > least else { return options.segmentSize }
    let total = segments.withLock { list in list.reduce(0) { $0 + $1.recordsEnd.load(ordering: .relaxed) } }
    return min(options.segmentSize, max(least, total / 8 / least * least))
  }

  /// A number for a new segment's file.
  func takeSegmentID() -> UInt64 {
    manifests.withLock { state in
      defer { state.nextSegmentID += 1 }
      return state.nextSegmentID
    }
  }
}
