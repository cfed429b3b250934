/// A chunk of an adopted image, to be moved into the index's own memory.
struct ImageChunk {
  let state: IndexState
  let isMain: Bool
  let number: UInt64

  var section: ImageSection { isMain ? .main(state) : .overflow(state) }
  var directory: ChunkDirectory { isMain ? state.main : state.overflow }

  /// Whether it is still in the image.
  var isMapped: Bool { directory.entry(number) & ChunkDirectory.imageTag != 0 }

  /// Its page numbers in the section.
  var pages: Range<UInt64> {
    let pagesPerChunk = UInt64(ChunkDirectory.chunkByteCount / IndexImage.pageByteCount)
    return number * pagesPerChunk..<min(section.pageCount, (number + 1) * pagesPerChunk)
  }

  /// Whether the image fills the whole chunk of 2 MiB.
  var isWhole: Bool { pages.count * IndexImage.pageByteCount == ChunkDirectory.chunkByteCount }

  /// Copies the image's part of the chunk. For the writer: nobody else writes to the source, and the target is not published
  /// yet.
  func copyContents(to address: UInt64) {
    let source = directory.entry(number) & ~ChunkDirectory.imageTag
    ChunkDirectory.copy(pages.count * IndexImage.pageByteCount, from: source, to: address)
  }
}
