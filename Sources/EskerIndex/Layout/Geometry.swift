/// Linear hashing: which bucket a hash belongs to.
///
/// With 2^level <= bucketCount < 2^(level+1), the buckets below the split pointer, bucketCount - 2^level, and the buckets
/// split off from them use one more bit of the hash than the rest. So the bucket count alone determines the geometry, and
/// readers get a consistent view from one load.
public enum Geometry {
  /// The minimum number of buckets.
  public static var minimumBucketCount: Int { 1 << Slot.baseLevel }

  /// The maximum number of buckets: line numbers have 32 bits.
  public static var maximumBucketCount: Int { 1 << 32 }

  @inlinable
  static func bucket(_ hash: UInt64, count: UInt64) -> UInt64 {
    let mask = UInt64.max >> UInt64(truncatingIfNeeded: count.leadingZeroBitCount)
    let bucket = hash & mask
    // A shift by a comparison's outcome, since a processor could not predict a branch.
    let isBeyond: UInt64 = bucket < count ? 0 : 1
    return bucket & (mask &>> isBeyond)
  }

  /// The number of hash bits that every bucket uses.
  @inlinable
  static func level(count: UInt64) -> Int {
    63 - count.leadingZeroBitCount
  }

  /// The next bucket to split.
  @inlinable
  static func splitPointer(count: UInt64) -> UInt64 {
    count - (1 << UInt64(level(count: count)))
  }
}
