internal import EskerPlatform
internal import Synchronization

// A store with a capacity limit is a cache on disk: a queue of segments. New records enter at one end. At the other end
// the oldest segment is merged: those of its live records that were read since they were last written or copied are
// copied again, and the others are evicted. This is the CLOCK approximation of LRU, by segments.

extension Merger {
  // MARK: Making room

  /// Evicts on the calling thread, to make room that background eviction has not made yet.
  ///
  /// - Parameters:
  ///   - isVolumeFull: Evicts even if the capacity leaves room, because the volume does not.
  ///   - error: What is thrown if nothing can be evicted.
  @inline(never)
  func makeRoom(for needed: Int, isVolumeFull: Bool = false, orThrow error: StoreError) throws(StoreError) {
    guard let capacity = env.settings.capacity else { throw error }
    // Evicts nothing for a write that is refused however much room there is.
    if case .capacityReached = error, needed > capacity / 2 { throw error }
    catalog.closeRemoved()
    let isDone = try whileResting { () throws(StoreError) -> Bool in
      // What a crash left behind goes first: its files stay until the first edit.
      if catalog.hasDiscarded { try writer.open() }
      while true {
        try env.checkWritable()
        if !isVolumeFull, catalog.hasRoom(forSegment: writer.nextSegmentCapacity(for: needed)) { return true }
        if try !evictNext() { break }
        if isVolumeFull { return true }
      }
      if try maintainer.dropCheckpoint() { return true }
      // Only the tail is left.
      try endTail()
      return try evictNext()
    }
    // Not under the lock, which a reader may be waiting for.
    catalog.closeRemoved()
    env.deliverEvents()
    if !isDone { throw error }
  }

  /// Evicts ahead of the writers, so that they find room. True if anything was done. Called with `merging` held.
  func evictIfDue() throws(StoreError) -> Bool {
    guard env.settings.capacity != nil else { return false }
    // A small cache has no room for evicting ahead.
    if catalog.isSmallCache ? catalog.hasRoom(for: 0) : catalog.hasRoom(forSegment: catalog.usualSegmentSize) {
      // So that writers do not wait for the edit.
      guard env.isThreaded, catalog.evictions.count <= listing / 4,
        !catalog.hasRoom(forSegment: 3 * catalog.usualSegmentSize)
      else { return false }
      listing = max(Self.listed.lowerBound, listing - 1)
      return try listEvictions()
    }
    return try evictNext()
  }

  /// Makes the room of a segment, or about that much. False if there is nothing to evict. Called with `merging` held.
  func evictNext() throws(StoreError) -> Bool {
    if try removeEvicted() { return true }
    // Whoever needs the room waits for the edit.
    listing = min(Self.listed.upperBound, 2 * listing)
    if try listEvictions() { return try removeEvicted() }
    return try evictOldest()
  }

  /// Merges the oldest segments, as many as fill one together, with eviction. False if there are none. Called with
  /// `merging` held.
  private func evictOldest() throws(StoreError) -> Bool {
    maintainer.sealFull(atMost: Self.mostGathered)
    var list = evictable
    if list.isEmpty {
      // What a recovery found may be complete but not durable yet.
      try commits.waitDurable(commits.publishedSequence, onlyThrough: true)
      list = evictable
    }
    var bytes = 0
    let oldest = list.prefix { segment in
      let isFirst = bytes == 0
      bytes += segment.recordBytes
      return isFirst || bytes <= catalog.gatheredSize
    }
    guard !oldest.isEmpty else { return false }
    let pace = MergePace(self, bytesPerSecond: nil)
    _ = try mergeOnce(Array(oldest), pace, for: .eviction)
    env.epochs.collect()
    return true
  }

  /// How many segments are merged at once at most.
  private static let mostGathered = 4

  /// The segments that can be merged, oldest first.
  private var evictable: [Segment] {
    let durable = commits.durableSequence
    return full.filter { isMergeable($0, durable) }
  }

  /// The bytes that an eviction of this many may spare: three quarters, plus what earlier evictions left. So segments of
  /// often-read records are kept, yet eviction frees room even if everything was read.
  func takeSparing(for bytes: Int) -> Int {
    defer { sparingLeft = 0 }
    return min(bytes / 4 * 3 + sparingLeft, catalog.mergeRoom - 4096)
  }

  /// Leaves unused sparing to later evictions, up to a limit.
  func leaveSparing(_ bytes: Int) {
    sparingLeft = min(bytes, (env.settings.capacity ?? 0) / 16)
  }
}
