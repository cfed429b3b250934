/// The limits of a ``MemoryCache``; they hold at all times, even during concurrent writes.
public struct MemoryLimits: Sendable, Hashable {
  /// The maximum number of entries; `nil` for no limit, 0 for a cache that keeps nothing.
  public var count: Int?

  /// The maximum total cost of the entries, in the caller's unit; `nil` for no limit.
  public var cost: Int?

  /// Limits on the number of entries, on their cost, on both or on neither. A negative limit counts as 0.
  public init(count: Int? = nil, cost: Int? = nil) {
    self.count = count.map { max(0, $0) }
    self.cost = cost.map { max(0, $0) }
  }

  /// The number of shards for a cache with these limits.
  ///
  /// A shard ranks only its own entries, so it needs a few hundred of them to separate good ones from bad ones; beyond 64
  /// shards there is hardly any contention between writers.
  var shardCount: Int {
    let least = min(count ?? .max, cost ?? .max)
    var shards = 1
    while shards < 64 && least / (2 * shards) >= 256 { shards *= 2 }
    return shards
  }
}

extension MemoryLimits: CustomStringConvertible {
  /// Such as `1000 entries at most, cost 65536 at most`, or `no limit`.
  public var description: String {
    let limits = [count.map { "\($0) \($0 == 1 ? "entry" : "entries") at most" }, cost.map { "cost \($0) at most" }]
    let known = limits.compactMap { $0 }
    return known.isEmpty ? "no limit" : known.joined(separator: ", ")
  }
}
