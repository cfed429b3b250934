/// What a ``MemoryCache`` holds and what it did since it was made.
///
/// The numbers are read one after the other: while other threads work, each is true of some moment, not all of the same.
public struct MemoryStatistics: Sendable, Hashable {
  /// Gets that found a value.
  public var hits = 0

  /// Gets that found none, or one whose time had come.
  public var misses = 0

  /// Entries that went to make room.
  public var evictions = 0

  /// Entries that were found to be past their expiry, and dropped.
  public var expirations = 0

  /// Entries held.
  public var count = 0

  /// The sum of the costs of the entries held, in the caller's unit.
  public var cost = 0

  /// The share of gets that were hits, from 0 to 1; 0 before the first get.
  public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }
}
