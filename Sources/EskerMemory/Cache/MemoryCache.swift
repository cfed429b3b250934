import EskerPlatform
import Synchronization

/// A bounded in-memory map for concurrent use, which keeps the entries most likely to be used again.
///
///     let cache = MemoryCache<String, Image>(limits: MemoryLimits(cost: 64 << 20))
///     cache.put(image, forKey: "cover", cost: image.bytes, now: now)
///     let cover = cache.get("cover", now: now)
///
/// The limits hold at all times. Expiry follows the clock values that the caller passes: an entry has expired for a `now` at
/// or past its expiry; its memory is freed when it is next asked for, when it makes room, or by ``removeExpired(now:)``.
///
/// **Policy.** S3-FIFO: a new entry enters a small queue; if it is used there, it moves to the main queue at the end,
/// otherwise it is evicted and only its hash is remembered; an entry that returns while remembered may enter the main queue
/// at once. The main queue's hand passes over an entry up to three times, once for each use. A hit changes at most one word
/// and moves nothing. There are four changes, chosen on traces of one kind and confirmed on others: uses right after an
/// entry arrives do not count, since they belong to one burst; a returning entry does not evict one that has been used as
/// often, which keeps part of a loop longer than the cache; the border between the queues moves towards the queue that
/// evicted a returning entry too early; and entries move on to the main queue even while there is still room.
/// `esker-memory-benchmark traces` compares hit ratios.
///
/// **Readers take no lock.** They pin an epoch, follow a chain of nodes that never change, and copy the value. Writers lock
/// one of at most 64 shards. A value that is replaced or removed is released by the same call, unless some thread of the
/// process is reading a cache or a store at that moment; then by a later write to the same shard, or with the cache.
///
/// **Memory.** In addition to key and value an entry takes 36 bytes, 4 to 8 for its chain, and 10 to remember evicted ones
/// once the cache is full; caches that share their limits remember separately. Entries that were replaced or evicted and are
/// kept for a reader no longer count towards the limits.
///
/// Thread safety: any thread may call anything at any time. A value's `deinit` may call the cache; a key's `==` and the
/// closure of ``update(_:now:_:)`` must not, because they run under a lock.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The limits, which apply to all caches that share them together.
  public var limits: MemoryLimits { context.pool.limits }

  @usableFromInline let context: ShardContext
  @usableFromInline let counters = HitCounters()
  @usableFromInline let shards: Shards<Key, Value>
  /// Whether there is a listener; checked under the lock of a shard. Relaxed: the locks order it, since ``observe(_:)``
  /// takes those of all shards after setting it.
  @usableFromInline let isObserved = Atomic<Bool>(false)
  /// Held by writers and `observe(_:)` while there is a listener; taken before the lock of a shard.
  @usableFromInline let notifying = Lock(.notifying)
  // Guarded by `notifying`.
  // Safety: that lock is held in the only places that touch it, in `MemoryChange.swift`.
  nonisolated(unsafe) var listener: (@Sendable (MemoryChange<Key, Value>) -> Void)?

  /// Creates an empty cache with limits of its own.
  public convenience init(limits: MemoryLimits = MemoryLimits()) {
    self.init(drawingFrom: MemoryPool(limits: limits))
  }

  /// Creates an empty cache that shares its limits with others; ``leave()`` ends it. Listeners are not notified of entries
  /// evicted to make room in another cache.
  public convenience init(sharing pool: MemoryPool) {
    self.init(drawingFrom: pool)
    pool.join(self)
  }

  private init(drawingFrom pool: MemoryPool) {
    context = ShardContext(pool)
    shards = Shards(count: pool.shardCount)
  }

  /// The number of entries, including expired ones not removed yet, in all caches that share the limits.
  public var count: Int { context.pool.count.used }

  /// The total cost of the entries, in the caller's unit, in all caches that share the limits.
  public var cost: Int { context.pool.cost.used }

  /// The cache's own hits, misses, evictions and expirations; count and cost cover all caches that share the limits.
  ///
  /// Complexity: constant; takes no lock.
  public var statistics: MemoryStatistics {
    var statistics = deeds
    statistics.count = count
    statistics.cost = cost
    return statistics
  }

  @inlinable
  @inline(__always)
  static func hash(_ key: Key) -> UInt64 {
    UInt64(truncatingIfNeeded: key.hashValue)
  }

  /// The shard of a hash, selected by its upper half; the shard itself uses the lower one.
  @inlinable
  @inline(__always)
  func shard(_ hash: UInt64) -> ShardHandle<Key, Value> {
    shards[Int(truncatingIfNeeded: hash >> 32)]
  }

  /// Runs `body` with a shard locked, then frees what can be freed; values are destroyed after the lock is released.
  @inlinable
  func withLocked<Result, Failure: Error>(
    _ shard: ShardHandle<Key, Value>,
    releases: Bool = true,
    _ body: (inout CacheGarbage<Key, Value>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var garbage = CacheGarbage<Key, Value>()
    defer { withExtendedLifetime(garbage) {} }
    shard.pointee.lock.lock()
    if isObserved.load(ordering: .relaxed) {
      lockForNotifying(shard)
      garbage.isNotified = true
    }
    defer {
      if releases { shard.pointee.reclaim(into: &garbage, context.epochs) }
      shard.pointee.lock.unlock()
      if garbage.isNotified { notifying.unlock() }
    }
    return try body(&garbage)
  }
}
