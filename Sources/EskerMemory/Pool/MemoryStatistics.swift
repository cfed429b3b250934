/// The contents of a ``MemoryCache``, and counters since it was created.
///
/// The numbers are read one after another: while other threads work, each is correct for some moment, but not all for the
/// same one.
public struct MemoryStatistics: Sendable, Hashable {
  /// The number of gets that found a value.
  public var hits = 0

  /// The number of gets that found none, or an expired one.
  public var misses = 0

  /// The number of entries evicted to make room.
  public var evictions = 0

  /// The number of entries found to be expired, and dropped.
  public var expirations = 0

  /// The number of entries.
  public var count = 0

  /// The total cost of the entries, in the caller's unit.
  public var cost = 0

  /// The share of gets that were hits, from 0 to 1; 0 before the first get.
  public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}

extension MemoryStatistics: CustomStringConvertible {
  /// Such as `812 entries of cost 65536; 940 found, 60 missed (94 % hits), 12 evicted, 3 expired`.
  public var description: String {
    let share = hits + misses == 0 ? "" : " (\(Int((hitRatio * 100).rounded())) % hits)"
    return "\(count) \(count == 1 ? "entry" : "entries") of cost \(cost); \(hits) found, \(misses) missed\(share), "
      + "\(evictions) evicted, \(expirations) expired"
  }
}
