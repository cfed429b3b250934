extension HashIndex {
  /// Makes an empty index as large as it would be with `count` entries, so that inserting them causes no splits.
  ///
  /// A hint: when out of memory, or in an index that is not empty, it does less or nothing, and insertions split as usual.
  /// Chunks needed as a whole are committed, on huge pages if the system has them.
  ///
  /// Thread safety: the writer. Complexity: zeroes 13 bytes per entry.
  public func makeRoom(for count: Int) {
    guard state[.entryCount] == 0, state[.imageMainChunks] == 0 else { return }
    // The most buckets that an index has grown to by the time it holds this many entries.
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
    // Readers miss nothing: none of these lines has ever held an entry.
    let ready = min(wanted, chunk << ChunkDirectory.lineBits)
    if ready > state[.bucketCount] { state[.bucketCount] = ready }
  }
}
