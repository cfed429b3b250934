internal import EskerPlatform
internal import Synchronization

// A store of limited capacity is a cache on disk: a queue of segments. New records enter at one end. At the other the oldest
// segment is merged away: of its live records those are copied that were read since they were written or copied last, and
// the others are evicted. That is the CLOCK approximation of LRU, by segments.

extension Merger {
  // MARK: Making room

  /// Evicts on the calling thread what the background has not evicted yet.
  ///
  /// - Parameter isVolumeFull: There may be none though the capacity leaves room: then something is evicted all the same.
  @inline(never)
  func makeRoom(for needed: Int, isVolumeFull: Bool = false, orThrow error: StoreError) throws(StoreError) {
    // Nothing is given up for what would not fit all the same.
    guard let capacity = env.options.capacity, needed <= capacity / 2 else { throw error }
    catalog.closeRemoved()
    keeper.sealFull()
    let isDone = try whileResting { () throws(StoreError) -> Bool in
      try env.checkWritable()
      if !isVolumeFull, catalog.hasRoom(forSegment: max(needed, catalog.usualSegmentSize)) { return true }
      if try evictOldest() { return true }
      if try keeper.dropCheckpoint() { return true }
      // All that is left is the tail.
      try endTail()
      return try evictOldest()
    }
    env.deliverEvents()
    if !isDone { throw error }
  }

  /// Evicts ahead of the writers, so that they find room. True when something was done. Called with `merging` held.
  func evictIfDue() throws(StoreError) -> Bool {
    guard env.options.capacity != nil else { return false }
    // A small cache has no room to be ahead with.
    if catalog.isSmallCache ? catalog.hasRoom(for: 0) : catalog.hasRoom(forSegment: catalog.usualSegmentSize) {
      return false
    }
    return try evictOldest()
  }

  /// Merges the oldest segments away, with eviction: those that fill one together. False when there are none. Called with
  /// `merging` held.
  private func evictOldest() throws(StoreError) -> Bool {
    var list = evictable
    if list.isEmpty {
      // What a recovery found may be whole and not durable yet.
      try commits.waitDurable(commits.publishedSequence, onlyThrough: true)
      list = evictable
    }
    var bytes = 0
    let oldest = list.prefix { segment in
      let isFirst = bytes == 0
      bytes += segment.recordsEnd
      return isFirst || bytes <= catalog.gatheredSize
    }
    guard !oldest.isEmpty else { return false }
    let pace = MergePace(self, bytesPerSecond: nil)
    _ = try mergeOnce(Array(oldest), pace, evicting: true)
    catalog.closeRemoved()
    return true
  }

  /// The segments that can be merged, oldest first.
  private var evictable: [Segment] {
    mergeable { _ in true }.sorted { $0.id < $1.id }
  }

  /// Bytes that an eviction of that many may spare: three quarters, and what earlier ones left of theirs, so that what is
  /// read a lot and lies together is kept, and eviction still frees room when everything was read.
  func takeSparing(for bytes: Int) -> Int {
    defer { sparingLeft = 0 }
    return min(bytes / 4 * 3 + sparingLeft, catalog.mergeRoom - 4096)
  }

  /// Leaves what was not spared to the next evictions, as far as they may use it.
  func leaveSparing(_ bytes: Int) {
    sparingLeft = min(bytes, (env.options.capacity ?? 0) / 16)
  }
}
