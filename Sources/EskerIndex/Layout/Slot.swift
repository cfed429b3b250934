/// How a hash and an address share one 64-bit word.
///
///     63        40 39                     0
///     +-----------+------------------------+
///     |fingerprint|        address         |     0: empty
///     +-----------+------------------------+
///
/// The low bits of the hash select the bucket, and bits 12 to 35 form the fingerprint. They overlap on purpose: the table
/// starts with 2^12 buckets, and when bucket numbers grow by a bit, that bit of the hash is read from the fingerprint, so a
/// split needs no key. Overlapping bits no longer distinguish the keys of a bucket: 24 bits do at 4,096 buckets, 15 at 10
/// million keys, 12 at 100 million.
public enum Slot {
  /// The bits of the bucket number that no fingerprint holds: the table never has fewer than 2^12 buckets.
  @inlinable public static var baseLevel: Int { 12 }

  /// The largest address, 40 bits.
  @inlinable public static var addressMask: UInt64 { (1 << 40) - 1 }

  /// The fingerprint of a hash, in its position.
  @inlinable
  static func fingerprint(_ hash: UInt64) -> UInt64 {
    (hash << 28) & ~addressMask
  }

  /// The word of an entry. The address must be nonzero and have at most 40 bits.
  @inlinable
  @inline(__always)
  static func word(_ hash: UInt64, _ address: UInt64) -> UInt64 {
    precondition(address != 0 && address <= addressMask, "an address is 1 to 40 bits")
    return fingerprint(hash) | address
  }

  /// Whether two words have the same fingerprint.
  ///
  /// The empty word looks like fingerprint zero.
  @inlinable
  static func haveSameFingerprint(_ one: UInt64, _ other: UInt64) -> Bool {
    one ^ other <= addressMask
  }

  /// The bit of the hash that decides where the entry goes when a bucket of this level is split.
  static func goesUp(_ word: UInt64, level: Int) -> Bool {
    (word >> (28 + UInt64(level))) & 1 == 1
  }

  /// The low 36 bits of the entry's hash, from its word and the number of its bucket.
  static func partialHash(_ word: UInt64, bucket: Int) -> UInt64 {
    (word >> 40) << UInt64(baseLevel) | UInt64(bucket) & ((1 << UInt64(baseLevel)) - 1)
  }
}
