import EskerPlatform

/// Cheap to read at any time, from any thread; each number is exact by itself.
extension HashIndex {
  /// The number of entries in the index.
  public var count: Int { Int(state[.entryCount]) }

  /// The number of buckets in the table.
  public var bucketCount: Int { Int(state[.bucketCount]) }

  /// The number of overflow lines in chains.
  public var overflowLineCount: Int { Int(state[.overflowInUse]) }

  /// The number of hash bits that every bucket uses.
  public var level: Int { Geometry.level(count: state[.bucketCount]) }

  /// The next bucket to split.
  public var splitPointer: Int { Int(Geometry.splitPointer(count: state[.bucketCount])) }

  /// True once a part of an adopted image turned out to be damaged: probes there end with ``Probe/isDamaged``, and writes
  /// there fail.
  ///
  /// The index should be rebuilt.
  @inlinable
  public var isDamaged: Bool { state[.isDamaged] != 0 }

  /// Bytes of memory committed to the index, including memory prepared for growth but not what an image still maps.
  public var memoryBytes: Int {
    let directories = 4 * UInt64(MemoryPage.size)
    let main = committed(state.main, chunks: state[.mainChunks], lines: state[.bucketCount])
    let overflow = committed(state.overflow, chunks: state[.overflowChunks], lines: state[.overflowEnd])
    var spare: UInt64 = 0
    if state[.spareMain] != 0 { spare += UInt64(ChunkDirectory.chunkByteCount) }
    if state[.spareOverflow] != 0 { spare += UInt64(ChunkDirectory.chunkByteCount) }
    let mapped = (state[.mappedMainChunks] + state[.mappedOverflowChunks]) * UInt64(ChunkDirectory.chunkByteCount)
    let own = main + overflow
    return Int(directories + spare + (own > mapped ? own - mapped : 0))
  }

  /// Bytes of all that look-ups may touch: ``memoryBytes``, and what an image still maps.
  public var byteCount: Int {
    func mapped(_ chunks: UInt64, lines: UInt64) -> Int {
      Int(min(chunks * UInt64(ChunkDirectory.chunkByteCount), lines * UInt64(Line.byteCount)))
    }
    return memoryBytes + mapped(state[.mappedMainChunks], lines: state[.bucketCount])
      + mapped(state[.mappedOverflowChunks], lines: state[.overflowEnd] - state[.overflowSkipped])
  }

  private func committed(_ directory: ChunkDirectory, chunks: UInt64, lines: UInt64) -> UInt64 {
    guard chunks > 0 else { return 0 }
    let chunkBytes = UInt64(ChunkDirectory.chunkByteCount)
    let whole = (chunks - 1) * chunkBytes
    if directory.paging(chunks - 1) == .huge { return whole + chunkBytes }
    let used = lines > (chunks - 1) << ChunkDirectory.lineBits ? lines - (chunks - 1) << ChunkDirectory.lineBits : 0
    // The first step is not committed as a whole.
    let unit =
      lines < ChunkDirectory.linesPerStep
      ? UInt64(MemoryPage.size / Line.byteCount) : ChunkDirectory.linesPerStep
    return whole + (used + unit - 1) / unit * unit * UInt64(Line.byteCount)
  }
}
