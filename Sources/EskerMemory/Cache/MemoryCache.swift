import EskerPlatform
import Synchronization

/// A bounded map in memory for many threads, which keeps what is likely to be asked for again.
///
///     let cache = MemoryCache<String, Image>(limits: MemoryLimits(cost: 64 << 20))
///     cache.put(image, forKey: "cover", cost: image.bytes, now: now)
///     let cover = cache.get("cover", now: now)
///
/// The limits hold at every moment. Expiry follows the clock values that the caller passes: an entry is gone for a `now` at or
/// past its expiry; its memory is freed when it is next asked for, makes room, or by ``removeExpired(now:)``.
///
/// **Policy.** S3-FIFO: a new entry enters a small queue; if it is used there, it moves to the main queue at the end, otherwise it
/// leaves and only its hash is remembered; what comes back while remembered may enter the main queue at once. The main queue lets
/// an entry pass up to three times, once for each use. A hit changes one word at most and moves nothing. Four things are changed,
/// and were chosen on traces of one kind and confirmed on others: uses right after an entry came do not count, as they belong to one
/// burst; what comes back does not drive out what has been used as often, which keeps a part of a loop that is longer than the
/// cache; the border between the queues moves towards the one that gave up too early what came back; and entries move on to the
/// main queue while there is still room. `esker-memory-benchmark traces` compares hit ratios.
///
/// **Readers take no lock.** They pin an epoch, follow a chain of nodes that never change, and copy the value. Writers lock one of
/// at most 64 shards. A value that is replaced or removed is released by the same call, unless some thread of the process is just then
/// reading a cache or a store; then by a later write to the same shard, or with the cache.
///
/// **Memory.** Beside key and value an entry takes 36 bytes, 4 to 8 for its chain, and 10 for the memory of evicted ones once the cache
/// is full; of caches that share their limits, each remembers on its own. What was replaced or evicted and waits for a reader no longer counts towards the limits.
///
/// Thread safety: any thread may call anything at any time. A value's `deinit` may call the cache; a key's `==` and the closure of
/// ``update(_:now:_:)`` must not, for they run under a lock.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What it may hold at most, together with the caches that share its limits.
  public var limits: MemoryLimits { commons.pool.limits }

  @usableFromInline let commons: Commons
  @usableFromInline let counters = HitCounters()
  @usableFromInline let shards: Shards<Key, Value>
  /// Whether somebody is told of changes; asked under the lock of a shard. Relaxed: the locks order it, as ``observe(_:)``
  /// takes those of all shards after setting it.
  @usableFromInline let isObserved = Atomic<Bool>(false)
  /// Held by who changes or tells anything while somebody is told; taken before the lock of a shard.
  @usableFromInline let telling = Lock(.telling)
  // Guarded by `telling`.
  // Safety: that lock is held in the only places that touch it, in `MemoryChange.swift`.
  nonisolated(unsafe) var listener: (@Sendable (MemoryChange<Key, Value>) -> Void)?

  /// An empty cache with limits of its own.
  public convenience init(limits: MemoryLimits = MemoryLimits()) {
    self.init(drawingFrom: MemoryPool(limits: limits))
  }

  /// An empty cache that shares its limits with others; ``leave()`` ends it. Nobody is told of what it gives up for them.
  public convenience init(sharing pool: MemoryPool) {
    self.init(drawingFrom: pool)
    pool.join(self)
  }

  private init(drawingFrom pool: MemoryPool) {
    commons = Commons(pool)
    shards = Shards(count: pool.shardCount)
  }

  /// Entries held, among them such whose time has come but that nobody asked for since; with those of the caches that share the limits.
  public var count: Int { commons.pool.count.used }

  /// The sum of the costs of the entries held, in the caller's unit; with those of the caches that share the limits.
  public var cost: Int { commons.pool.cost.used }

  /// What the cache did, and what it holds together with the caches that share its limits.
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

  /// The shard of a hash, by its upper half; the shard itself uses the lower one.
  @inlinable
  @inline(__always)
  func shard(_ hash: UInt64) -> ShardHandle<Key, Value> {
    shards[Int(truncatingIfNeeded: hash >> 32)]
  }

  /// Runs `body` with a shard locked, then frees what can be freed; values are destroyed after the lock is given back.
  @inlinable
  func withLocked<Result, Failure: Error>(
    _ shard: ShardHandle<Key, Value>,
    releases: Bool = true,
    _ body: (inout Garbage<Key, Value>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var garbage = Garbage<Key, Value>()
    defer { withExtendedLifetime(garbage) {} }
    shard.pointee.lock.lock()
    if isObserved.load(ordering: .relaxed) {
      lockTelling(shard)
      garbage.isTold = true
    }
    defer {
      if releases { shard.pointee.reclaim(into: &garbage, commons.epochs) }
      shard.pointee.lock.unlock()
      if garbage.isTold { telling.unlock() }
    }
    return try body(&garbage)
  }
}
