import Synchronization

/// One entry, in a slot of its shard.
///
/// Readers see the fields down to `value`; all of them but the first never change while the node is reachable, so that a reader
/// needs no lock: a changed value is a new node. They come first so that most gets touch one cache line.
@usableFromInline
struct Node<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// A `Standing`.
  @usableFromInline let standing: Atomic<UInt32>
  @usableFromInline let hash: UInt32
  @usableFromInline let expiry: Int64
  @usableFromInline let key: Key
  @usableFromInline let value: Value
  /// The neighbours in the queue; in a retired node `newer` is the next retired one. Under the lock.
  @usableFromInline var newer: UInt32 = 0
  @usableFromInline var older: UInt32 = 0
  /// The cost; in a retired node the epoch that must pass before it is freed. Under the lock.
  @usableFromInline var cost: Int

  @inlinable
  init(hash: UInt32, standing: Standing, expiry: Int64, cost: Int, key: Key, value: consuming Value) {
    self.standing = Atomic(standing.bits)
    self.hash = hash
    self.expiry = expiry
    self.cost = cost
    self.key = key
    self.value = value
  }
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
