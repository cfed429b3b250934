internal import EskerPlatform
internal import Synchronization

// A store of limited capacity is a cache on disk: a queue of segments. New records enter at one end. At the other the oldest
// segment is merged away: of its live records those are copied that were read since they were written or copied last, and
// the others are evicted. That is the CLOCK approximation of LRU, by segments.

extension Engine {
  /// The least capacity: a few small segments, and the files that every store has.
  static let leastCapacity = 256 << 10

  /// Segments that the capacity is divided into.
  private static let segmentsOfCapacity = 64

  /// Bytes a segment of a store of limited capacity may grow to: small parts of it, so that little is empty or evicted at once.
  func segmentSize(of capacity: Int) -> Int {
    let whole = max(16 << 10, min(options.segmentSize, capacity / Self.segmentsOfCapacity) & ~4095)
    // The footer goes into the last page too.
    return whole - whole / 64 - 256
  }

  /// Room that stays free for what a merge writes before its inputs go.
  private var mergeRoom: Int { (isSmallCache ? gatheredSize / 4 * 3 : gatheredSize) + 4096 }

  /// Bytes of segments that are merged away at once. Those of a small cache are so small that what is spared of one would
  /// waste much of its last page.
  private var gatheredSize: Int { max(usualSegmentSize, min(2 * usualSegmentSize, 64 << 10)) }

  /// Whether a segment is a few pages, so that what is kept free counts.
  private var isSmallCache: Bool { usualSegmentSize < 64 << 10 }

  /// Bytes of all files, those counted whole that are still being written.
  ///
  /// - Complexity: O(files), a system call each.
  private var footprint: Int {
    var planned: [String: Int] = [:]
    for segment in segments.withLock({ $0 }) where !segment.isSettled.load(ordering: .acquiring) {
      planned[FileName.segment(segment.id)] =
        segment.isSealed.load(ordering: .acquiring) ? segment.recordsEnd.load(ordering: .relaxed) : segment.capacity
    }
    let names = (try? platform.fileSystem.list(path)) ?? []
    return names.reduce(0) { total, name in
      let size = (try? platform.fileSystem.status("\(path)/\(name)"))??.size ?? 0
      return total + (max(size, planned[name] ?? 0) + 4095) & ~4095
    }
  }

  /// Whether files may take that many bytes more.
  func hasRoom(for bytes: Int) -> Bool {
    guard let capacity = options.capacity else { return true }
    // The manifest grows with the number of segments.
    return footprint + bytes + 4096 <= capacity
  }

  /// Whether a new segment of that many bytes leaves room for the merge that makes room for the next.
  func hasRoom(forSegment bytes: Int) -> Bool {
    options.capacity == nil || hasRoom(for: bytes + mergeRoom)
  }

  /// Sets space aside for removals and merges on a full volume; a small cache evicts without.
  func fillReserve() {
    let length = reserveLength
    if length >= 128 << 10, hasRoom(for: length) { reserve.fill(to: length) }
  }

  // MARK: Making room

  /// Does a write; when there is no room for it in a store of limited capacity, makes some and does it again.
  @inline(__always)
  func makingRoom<R>(_ write: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try write() } catch {
      guard options.capacity != nil, let needed = error.bytesLacking else {
        events.deliver()
        throw error
      }
      try makeRoom(for: needed, orThrow: error)
    }
    while true {
      do throws(StoreError) { return try write() } catch {
        guard let needed = error.bytesLacking else {
          events.deliver()
          throw error
        }
        try makeRoom(for: needed, isVolumeFull: true, orThrow: error)
      }
    }
  }

  /// Evicts on the calling thread what the background has not evicted yet.
  ///
  /// - Parameter isVolumeFull: There may be none though the capacity leaves room: then something is evicted all the same.
  @inline(never)
  func makeRoom(for needed: Int, isVolumeFull: Bool = false, orThrow error: StoreError) throws(StoreError) {
    // Nothing is given up for what would not fit all the same.
    guard let capacity = options.capacity, needed <= capacity / 2 else { throw error }
    closeRemoved()
    sealFinished()
    let isDone = try merging.withLock { () throws(StoreError) -> Bool in
      try checkWritable()
      if !isVolumeFull, hasRoom(forSegment: max(needed, usualSegmentSize)) { return true }
      if try evictOldest() { return true }
      if try dropCheckpoint() { return true }
      // All that is left is the tail.
      try endTail()
      return try evictOldest()
    }
    events.deliver()
    if !isDone { throw error }
  }

  /// Evicts ahead of the writers, so that they find room. True when something was done. Called with `merging` held.
  func evictIfDue() throws(StoreError) -> Bool {
    guard options.capacity != nil else { return false }
    // A small cache has no room to be ahead with.
    if isSmallCache ? hasRoom(for: 0) : hasRoom(forSegment: usualSegmentSize) { return false }
    return try evictOldest()
  }

  /// Merges the oldest segments away, with eviction: those that fill one together. False when there are none. Called with
  /// `merging` held.
  private func evictOldest() throws(StoreError) -> Bool {
    var list = evictable
    if list.isEmpty {
      // What a recovery found may be whole and not durable yet.
      try commits.waitDurable(publishedSequence, onlyThrough: true)
      list = evictable
    }
    var bytes = 0
    let oldest = list.prefix { segment in
      let isFirst = bytes == 0
      bytes += segment.recordsEnd.load(ordering: .relaxed)
      return isFirst || bytes <= gatheredSize
    }
    guard !oldest.isEmpty else { return false }
    let pace = MergePace(self, bytesPerSecond: nil)
    _ = try mergeOnce(Array(oldest), pace, evicting: true)
    closeRemoved()
    return true
  }

  /// Waits until removed files are closed, which takes as long as a reader may stand in them: some microseconds. They take
  /// space until then.
  func closeRemoved() {
    if !epochs.isPinned { epochs.synchronize() }
    epochs.collect()
  }

  /// Gives up the index checkpoint, which only saves time at the next opening; false when there is none.
  func dropCheckpoint() throws(StoreError) -> Bool {
    let id = try opening.withLock { () throws(StoreError) -> UInt64 in
      let id = manifests.withLock { $0.manifest.checkpointID }
      if id != 0 { try editManifest(.noCheckpoint) }
      return id
    }
    if id != 0 { try? platform.fileSystem.remove("\(path)/\(FileName.checkpoint(id))") }
    return id != 0
  }

  /// The segments that can be merged, oldest first.
  private var evictable: [Segment] {
    mergeable { _ in true }.sorted { $0.id < $1.id }
  }

  /// Bytes that an eviction of that many may spare: three quarters, and what earlier ones left of theirs, so that what is
  /// read a lot and lies together is kept, and eviction still frees room when everything was read.
  func takeSparing(for bytes: Int) -> Int {
    defer { sparingLeft = 0 }
    return min(bytes / 4 * 3 + sparingLeft, mergeRoom - 4096)
  }

  /// Leaves what was not spared to the next evictions, as far as they may use it.
  func leaveSparing(_ bytes: Int) {
    sparingLeft = min(bytes, (options.capacity ?? 0) / 16)
  }
}

extension StoreError {
  /// Bytes that neither the volume nor the capacity has room for; nil for any other error.
  var bytesLacking: Int? {
    switch self {
    case .noSpace(_, let needed), .capacityReached(_, _, let needed): needed
    default: nil
    }
  }
}
