import EskerPlatform

/// The in-memory hash index: maps the hash of a key to the addresses in the log where the key may be.
///
/// A table of 64-byte buckets, each with seven entries of a 24-bit fingerprint and a 40-bit address, which grows by linear
/// hashing: one bucket is split at a time, so no insertion waits for a rehash, memory never doubles, and since the
/// fingerprint holds the hash bit that decides a split, no key is read again. At 5 entries per bucket it takes about 15
/// bytes per key.
///
/// Only the low 36 bits of a hash are used. The index never compares keys: the caller must know that an inserted key is
/// absent.
///
/// Thread safety: one writer at a time, serialised by the caller; any number of concurrent readers, each pinned in the epoch
/// domain that the index was created with. Each function says which of the two it is for. The index does not shrink when
/// entries are removed, but reuses their space.
///
/// Safety: threads may share it. `state` is made of atomic words, `epochs` is meant for many threads, and only the writer,
/// of which there is one at a time, touches `pool` and `image`.
public final class HashIndex: @unchecked Sendable {
  @usableFromInline let state: IndexState
  let epochs: EpochDomain
  let pool: OverflowPool
  let image: ImageHolder

  /// Creates an empty index, or returns nil when out of memory.
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
