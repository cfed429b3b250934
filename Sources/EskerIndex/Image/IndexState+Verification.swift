extension IndexState {
  /// A bucket's line in an image's chunk; nil if its page is damaged.
  @usableFromInline
  func verifiedBucketLine(_ bucket: UInt64, _ entry: UInt64) -> Line? {
    guard ImageSection.main(self).verify(bucket / ImageSection.linesPerPage) else { return reportDamage() }
    return ChunkDirectory.line(bucket, inChunk: entry & ~ChunkDirectory.imageTag)
  }

  /// An overflow line in an image's chunk; nil if there is none or its page is damaged.
  @usableFromInline
  func verifiedOverflowLine(_ number: UInt64, _ entry: UInt64) -> Line? {
    guard entry & ChunkDirectory.imageTag != 0,
      ImageSection.overflow(self).verify(number / ImageSection.linesPerPage)
    else { return reportDamage() }
    return ChunkDirectory.line(number, inChunk: entry & ~ChunkDirectory.imageTag)
  }

  func freeVerifiedPages() {
    ImageSection.main(self).freeBitmap()
    ImageSection.overflow(self).freeBitmap()
  }
}
