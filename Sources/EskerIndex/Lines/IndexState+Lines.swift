// Where a line is: in memory of the index's own, or in the image that it has adopted.

extension IndexState {
  /// A bucket's line; nil if its page is damaged.
  @inlinable
  @inline(__always)
  func bucketLine(_ bucket: UInt64) -> Line? {
    let entry = main.entry(bucket >> ChunkDirectory.lineBits)
    if entry & ChunkDirectory.imageTag == 0 { return ChunkDirectory.line(bucket, inChunk: entry) }
    return verifiedBucketLine(bucket, entry)
  }

  /// An overflow line of a bucket; nil if there is no such line, or its page is damaged.
  func overflowLine(_ number: UInt64, of bucket: UInt64) -> Line? {
    guard let line = overflowLine(number) else { return nil }
    return Control.owner(line.control) == bucket ? line : reportDamage()
  }

  /// An overflow line of any bucket.
  func overflowLine(_ number: UInt64) -> Line? {
    guard number < self[.overflowEnd] else { return reportDamage() }
    let entry = overflow.entry(number >> ChunkDirectory.lineBits)
    if entry & ChunkDirectory.imageTag == 0 && entry != 0 { return ChunkDirectory.line(number, inChunk: entry) }
    return verifiedOverflowLine(number, entry)
  }

  /// A bucket's line if it is in the index's own memory; to be prefetched, or read as a hint.
  @inline(__always)
  func unverifiedBucketLine(_ bucket: UInt64) -> Line? {
    Self.ownLine(bucket, main.entry(bucket >> ChunkDirectory.lineBits))
  }

  /// An overflow line if it is in the index's own memory.
  @inlinable
  @inline(__always)
  func unverifiedOverflowLine(_ number: UInt64) -> Line? {
    Self.ownLine(number, overflow.entry(number >> ChunkDirectory.lineBits))
  }

  @inlinable
  @inline(__always)
  static func ownLine(_ number: UInt64, _ entry: UInt64) -> Line? {
    entry == 0 || entry & ChunkDirectory.imageTag != 0 ? nil : ChunkDirectory.line(number, inChunk: entry)
  }
}
