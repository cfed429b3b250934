internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// Empty segments: they are created ahead of need, then become the tail or are removed. At any time each is on the list, either
// as the tail or as a spare, or removed; and no record is written to one that the manifest does not list.

extension Writer {
  /// Takes a spare with room for a record of `size` bytes. In a store with a capacity it takes room from now on.
  func takeSpare(for size: Int) throws(StoreError) -> Segment? {
    guard let spare = withLock({ $0.takeSpare(for: SegmentHeader.length + size + tailReserve) }) else { return nil }
    guard let capacity = env.settings.capacity, !catalog.hasRoom(forSegment: spare.capacity) else { return spare }
    withLock { $0.addSpares([spare]) }
    throw .capacityReached(path: env.path, capacity: capacity, needed: size)
  }

  /// The capacity in bytes of the segment that a record of `size` bytes would begin.
  func nextSegmentCapacity(for size: Int) -> Int {
    withLock { $0.spare(for: SegmentHeader.length + size + tailReserve)?.capacity }
      ?? catalog.segmentCapacity(for: size)
  }

  /// Handles an empty segment that does not become the tail after all.
  func leaveUnused(_ segment: Segment) {
    forgetUnused(segment)
    keepIfListed(segment)
  }

  /// Clears the sequence number of an empty segment, and stops syncs from waiting for its seal.
  func forgetUnused(_ segment: Segment) {
    commits.forget(segment)
    segment.change { $0.begin(with: 0) }
  }

  /// Makes an empty segment a spare if the manifest may list it, and removes it otherwise.
  func keepIfListed(_ segment: Segment) {
    let kept = catalog.giveUpUnlisted([segment])
    withLock { $0.addSpares(kept) }
  }

  /// Prepares a segment for when the tail is full: created, synced, named and listed.
  func prepareSegment() {
    if let capacity = env.settings.capacity { return prepareSpares(in: capacity) }
    guard withLock({ $0.spares.isEmpty && $0.tail != nil }) else { return }
    do throws(StoreError) {
      let segment = try catalog.createListedSegment(for: 0, firstSequence: 0)
      defer { withLock { state in state.addSpares([segment]) } }
      if !commits.hasDemand { try pageIn(segment) }
    } catch {
      env.emit(.backgroundFailure(operation: "prepare a segment", error))
    }
  }

  /// How many spares one edit lists at most in a store with a capacity. Each is one page there until its turn comes.
  private static let mostSpares = 32

  /// How many spares there are at most: they take a small part of the capacity.
  private func mostSpares(in capacity: Int) -> Int {
    let most = min(Self.mostSpares, capacity / 128 / Catalog.sparePage)
    return most < 2 ? 0 : most
  }

  /// Whether some more spares are due.
  func lacksSpares(_ state: borrowing WriterState) -> Bool {
    guard let capacity = env.settings.capacity else { return state.spares.isEmpty }
    return state.spares.count < (mostSpares(in: capacity) + 1) / 2
  }

  private func prepareSpares(in capacity: Int) {
    do throws(StoreError) {
      try dropSmallSpares()
      let lacking = withLock { state in
        state.tail != nil && lacksSpares(state) ? mostSpares(in: capacity) - state.spares.count : 0
      }
      guard lacking > 0 else { return }
      let spares = try catalog.createSpares(lacking)
      withLock { state in state.addSpares(spares) }
    } catch {
      env.emit(.backgroundFailure(operation: "prepare a segment", error))
    }
  }

  /// Prefaults the first pages of a spare, which is usable without: then its writers do it.
  private func pageIn(_ segment: Segment) throws(StoreError) {
    let first = min(reservedAtOnce, Self.bufferedFirst)
    try translating { () throws(PlatformError) in
      try segment.grow(to: first, reserving: reservedAtOnce, zeroing: true, in: catalog.granules)
      try segment.mapping.populate(0..<first)
    }
    segment.populated.store(first, ordering: .relaxed)
  }

  /// Removes spares that were made when records were smaller.
  private func dropSmallSpares() throws(StoreError) {
    let least = catalog.usualSegmentSize / 2
    if withLock({ state in state.spares.contains { $0.capacity < least } }) { try dropSpares() }
  }

  /// Removes the spares, so that a smaller segment can be created instead. Keeps them on failure.
  func dropSpares() throws(StoreError) {
    let spares = withLock { $0.takeSpares() }
    guard !spares.isEmpty else { return }
    if let (kept, failure) = catalog.giveUp(spares) {
      withLock { $0.addSpares(kept) }
      throw failure
    }
  }
}
