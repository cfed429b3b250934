extension HashIndex {
  /// The part of an index that readers need, as plain data: the index's owner may pass it on without reference counting.
  @frozen
  public struct Reader {
    @usableFromInline let state: IndexState

    @inlinable
    init(_ state: IndexState) {
      self.state = state
    }
  }

  /// The index for readers; valid as long as the index.
  @inlinable
  public var reader: Reader { Reader(state) }

  /// Starts a search; see ``Reader/probe(_:)``.
  @inlinable
  @inline(__always)
  public func probe(_ hash: UInt64) -> Probe {
    reader.probe(hash)
  }
}

extension HashIndex.Reader {
  /// Prefetches the bucket of a hash into the cache.
  ///
  /// For batches: prefetch sixteen, then probe them.
  ///
  /// Thread safety: inside a pin, or the writer.
  @inlinable @inline(__always)
  public func prefetch(_ hash: UInt64) {
    let bucket = state.bucket(of: hash)
    let entry = state.main.entry(bucket >> ChunkDirectory.lineBits) & ~ChunkDirectory.imageTag
    ChunkDirectory.line(bucket, inChunk: entry).prefetch()
  }

  /// The address of the bucket of a hash, if it is in an image, whose pages may have to be read; nil if it is in memory.
  ///
  /// Thread safety: inside a pin, or the writer.
  public func addressInImage(of hash: UInt64) -> UnsafeRawPointer? {
    let bucket = state.bucket(of: hash)
    let entry = state.main.entry(bucket >> ChunkDirectory.lineBits)
    guard entry & ChunkDirectory.imageTag != 0 else { return nil }
    let line = ChunkDirectory.line(bucket, inChunk: entry & ~ChunkDirectory.imageTag)
    // Safety: only the address is passed on.
    return unsafe UnsafeRawPointer(line.words)
  }

  /// Starts a search for the addresses that a key with this hash may have; see ``Probe``.
  ///
  /// Thread safety: inside a pin, or the writer.
  @inlinable
  @inline(__always)
  public func probe(_ hash: UInt64) -> Probe {
    let bucket = state.bucket(of: hash)
    guard let head = state.bucketLine(bucket) else { return Probe(damaged: state, hash) }
    return Probe(state, hash, bucket, at: head)
  }
}
