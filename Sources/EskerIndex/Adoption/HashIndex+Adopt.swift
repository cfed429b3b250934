import EskerPlatform

extension HashIndex {
  /// Adopts an image; returns nil if its numbers are inconsistent, or when out of memory.
  ///
  /// None of it is read yet: a page is verified when it is first touched, and a mismatch makes ``isDamaged`` true. The index
  /// is complete at once for readers and the writer; ``migrateNextChunk()`` then moves it into memory of its own.
  ///
  /// Complexity: a few instructions per 2 MiB.
  public convenience init?(epochs: EpochDomain, image: IndexImage) {
    guard image.isConsistent, let state = HashIndex.makeState() else { return nil }
    guard ImageSection.main(state).adopt(image.mainAddresses),
      ImageSection.overflow(state).adopt(image.overflowAddresses)
    else {
      HashIndex.free(state)
      return nil
    }
    let lines = UInt64(image.overflowLineCount)
    let mainChunks = HashIndex.chunkCount(lines: UInt64(image.bucketCount))
    let overflowChunks = lines > 1 ? HashIndex.chunkCount(lines: lines) : 0
    HashIndex.enter(mainChunks, of: ImageSection.main(state), in: state.main)
    HashIndex.enter(overflowChunks, of: ImageSection.overflow(state), in: state.overflow)
    state[.mainChunks] = mainChunks
    state[.overflowChunks] = overflowChunks
    state[.imageMainChunks] = mainChunks
    state[.imageOverflowChunks] = overflowChunks
    state[.mappedMainChunks] = mainChunks
    state[.mappedOverflowChunks] = overflowChunks
    state[.bucketCount] = UInt64(image.bucketCount)
    // New lines go to chunks of their own, since there is no memory after the image's last line.
    state[.overflowEnd] = overflowChunks > 0 ? overflowChunks << ChunkDirectory.lineBits : lines
    state[.overflowSkipped] = state[.overflowEnd] - lines
    state[.overflowInUse] = lines - 1
    state[.entryCount] = UInt64(image.entryCount)
    self.init(state: state, epochs: epochs, image: ImageHolder(owner: image.owner))
  }

  private static func chunkCount(lines: UInt64) -> UInt64 {
    (lines + ChunkDirectory.linesPerChunk - 1) >> ChunkDirectory.lineBits
  }

  private static func enter(_ chunks: UInt64, of section: ImageSection, in directory: ChunkDirectory) {
    for chunk in 0..<chunks {
      directory.setEntry(
        chunk,
        section.base + chunk * UInt64(ChunkDirectory.chunkByteCount) | ChunkDirectory.imageTag
      )
    }
  }
}
