import EskerPlatform

/// The in-memory hash index: from the hash of a key to the addresses in the log where the key may stand.
///
/// A table of 64-byte buckets, each with seven entries of a 24-bit fingerprint and a 40-bit address, that grows by linear
/// hashing: one bucket is split at a time, so no insertion waits for a rehash, memory never doubles, and since the
/// fingerprint holds the bit of the hash that a split asks for, no key is read again. At 5 entries a bucket it takes
/// about 15 bytes a key.
///
/// Only the low 36 bits of a hash are used. The index never compares keys: whoever inserts knows that the key is absent.
///
/// Thread safety: one writer at a time, serialised by the caller; any number of readers beside it, each inside a pin of
/// the epoch domain that the index was made with. Each function says which of the two it is for. The index does not
/// shrink when entries are removed, but reuses what they leave.
///
/// Safety: threads may share it. `state` is made of atomic words, `epochs` is meant for many threads, and only the writer,
/// of which there is one at a time, touches `pool` and `image`.
public final class HashIndex: @unchecked Sendable {
  @usableFromInline let state: IndexState
  let epochs: EpochDomain
  let pool: OverflowPool
  let image: ImageHolder

  /// Creates an empty index, or returns nil when there is no memory.
  public init?(epochs: EpochDomain) {
    guard let state = HashIndex.makeState() else { return nil }
    guard let chunk = ChunkDirectory.allocateChunk() else {
      HashIndex.free(state)
      return nil
    }
    state.main.setEntry(0, chunk)
    state[.mainChunks] = 1
    state[.bucketCount] = UInt64(Geometry.minimumBucketCount)
    self.state = state
    self.epochs = epochs
    pool = OverflowPool(state: state, epochs: epochs)
    image = ImageHolder()
  }

  init(state: IndexState, epochs: EpochDomain, image: ImageHolder) {
    self.state = state
    self.epochs = epochs
    self.image = image
    pool = OverflowPool(state: state, epochs: epochs)
  }

  deinit {
    for spare in [state[.spareMain], state[.spareOverflow]] where spare != 0 { ChunkDirectory.freeChunk(spare) }
    HashIndex.free(state)
  }

  static func makeState() -> IndexState? {
    guard let main = ChunkDirectory.allocate() else { return nil }
    guard let overflow = ChunkDirectory.allocate() else {
      main.free()
      return nil
    }
    let state = IndexState.allocate()
    state[.mainDirectory] = main.address
    state[.overflowDirectory] = overflow.address
    state[.overflowEnd] = 1
    return state
  }

  static func free(_ state: IndexState) {
    state.main.free()
    state.overflow.free()
    state.freeVerifiedPages()
    state.free()
  }
}
