internal import EskerFormat
internal import EskerPlatform
internal import Synchronization

// Segments without records: they are made ahead of the writer, become the tail, or are given up. Each is at every time on the
// list, as the tail or among the spares, or it is nothing any more; and no record goes to one that the manifest does not list.

extension Engine {
  /// Creates a segment and lists it, so that records may go there. When that fails, nothing is left of it.
  func createListedSegment(for size: Int, firstSequence: UInt64) throws(StoreError) -> Segment {
    let segment = try createSegment(for: size, firstSequence: firstSequence)
    do throws(StoreError) { try editManifest(.listed) } catch {
      // Somebody else's edit may have listed it.
      guard commits.failureCode == nil, !giveUpUnlisted([segment]).isEmpty else { throw error }
    }
    return segment
  }

  /// A spare that has room for a record of `size` bytes, or a new segment.
  func nextTail(for size: Int, _ state: inout WriterState) throws(StoreError) -> Segment {
    let needed = SegmentHeader.length + size + Self.tailReserve
    if let position = state.spares.firstIndex(where: { $0.capacity >= needed }) {
      return state.spares.remove(at: position)
    }
    return try createListedSegment(for: size, firstSequence: state.nextSequence)
  }

  /// Takes the tail back that nothing was written to.
  func leaveUnused(_ tail: Segment, _ state: inout WriterState) {
    // A sync would wait for it to be sealed.
    commits.forget(tail)
    tail.firstSequence.store(0, ordering: .relaxed)
    state.spares += giveUpUnlisted([tail])
  }

  /// Has a segment ready for when the tail is full: created, synced, named and listed.
  func prepareSegment() {
    guard writer.withLock({ $0.spares.isEmpty && $0.tail != nil }) else { return }
    // A small cache does not keep a segment empty.
    if options.capacity != nil, usualSegmentSize < 1 << 20 || !hasRoom(forSegment: usualSegmentSize) { return }
    do throws(StoreError) {
      let segment = try createListedSegment(for: 0, firstSequence: 0)
      defer { writer.withLock { state in state.spares.append(segment) } }
      if !isSyncing { try bringIn(segment) }
    } catch {
      emit(.backgroundFailure(operation: "prepare a segment", error))
    }
  }

  /// Brings in the first pages of a segment. One that cannot be is as good: its writers do it then.
  private func bringIn(_ segment: Segment) throws(StoreError) {
    let first = min(segment.capacity, Self.bufferedFirst)
    try translating { () throws(PlatformError) in
      try segment.grow(to: first, reserving: segment.capacity, zeroing: true, in: granules)
      try segment.mapping.populate(0..<first)
    }
    segment.populated.store(first, ordering: .relaxed)
  }

  /// Gives up the segments that are ready to be the next tail: the one that is made instead will be small. When that fails, they
  /// are kept.
  func dropSpares() throws(StoreError) {
    let spares = writer.withLock { state in
      defer { state.spares = [] }
      return state.spares
    }
    guard !spares.isEmpty else { return }
    segments.withLock { list in list.removeAll { segment in spares.contains { $0 === segment } } }
    do throws(StoreError) { try editManifest(.listed) } catch {
      segments.withLock { $0 += spares }
      // Somebody else's edit may have taken them off.
      let kept = giveUpUnlisted(spares)
      writer.withLock { $0.spares += kept }
      throw error
    }
    for segment in spares { discard(segment) }
  }

  /// Gives those up that the manifest does not list; the others, which stay on the list.
  private func giveUpUnlisted(_ unused: [Segment]) -> [Segment] {
    // After a failed sync nobody knows what the manifest lists.
    guard commits.failureCode == nil else { return unused }
    // No edit comes in between and lists them.
    let unlisted = manifests.withLock { state in
      let listed = Set(state.manifest.segments.map(\.id))
      let unlisted = unused.filter { !listed.contains($0.id) }
      segments.withLock { list in list.removeAll { segment in unlisted.contains { $0 === segment } } }
      return unlisted
    }
    for segment in unlisted { discard(segment) }
    return unused.filter { segment in !unlisted.contains { $0 === segment } }
  }

  /// Removes a segment that is on no list any more.
  private func discard(_ segment: Segment) {
    uninstall(segment)
    // What cannot be removed now is not listed, and the next opening removes it.
    try? platform.fileSystem.remove(segment.path)
  }
}
