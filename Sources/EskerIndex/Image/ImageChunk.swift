/// One chunk of an adopted image, on its way into memory of the index's own.
struct ImageChunk {
  let state: IndexState
  let isMain: Bool
  let number: UInt64

  var section: ImageSection { isMain ? .main(state) : .overflow(state) }
  var directory: ChunkDirectory { isMain ? state.main : state.overflow }

  /// Whether it still is in the image.
  var isMapped: Bool { directory.entry(number) & ChunkDirectory.imageTag != 0 }

  /// Its pages' numbers in the section.
  var pages: Range<UInt64> {
    let pagesPerChunk = UInt64(ChunkDirectory.chunkByteCount / IndexImage.pageByteCount)
    return number * pagesPerChunk..<min(section.pageCount, (number + 1) * pagesPerChunk)
  }

  /// Whether the image holds all of its 2 MiB.
  var isWhole: Bool { pages.count * IndexImage.pageByteCount == ChunkDirectory.chunkByteCount }

  /// Copies the image's part of the chunk; the writer's, as nobody else writes the source and nobody knows the target.
  func copyContents(to address: UInt64) {
    let source = directory.entry(number) & ~ChunkDirectory.imageTag
    ChunkDirectory.copy(pages.count * IndexImage.pageByteCount, from: source, to: address)
  }
}
