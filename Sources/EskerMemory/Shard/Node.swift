import Synchronization

/// One entry, in a slot of its shard.
///
/// Readers see `next`, `standing`, `hash`, `expiry`, `key` and `value`; all but the first two never change while the node is
/// reachable, so that a reader needs no lock: a changed value is a new node.
@usableFromInline
struct Node<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// The next slot of the chain, 0 at its end.
  @usableFromInline let next: Atomic<UInt32>
  /// A `Standing`.
  @usableFromInline let standing: Atomic<UInt32>
  @usableFromInline let hash: UInt32
  /// The neighbours in the queue; in a retired node `newer` is the next retired one. Under the lock.
  @usableFromInline var newer: UInt32 = 0
  @usableFromInline var older: UInt32 = 0
  /// The upper half of the hash, which the ghosts want.
  @usableFromInline let upperHash: UInt32
  @usableFromInline let expiry: Int64
  /// The cost; in a retired node the epoch that must pass before it is freed. Under the lock.
  @usableFromInline var cost: Int
  @usableFromInline let key: Key
  @usableFromInline let value: Value

  @inlinable
  init(hash: UInt64, standing: Standing, expiry: Int64, cost: Int, key: Key, value: consuming Value) {
    next = Atomic(0)
    self.standing = Atomic(standing.bits)
    self.hash = UInt32(truncatingIfNeeded: hash)
    upperHash = UInt32(truncatingIfNeeded: hash >> 32)
    self.expiry = expiry
    self.cost = cost
    self.key = key
    self.value = value
  }

  @inlinable var fullHash: UInt64 { UInt64(upperHash) << 32 | UInt64(hash) }
}

/// Keys and values that left the cache, to be destroyed once no lock is held: their `deinit` may call the cache.
@usableFromInline
struct Garbage<Key, Value> {
  // Most operations free one entry at most, which then needs no memory.
  @usableFromInline var first: (Key, Value)?
  @usableFromInline var rest: [(Key, Value)] = []

  @inlinable init() {}

  @inlinable
  mutating func add(_ key: consuming Key, _ value: consuming Value) {
    if first == nil { first = (key, value) } else { rest.append((key, value)) }
  }
}
