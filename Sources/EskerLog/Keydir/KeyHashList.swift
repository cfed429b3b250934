/// The hashes of a small keyspace's keys, so that what concerns only its entries does not read the whole store.
///
/// Invariant: it has the hash of every entry of the keyspace's present incarnation to which the index leads. It may also have
/// hashes of keys that are gone, and one more than once.
struct KeyHashList {
  /// The maximum number of hashes: a keyspace with more has no hash list.
  static let limit = 1024
  private static let least = 16

  private(set) var hashes: [UInt64]
  /// The capacity in hashes, which counts against the budget of all hash lists.
  private(set) var capacity: Int

  /// An empty list, without capacity.
  init() {
    hashes = []
    capacity = 0
  }

  /// A list of these hashes, with the capacity that it would have grown to; nil if there are too many.
  init?(_ hashes: [UInt64]) {
    var capacity = Self.least
    while capacity < hashes.count { capacity *= 2 }
    guard capacity <= Self.limit else { return nil }
    self.hashes = hashes
    self.capacity = capacity
  }

  var isFull: Bool { hashes.count >= capacity }

  mutating func append(_ hash: UInt64) { hashes.append(hash) }

  /// Keeps only the given hashes, and makes room for more; false if that is more than a keyspace, or all of them, may have.
  mutating func renew(_ kept: [UInt64], budget: Int) -> Bool {
    var capacity = max(Self.least, capacity)
    while kept.count > capacity / 4 * 3 { capacity *= 2 }
    guard capacity <= Self.limit, capacity - self.capacity <= budget else { return false }
    hashes = kept
    hashes.reserveCapacity(capacity)
    self.capacity = capacity
    return true
  }
}
