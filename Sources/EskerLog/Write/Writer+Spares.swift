internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// Empty segments: they are created ahead of need, then become the tail or are removed. At any time each is on the list, either
// as the tail or as a spare, or removed; and no record is written to one that the manifest does not list.

extension Writer {
  /// Takes a spare with room for a record of `size` bytes.
  func takeSpare(for size: Int) -> Segment? {
    withLock { $0.takeSpare(for: SegmentHeader.length + size + tailReserve) }
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
    guard withLock({ $0.spares.isEmpty && $0.tail != nil }) else { return }
    // A store with a small capacity cannot spare an empty segment.
    if env.settings.capacity != nil,
      catalog.usualSegmentSize < 1 << 20 || !catalog.hasRoom(forSegment: catalog.usualSegmentSize)
    {
      return
    }
    do throws(StoreError) {
      let segment = try catalog.createListedSegment(for: 0, firstSequence: 0)
      defer { withLock { state in state.addSpares([segment]) } }
      if !commits.hasDemand { try bringIn(segment) }
    } catch {
      env.emit(.backgroundFailure(operation: "prepare a segment", error))
    }
  }

  /// Prefaults the first pages of a spare, which is usable without: then its writers do it.
  private func bringIn(_ segment: Segment) throws(StoreError) {
    let first = min(segment.capacity, Self.bufferedFirst)
    try translating { () throws(PlatformError) in
      try segment.grow(to: first, reserving: segment.capacity, zeroing: true, in: catalog.granules)
      try segment.mapping.populate(0..<first)
    }
    segment.populated.store(first, ordering: .relaxed)
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
