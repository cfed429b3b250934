internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// Segments without records: they are made ahead of the writer, become the tail, or are given up. Each is at every time on the
// list, as the tail or among the spares, or it is nothing any more; and no record goes to one that the manifest does not list.

extension Writer {
  /// A spare that has room for a record of `size` bytes.
  func takeSpare(for size: Int) -> Segment? {
    withLock { $0.takeSpare(for: SegmentHeader.length + size + Segment.tailReserve) }
  }

  /// Takes a segment back that was to be the tail and that nothing was written to.
  func leaveUnused(_ segment: Segment) {
    forgetUnused(segment)
    keepIfListed(segment)
  }

  /// It has no number any more, and a sync would wait for it to be sealed.
  func forgetUnused(_ segment: Segment) {
    commits.forget(segment)
    segment.change { $0.begin(with: 0) }
  }

  /// Makes it a spare if the manifest may list it, and removes it otherwise.
  func keepIfListed(_ segment: Segment) {
    let kept = catalog.giveUpUnlisted([segment])
    withLock { $0.addSpares(kept) }
  }

  /// Has a segment ready for when the tail is full: created, synced, named and listed.
  func prepareSegment() {
    guard withLock({ $0.spares.isEmpty && $0.tail != nil }) else { return }
    // A small cache does not keep a segment empty.
    if env.options.capacity != nil,
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

  /// Brings in the first pages of a segment. One that cannot be is as good: its writers do it then.
  private func bringIn(_ segment: Segment) throws(StoreError) {
    let first = min(segment.capacity, Self.bufferedFirst)
    try translating { () throws(PlatformError) in
      try segment.grow(to: first, reserving: segment.capacity, zeroing: true, in: catalog.granules)
      try segment.mapping.populate(0..<first)
    }
    segment.populated.store(first, ordering: .relaxed)
  }

  /// Gives up the segments that are ready to be the next tail: the one that is made instead will be small. When that fails, they
  /// are kept.
  func dropSpares() throws(StoreError) {
    let spares = withLock { $0.takeSpares() }
    guard !spares.isEmpty else { return }
    if let (kept, failure) = catalog.giveUp(spares) {
      withLock { $0.addSpares(kept) }
      throw failure
    }
  }
}
