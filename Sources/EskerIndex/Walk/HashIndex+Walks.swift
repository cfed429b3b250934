/// An index entry, as seen by a walk.
public struct IndexEntry: Sendable, Equatable {
  /// Its current bucket.
  public var bucket: Int
  /// The low 36 bits of its hash: all that the index knows, and enough to find it again.
  public var partialHash: UInt64
  /// Where the key may be in the log.
  public var address: UInt64

  /// The bits of a hash that the index knows.
  public static let partialHashMask: UInt64 = 1 << 36 - 1

  init(bucket: Int, word: UInt64) {
    self.bucket = bucket
    partialHash = Slot.partialHash(word, bucket: bucket)
    address = word & Slot.addressMask
  }
}

/// Iterates over the table in slices, so that the writer's lock is held only briefly. A walk that releases it in between
/// covers every entry that stays, provided `splitsPaused` is set or the walk continues up to the final bucket count: entries
/// only move to buckets with higher numbers.
extension HashIndex {
  /// Calls `body` with the entries in a range of buckets; skips damaged parts and then returns false.
  ///
  /// Thread safety: the writer only; `body` must not change the index.
  @discardableResult
  public func forEachEntry<E: Error>(
    inBuckets range: Range<Int>,
    _ body: (IndexEntry) throws(E) -> Void
  ) throws(E) -> Bool {
    var isWhole = true
    for bucket in range.clamped(to: 0..<bucketCount) {
      guard let chain = Chain(bucket: UInt64(bucket), in: state) else {
        isWhole = false
        continue
      }
      for position in 0..<chain.capacity {
        let word = chain[position]
        if word != 0 { try body(IndexEntry(bucket: bucket, word: word)) }
      }
    }
    return isWhole
  }

  /// Removes the entries in a range of buckets that satisfy `condition`; returns how many.
  ///
  /// Thread safety: the writer only; `condition` must not change the index.
  @discardableResult
  public func removeEntries<E: Error>(
    inBuckets range: Range<Int>,
    where condition: (IndexEntry) throws(E) -> Bool
  ) throws(E) -> Int {
    var removed = 0
    for bucket in range.clamped(to: 0..<bucketCount) {
      guard var chain = Chain(bucket: UInt64(bucket), in: state) else { continue }
      var position = 0
      while position < chain.capacity {
        let word = chain[position]
        if word != 0, try condition(IndexEntry(bucket: bucket, word: word)) {
          // The last entry moves here: look at this position again.
          remove(position, from: &chain)
          removed += 1
        } else {
          position += 1
        }
      }
    }
    return removed
  }
}
