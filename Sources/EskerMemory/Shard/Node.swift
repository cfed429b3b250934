import Synchronization

/// The part of an entry that readers use, in a slot of its shard.
///
/// Everything but `accessState` is constant while the node is reachable, so that a reader needs no lock: a changed value is a
/// new node. What only writers need is in an `NodeUpkeep`, so that nodes are small and more of them stay in the processor's
/// caches.
@usableFromInline
struct Node<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
  /// A `AccessState`.
  @usableFromInline let accessState: Atomic<UInt32>
  @usableFromInline let hash: UInt32
  @usableFromInline let expiry: Int64
  @usableFromInline let key: Key
  @usableFromInline let value: Value

  @inlinable
  init(hash: UInt32, accessState: AccessState, expiry: Int64, key: Key, value: consuming Value) {
    self.accessState = Atomic(accessState.bits)
    self.hash = hash
    self.expiry = expiry
    self.key = key
    self.value = value
  }
}

/// The part of an entry that only writers use, under the lock.
@frozen
@usableFromInline
struct NodeUpkeep {
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

/// The keys and values that left the cache during an operation, to be destroyed once no lock is held, because their `deinit`
/// may call the cache.
@usableFromInline
struct CacheGarbage<Key, Value> {
  /// Whether there is a listener, so that `notifying` is held too.
  @usableFromInline var isNotified = false
  // Most operations free at most one entry, which then needs no array.
  @usableFromInline var first: (Key, Value)?
  @usableFromInline var rest: [(Key, Value)] = []
  /// Garbage from caches of other types.
  @usableFromInline var others: [Any] = []

  @inlinable init() {}

  @inlinable
  mutating func add(_ key: consuming Key, _ value: consuming Value) {
    if first == nil { first = (key, value) } else { rest.append((key, value)) }
  }
}
