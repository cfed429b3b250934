/// The work that the owner's background thread does to spare insertions: committing memory, and moving full chunks to huge
/// pages. Small tables use small pages, so that they take only what they need; from 64 MiB on, whole chunks of 2 MiB are
/// prepared ahead, each a few percent of the table.
extension HashIndex {
  /// Whether ``prepareGrowth()`` has anything to do. Cheap, from any thread.
  public var needsGrowth: Bool {
    needsSpare(.spareMain) || needsSpare(.spareOverflow)
      || nextToCollapse(.collapsedMain, .mainChunks, state.main) != nil
      || nextToCollapse(.collapsedOverflow, .overflowChunks, state.overflow) != nil
  }

  /// Prepares memory for further growth.
  ///
  /// Takes up to a few milliseconds. Thread safety: any thread, concurrently with the writer and readers, without the
  /// writer's lock; of several concurrent callers one does the work and the others return.
  public func prepareGrowth() {
    guard state.exchange(.growthLock, 1) == 0 else { return }
    prepareSpare(.spareMain)
    prepareSpare(.spareOverflow)
    collapseNext(.collapsedMain, .mainChunks, state.main)
    collapseNext(.collapsedOverflow, .overflowChunks, state.overflow)
    state[.growthLock] = 0
  }

  /// The number of chunks in both arrays from which on whole chunks are prepared.
  private var largeTable: UInt64 { 32 }

  private func needsSpare(_ spare: IndexState.Word) -> Bool {
    guard state[.mainChunks] + state[.overflowChunks] >= largeTable, state[spare] == 0 else { return false }
    let isMain = spare == .spareMain
    let lines = isMain ? state[.bucketCount] : state[.overflowEnd]
    let room = (isMain ? state[.mainChunks] : state[.overflowChunks]) << ChunkDirectory.lineBits
    return lines + ChunkDirectory.linesPerChunk / 4 > room
  }

  private func prepareSpare(_ spare: IndexState.Word) {
    guard needsSpare(spare), let address = ChunkDirectory.allocateWholeChunk() else { return }
    let previous = state.exchange(spare, address)
    if previous != 0 { ChunkDirectory.freeChunk(previous) }
  }

  /// The first chunk that is full, so that moving it commits no further memory, and not on huge pages yet.
  private func nextToCollapse(
    _ done: IndexState.Word,
    _ chunks: IndexState.Word,
    _ directory: ChunkDirectory
  ) -> UInt64? {
    let end = state[chunks]
    var chunk = state[done]
    while chunk + 1 < end {
      let isOwn = directory.entry(chunk) & ChunkDirectory.imageTag == 0
      if isOwn && directory.paging(chunk) == .small { return chunk }
      chunk += 1
    }
    return nil
  }

  private func collapseNext(_ done: IndexState.Word, _ chunks: IndexState.Word, _ directory: ChunkDirectory) {
    guard let chunk = nextToCollapse(done, chunks, directory) else { return }
    let collapsed = ChunkDirectory.collapseChunk(directory.entry(chunk))
    directory.setPaging(chunk, collapsed ? .huge : .smallForGood)
    state[done] = chunk + 1
  }
}
