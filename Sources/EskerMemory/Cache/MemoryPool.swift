import EskerPlatform
import Synchronization

/// Limits that several caches share: those ahead of one and the same store, with keys and values of different types.
///
///     let pool = MemoryPool(limits: MemoryLimits(count: 10_000))
///     let users = MemoryCache<String, User>(sharing: pool)
///     let drafts = MemoryCache<String, Draft>(sharing: pool)
///
/// The limits hold at every moment for all caches together. A cache that needs room takes it from the others as if all were one: what
/// came once and is not used makes room for its like, in the cache in which too much of it has gathered; otherwise each cache gives in
/// proportion to what it holds. So a scan of one does not drive out what another has in use, and what is in use drives out what is not.
///
/// Thread safety: any thread may call anything at any time.
public final class MemoryPool: Sendable {
  @usableFromInline let count: Budget
  @usableFromInline let cost: Budget
  @usableFromInline let shardCount: Int

  private struct Roster {
    var members: [any PoolMember] = []
    /// What caches did that are gone.
    var past = MemoryStatistics()
  }

  private let roster = Guarded(Roster(), .pool)
  /// Relaxed: a thread that counts one member too few only makes room in its own cache, once.
  private let memberCount = Atomic<Int>(0)

  /// Limits that no cache draws from yet.
  public init(limits: MemoryLimits = MemoryLimits()) {
    count = Budget(limit: limits.count)
    cost = Budget(limit: limits.cost)
    shardCount = limits.shardCount
  }

  /// What all caches together may hold at most.
  public var limits: MemoryLimits {
    MemoryLimits(
      count: count.limit == .max ? nil : count.limit,
      cost: cost.limit == .max ? nil : cost.limit
    )
  }

  /// Makes the limits as narrow as `limits`, where they are wider; they hold when the call returns.
  public func narrow(to limits: MemoryLimits) {
    if let limit = limits.count, count.lower(to: limit) { trim(toCount: limit) }
    if let limit = limits.cost, cost.lower(to: limit) { trim(toCost: limit) }
  }

  /// What all caches hold, and did since there is the pool.
  ///
  /// Complexity: linear in the number of caches.
  public var statistics: MemoryStatistics {
    var statistics = roster.withLock { roster in
      roster.members.reduce(into: roster.past) { $0.add($1.deeds) }
    }
    statistics.count = count.used
    statistics.cost = cost.used
    return statistics
  }

  /// Evicts entries of all caches alike until at most `count` are left. The limit stays what it is.
  public func trim(toCount count: Int) {
    trim(members) { self.count.used > count }
  }

  /// Evicts entries of all caches alike until their costs sum up to at most `cost`. The limit stays what it is.
  public func trim(toCost cost: Int) {
    trim(members) { self.cost.used > cost }
  }

  /// Empties all caches, as ``MemoryCache/removeAll()`` does.
  public func removeAll() {
    for member in members { member.removeAll(releases: true) }
  }

  /// Removes from all caches the entries whose time has come; returns how many.
  @discardableResult
  public func removeExpired(now: Int64) -> Int {
    members.reduce(0) { $0 + $1.removeExpired(now: now) }
  }

  // MARK: Members

  /// Whether there is more than one cache.
  @usableFromInline
  var isShared: Bool { memberCount.load(ordering: .relaxed) > 1 }

  @usableFromInline
  var members: [any PoolMember] { roster.withLock { $0.members } }

  func join(_ member: any PoolMember) {
    roster.withLock { roster in
      roster.members.append(member)
      memberCount.store(roster.members.count, ordering: .relaxed)
    }
  }

  func leave(_ member: any PoolMember) {
    roster.withLock { roster in
      guard let place = roster.members.firstIndex(where: { $0 === member }) else { return }
      roster.members.remove(at: place)
      roster.past.add(member.deeds)
      memberCount.store(roster.members.count, ordering: .relaxed)
    }
  }

  /// Evicts from one shard of each member after the other, so that all give alike.
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

/// A cache as its pool sees it, whatever its types.
@usableFromInline
protocol PoolMember: AnyObject, Sendable {
  /// Entries of a shard.
  func population(ofShard shard: Int) -> Int
  /// Evicts from a shard, unless its lock is taken. The caller may hold the lock of another cache's shard.
  func giveUp(fromShard shard: Int, amongOthers others: Int) -> GivenUp
  /// Evicts from a shard. The caller holds no lock.
  func evictOne(fromShard shard: Int) -> Bool
  func removeAll(releases: Bool)
  @discardableResult func removeExpired(now: Int64) -> Int
  /// Hits, misses, evictions and expirations.
  var deeds: MemoryStatistics { get }
}

/// What a cache gave up for another.
@usableFromInline
struct GivenUp {
  @usableFromInline var hasEvicted = false
  /// What is to be destroyed once the caller holds no lock.
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
