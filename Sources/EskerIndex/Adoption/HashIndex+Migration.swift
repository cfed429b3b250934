import EskerPlatform

/// Moves an adopted image, chunk by chunk, into the index's own memory on huge pages: probes then no longer check whether a
/// page is verified, and the image's memory can be released.
extension HashIndex {
  /// Whether any chunks are still in an image. Cheap, from any thread.
  @inlinable
  public var needsMigration: Bool {
    !isDamaged && state[.mappedMainChunks] + state[.mappedOverflowChunks] > 0
  }

  /// Verifies the chunk that ``migrateNextChunk()`` will move next and allocates memory for it, to make that call faster.
  ///
  /// Takes up to a few milliseconds, more if the image is read from disk. Thread safety: any one thread, concurrently with
  /// the writer and readers, without the writer's lock.
  public func prepareMigration() {
    guard let chunk = nextImageChunk() else { return }
    for page in chunk.pages {
      // A short pin per page; the image stays as long as a pinned reader finds the chunk in it.
      let pin = epochs.enter()
      defer { epochs.exit(pin) }
      guard chunk.isMapped else { return }
      guard chunk.section.verify(page) else {
        _ = state.reportDamage()
        return
      }
    }
    if chunk.isWhole, state[.spareMain] == 0, let address = ChunkDirectory.allocateWholeChunk() {
      let previous = state.exchange(.spareMain, address)
      if previous != 0 { ChunkDirectory.freeChunk(previous) }
    }
  }

  /// Moves one chunk of the image; false if none is left, there is no memory, or the image is damaged.
  ///
  /// Takes a fraction of a millisecond after ``prepareMigration()``. Thread safety: the writer only; readers are not
  /// interrupted.
  @discardableResult
  public func migrateNextChunk() -> Bool {
    guard let chunk = nextImageChunk() else { return false }
    return migrate(chunk)
  }

  /// Ensures that new buckets can be added after the last one in this chunk, which is impossible in an image: it ends there.
  ///
  /// Returns false at first, since the owner's background thread is about to move the chunk, and moves it only when overdue.
  func makeWritable(mainChunk number: UInt64) -> Bool {
    let chunk = ImageChunk(state: state, isMain: true, number: number)
    guard chunk.isMapped else { return true }
    let isOverdue = state[.entryCount] > state[.bucketCount] * 6
    return isOverdue && migrate(chunk)
  }

  /// The last bucket chunk comes first, because the table grows there; then the others in order.
  private func nextImageChunk() -> ImageChunk? {
    guard needsMigration else { return nil }
    let last = ImageChunk(state: state, isMain: true, number: state[.imageMainChunks] - 1)
    if last.isMapped { return last }
    for isMain in [true, false] {
      let number = state[isMain ? .migratedMain : .migratedOverflow]
      let end = isMain ? last.number : state[.imageOverflowChunks]
      if number < end { return ImageChunk(state: state, isMain: isMain, number: number) }
    }
    return nil
  }

  private func migrate(_ chunk: ImageChunk) -> Bool {
    for page in chunk.pages where !chunk.section.verify(page) {
      _ = state.reportDamage()
      return false
    }
    let spare = chunk.isWhole ? state.exchange(.spareMain, 0) : 0
    let made = spare != 0 ? spare : chunk.isWhole ? ChunkDirectory.allocateWholeChunk() : ChunkDirectory.allocateChunk()
    guard let address = made else { return false }
    chunk.copyContents(to: address)
    if chunk.isWhole { chunk.directory.setPaging(chunk.number, .huge) }
    chunk.directory.setEntry(chunk.number, address)
    noteMigrated(chunk)
    return true
  }

  private func noteMigrated(_ chunk: ImageChunk) {
    state[chunk.isMain ? .mappedMainChunks : .mappedOverflowChunks] -= 1
    // The last bucket chunk comes first and does not advance the mark; the others come in order.
    let mark = chunk.isMain ? IndexState.Word.migratedMain : .migratedOverflow
    if state[mark] == chunk.number { state[mark] = chunk.number + 1 }
    guard state[.mappedMainChunks] + state[.mappedOverflowChunks] == 0, let owner = image.owner else { return }
    image.owner = nil
    // Readers that found a chunk in the image may still be using it. The closure releases the owner.
    epochs.retire { withExtendedLifetime(owner) {} }
  }
}
