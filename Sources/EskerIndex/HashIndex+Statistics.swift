import EskerPlatform

/// Cheap to read at any time, from any thread; each number by itself is exact.
extension HashIndex {
  /// How many entries the index holds.
  public var count: Int { Int(state[.entryCount]) }

  /// How many buckets the table has.
  public var bucketCount: Int { Int(state[.bucketCount]) }

  /// How many overflow lines are part of a chain.
  public var overflowLineCount: Int { Int(state[.overflowInUse]) }

  /// How many bits of the hash every bucket uses.
  public var level: Int { Geometry.level(count: state[.bucketCount]) }

  /// The bucket that is split next.
  public var splitPointer: Int { Int(Geometry.splitPointer(count: state[.bucketCount])) }

  /// True once a part of an adopted image turned out damaged: probes there end with ``Probe/isDamaged``, and the writer's
  /// operations there fail.
  ///
  /// The index should be built anew.
  public var isDamaged: Bool { state[.isDamaged] != 0 }

  /// Bytes of memory that are committed to the index, prepared ones included, without what an image still maps.
  public var memoryBytes: Int {
    let directories = 4 * UInt64(AnonymousMemory.pageSize)
    let main = committed(state.main, chunks: state[.mainChunks], lines: state[.bucketCount])
    let overflow = committed(state.overflow, chunks: state[.overflowChunks], lines: state[.overflowEnd])
    var spare: UInt64 = 0
    if state[.spareMain] != 0 { spare += UInt64(ChunkDirectory.chunkByteCount) }
    if state[.spareOverflow] != 0 { spare += UInt64(ChunkDirectory.chunkByteCount) }
    let mapped = (state[.mappedMainChunks] + state[.mappedOverflowChunks]) * UInt64(ChunkDirectory.chunkByteCount)
    let own = main + overflow
    return Int(directories + spare + (own > mapped ? own - mapped : 0))
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
      ? UInt64(AnonymousMemory.pageSize / Line.byteCount) : ChunkDirectory.linesPerStep
    return whole + (used + unit - 1) / unit * unit * UInt64(Line.byteCount)
  }
}
