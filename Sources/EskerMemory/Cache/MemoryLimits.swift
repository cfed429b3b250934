/// What a ``MemoryCache`` may hold at most; each limit holds at every moment, also while threads write at once.
public struct MemoryLimits: Sendable, Hashable {
  /// The greatest number of entries; `nil` for no limit, 0 for a cache that keeps nothing.
  public var count: Int?

  /// The greatest sum of the entries' costs, in the caller's unit; `nil` for no limit.
  public var cost: Int?

  /// Limits by number, by cost, by both or by neither. A negative limit counts as 0.
  public init(count: Int? = nil, cost: Int? = nil) {
    self.count = count.map { max(0, $0) }
    self.cost = cost.map { max(0, $0) }
  }

  /// The most shards that may share such limits.
  ///
  /// A shard orders its own entries only, so it needs some hundred of them to tell good ones from bad ones; beyond 64 shards
  /// writers hardly ever meet.
  var shardCount: Int {
    let least = min(count ?? .max, cost ?? .max)
    var shards = 1
    while shards < 64 && least / (2 * shards) >= 256 { shards *= 2 }
    return shards
  }
}
