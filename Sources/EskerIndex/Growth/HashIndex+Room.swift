extension HashIndex {
  /// Makes an index that holds nothing as large as it would be with `count` entries, so that it is not split while they are
  /// entered.
  ///
  /// A hint: without memory, and in an index that is not empty, nothing happens or less than asked for, and insertions split
  /// as ever. Chunks that are needed whole are committed, huge if the system has such.
  ///
  /// Thread safety: the writer. Complexity: zeroes 13 bytes an entry.
  public func makeRoom(for count: Int) {
    guard state[.entryCount] == 0, state[.imageMainChunks] == 0 else { return }
    // The most buckets that an index has grown to when it holds this many entries.
    let buckets = UInt64(clamping: count) / UInt64(HashIndex.entriesPerBucket)
    let wanted = min(buckets, UInt64(Geometry.maximumBucketCount))
    var chunk = state[.mainChunks]
    while chunk << ChunkDirectory.lineBits < wanted {
      let isWhole = (chunk + 1) << ChunkDirectory.lineBits <= wanted
      guard let address = isWhole ? ChunkDirectory.allocateWholeChunk() : ChunkDirectory.allocateChunk() else { break }
      state.main.setEntry(chunk, address)
      if isWhole { state.main.setPaging(chunk, .huge) }
      chunk += 1
    }
    state[.mainChunks] = chunk
    // Readers miss nothing: none of these lines has ever held anything.
    let ready = min(wanted, chunk << ChunkDirectory.lineBits)
    if ready > state[.bucketCount] { state[.bucketCount] = ready }
  }
}
