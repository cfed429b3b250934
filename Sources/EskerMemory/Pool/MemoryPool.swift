import EskerPlatform
import Synchronization

/// Limits shared by several caches: for example those in front of one store, with keys and values of different types.
///
///     let pool = MemoryPool(limits: MemoryLimits(count: 10_000))
///     let users = MemoryCache<String, User>(sharing: pool)
///     let drafts = MemoryCache<String, Draft>(sharing: pool)
///
/// The limits hold at all times for all caches together. A cache that needs room takes it from the others as if all were
/// one: entries that arrived once and were not used make room for others of their kind, in the cache that has too many of
/// them; otherwise each cache evicts in proportion to its size. So a scan of one cache does not evict what is in use in
/// another, while entries in use displace unused ones.
///
/// Thread safety: any thread may call anything at any time.
public final class MemoryPool: Sendable {
  @usableFromInline let count: Budget
  @usableFromInline let cost: Budget
  @usableFromInline let shardCount: Int

  private struct Membership {
    var members: [any PoolMember] = []
    /// The statistics of caches that have left.
    var past = MemoryStatistics()
  }

  private let membership = Guarded(Membership(), .pool)
  /// Relaxed: a thread that counts one member too few only makes room in its own cache, once.
  private let memberCount = Atomic<Int>(0)

  /// Creates a pool without caches.
  public init(limits: MemoryLimits = MemoryLimits()) {
    count = Budget(limit: limits.count)
    cost = Budget(limit: limits.cost)
    shardCount = limits.shardCount
  }

  /// The limits for all caches together.
  public var limits: MemoryLimits {
    MemoryLimits(
      count: count.limit == .max ? nil : count.limit,
      cost: cost.limit == .max ? nil : cost.limit
    )
  }

  /// Lowers the limits to `limits` where they are higher; they hold when the call returns.
  public func narrow(to limits: MemoryLimits) {
    if let limit = limits.count, count.lower(to: limit) { trim(toCount: limit) }
    if let limit = limits.cost, cost.lower(to: limit) { trim(toCost: limit) }
  }

  /// The current contents of all caches, and their counters since the pool was created.
  ///
  /// Complexity: linear in the number of caches.
  public var statistics: MemoryStatistics {
    var statistics = membership.withLock { membership in
      membership.members.reduce(into: membership.past) { $0.add($1.deeds) }
    }
    statistics.count = count.used
    statistics.cost = cost.used
    return statistics
  }

  /// Evicts entries from all caches evenly until at most `count` are left. Does not change the limit.
  public func trim(toCount count: Int) {
    trim(members) { self.count.used > count }
  }

  /// Evicts entries from all caches evenly until the total cost is at most `cost`. Does not change the limit.
  public func trim(toCost cost: Int) {
    trim(members) { self.cost.used > cost }
  }

  /// Empties all caches, like ``MemoryCache/removeAll(releases:)``.
  public func removeAll() {
    for member in members { member.removeAll(releases: true) }
  }

  /// Removes expired entries from all caches; returns how many.
  @discardableResult
  public func removeExpired(now: Int64) -> Int {
    members.reduce(0) { $0 + $1.removeExpired(now: now) }
  }

  // MARK: Members

  /// Whether there is more than one cache.
  @usableFromInline
  var isShared: Bool { memberCount.load(ordering: .relaxed) > 1 }

  @usableFromInline
  var members: [any PoolMember] { membership.withLock { $0.members } }

  func join(_ member: any PoolMember) {
    membership.withLock { membership in
      membership.members.append(member)
      memberCount.store(membership.members.count, ordering: .relaxed)
    }
  }

  func leave(_ member: any PoolMember) {
    membership.withLock { membership in
      guard let place = membership.members.firstIndex(where: { $0 === member }) else { return }
      membership.members.remove(at: place)
      membership.past.add(member.deeds)
      memberCount.store(membership.members.count, ordering: .relaxed)
    }
  }

  /// Evicts from the shards of all members in turn, so that each gives up about as much.
  func trim(_ members: [any PoolMember], while isAbove: () -> Bool) {
    var evicted = true
    while evicted && isAbove() {
      evicted = false
      for shard in 0..<shardCount {
        for member in members where isAbove() {
          if member.evictOne(fromShard: shard) { evicted = true }
        }
      }
    }
  }
}

/// A cache of any types, as seen by its pool.
@usableFromInline
protocol PoolMember: AnyObject, Sendable {
  /// The number of entries in a shard.
  func population(ofShard shard: Int) -> Int
  /// Evicts an entry from a shard, unless its lock is taken. The caller may hold the lock of another cache's shard.
  func giveUp(fromShard shard: Int, amongOthers others: Int) -> EvictionResult
  /// Evicts an entry from a shard. The caller holds no lock.
  func evictOne(fromShard shard: Int) -> Bool
  func removeAll(releases: Bool)
  @discardableResult func removeExpired(now: Int64) -> Int
  /// Hits, misses, evictions and expirations.
  var deeds: MemoryStatistics { get }
}

/// The result of an eviction on behalf of another cache.
@usableFromInline
struct EvictionResult {
  @usableFromInline var hasEvicted = false
  /// Evicted keys and values, to be destroyed once the caller holds no lock.
  @usableFromInline var garbage: Any?

  @inlinable init() {}
}

extension MemoryStatistics {
  fileprivate mutating func add(_ other: MemoryStatistics) {
    hits += other.hits
    misses += other.misses
    evictions += other.evictions
    expirations += other.expirations
  }
}
