import Synchronization

/// What readers see of one entry, in a slot of its shard.
///
/// All but `standing` never changes while the node is reachable, so that a reader needs no lock: a changed value is a new node. What
/// only writers need is an `Upkeep`, so that nodes are small and more of them stay in the processor's caches.
@usableFromInline
struct Node<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// A `Standing`.
  @usableFromInline let standing: Atomic<UInt32>
  @usableFromInline let hash: UInt32
  @usableFromInline let expiry: Int64
  @usableFromInline let key: Key
  @usableFromInline let value: Value

  @inlinable
  init(hash: UInt32, standing: Standing, expiry: Int64, key: Key, value: consuming Value) {
    self.standing = Atomic(standing.bits)
    self.hash = hash
    self.expiry = expiry
    self.key = key
    self.value = value
  }
}

/// What only writers see of one entry, under the lock.
@frozen
@usableFromInline
struct Upkeep {
  /// The neighbours in the queue; in a retired node `newer` is the next retired one.
  @usableFromInline var newer: UInt32 = 0
  @usableFromInline var older: UInt32 = 0
  /// The cost; in a retired node the epoch that must pass before it is freed.
  @usableFromInline var cost: Int

  @inlinable
  init(cost: Int) {
    self.cost = cost
  }
}

/// What an operation leaves to do for when it gives its shard's lock back: keys and values that left the cache, to be destroyed
/// once no lock is held, as their `deinit` may call the cache.
@usableFromInline
struct Garbage<Key, Value> {
  /// Whether somebody is told of changes, so that a further lock is held.
  @usableFromInline var isTold = false
  // Most operations free one entry at most, which then needs no memory.
  @usableFromInline var first: (Key, Value)?
  @usableFromInline var rest: [(Key, Value)] = []
  /// What caches of other types gave up.
  @usableFromInline var others: [Any] = []

  @inlinable init() {}

  @inlinable
  mutating func add(_ key: consuming Key, _ value: consuming Value) {
    if first == nil { first = (key, value) } else { rest.append((key, value)) }
  }
}
