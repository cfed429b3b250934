/// The writer's changes to single entries. Each is one step for readers.
extension HashIndex {
  /// Adds an entry for a key that is not in the index.
  ///
  /// Returns false, with nothing changed, when out of memory (see ``reserve(_:)``) or if the bucket is damaged. The address
  /// must be nonzero and have at most 40 bits.
  ///
  /// Complexity: one cache miss, and every fifth time the split of another bucket.
  public func insert(_ hash: UInt64, address: UInt64) -> Bool {
    let bucket = state.bucket(of: hash)
    guard let line = state.bucketLine(bucket), insert(hash, address: address, bucket: bucket, from: line) else {
      return false
    }
    grow()
    return true
  }

  /// Like ``insert(_:address:)``, but starts where a search for the same hash has just ended with nil.
  ///
  /// Leaves growing to the ``reserve(_:)`` before the next insertion.
  @inlinable @inline(__always)
  public func insert(_ hash: UInt64, address: UInt64, after probe: WriteProbe) -> Bool {
    if probe.isDamaged { return false }
    if let slot = probe.line.firstEmptySlot() {
      probe.line[slot] = Slot.word(hash, address)
      state[.entryCount] &+= 1
      return true
    }
    return insert(hash, address: address, bucket: probe.bucket, from: probe.line)
  }

  @usableFromInline
  func insert(_ hash: UInt64, address: UInt64, bucket: UInt64, from start: Line) -> Bool {
    let word = Slot.word(hash, address)
    var line = start
    var steps = 0
    while true {
      let control = line.control
      let next = Control.nextLine(control)
      if next == 0 {
        // Only the last line of a chain has room.
        if let slot = line.firstEmptySlot() {
          line[slot] = word
          break
        }
        guard let (number, added) = pool.take(for: bucket) else { return false }
        added[0] = word
        line.control = Control.withNextLine(control, number)
        break
      }
      steps += 1
      guard steps < IndexState.longestChain, let following = state.overflowLine(next, of: bucket) else {
        _ = state.reportDamage()
        return false
      }
      line = following
    }
    state[.entryCount] += 1
    return true
  }

  /// Reserves the memory that the next `count` insertions may need, so that they cannot fail for lack of it, and does the
  /// growing that earlier insertions made due: that is nearly free while the prefetched bucket of the next insertion is
  /// being loaded.
  ///
  /// Returns false when out of memory. Complexity: nearly always a few instructions; every fifth insertion makes a bucket
  /// split due.
  @inlinable
  @inline(__always)
  public func reserve(_ count: Int = 1) -> Bool {
    grow()
    let last = state[.overflowEnd] &+ UInt64(truncatingIfNeeded: count &- 1)
    return last >> ChunkDirectory.lineBits < state[.overflowChunks] || reserveChunks(through: last)
  }

  @usableFromInline
  @inline(never)
  func reserveChunks(through line: UInt64) -> Bool { pool.reserve(through: line) }

  /// Does the growing that earlier insertions made due.
  @inlinable
  @inline(__always)
  public func grow() {
    if isGrowthDue { growIfDue() }
  }

  /// Changes the address of the entry with this hash and address; false if there is none, or its bucket is damaged.
  public func replace(_ hash: UInt64, address old: UInt64, with new: UInt64) -> Bool {
    precondition(new != 0 && new <= Slot.addressMask, "an address is 1 to 40 bits")
    var probe = writeProbe(hash)
    while let found = probe.next() {
      if found == old {
        probe.replaceCurrent(with: new)
        return true
      }
    }
    return false
  }

  /// Whether splits are suspended; insertions then go to overflow lines.
  ///
  /// Set while the whole table is copied, to keep the number of buckets; afterwards splits catch up, at most two per
  /// insertion.
  public var splitsPaused: Bool {
    get { state[.splitsPaused] != 0 }
    set { state[.splitsPaused] = newValue ? 1 : 0 }
  }

  /// The load factor: 15 bytes per key on average, and 5 of 6 chains are a single line.
  @inlinable public static var entriesPerBucket: Int { 5 }

  @inlinable
  @inline(__always)
  var isGrowthDue: Bool { state[.entryCount] > state[.bucketCount] &* UInt64(HashIndex.entriesPerBucket) }

  @usableFromInline
  @inline(never)
  func growIfDue() {
    for _ in 0..<2 where isGrowthDue {
      guard state[.splitsPaused] == 0, splitNextBucket() else { return }
      bringInNextSplit()
    }
  }

  /// Prefetches what the next splits will touch: they go through the table in order, but too slowly for the hardware
  /// prefetcher.
  @inline(__always)
  private func bringInNextSplit() {
    let count = state[.bucketCount]
    let next = Geometry.splitPointer(count: count)
    // Prefetched two splits ago, so it is in the cache and shows its overflow line.
    if let line = state.unverifiedBucketLine(next) {
      let overflow = Control.nextLine(line.control)
      if overflow != 0 { state.unverifiedOverflowLine(overflow)?.prefetch() }
    }
    state.unverifiedBucketLine(next + 2)?.prefetch()
    state.unverifiedBucketLine(count + 2)?.prefetch()
  }
}
