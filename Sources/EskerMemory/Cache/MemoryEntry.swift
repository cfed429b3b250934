/// A value with its cost, its expiry and its version.
public struct MemoryEntry<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value

  /// What it counts towards the cost limit, in the caller's unit; a negative cost counts as 0.
  public var cost: Int

  /// The time from which on it is no longer returned, in milliseconds of the caller's clock; `Int64.max` for never.
  public var expiry: Int64

  /// Tells the write that brought the value from others, in the caller's numbers; 0 for none.
  public var version: UInt64

  /// Creates an entry.
  @inlinable
  public init(_ value: Value, cost: Int = 1, expiry: Int64 = .max, version: UInt64 = 0) {
    self.value = value
    self.cost = max(0, cost)
    self.expiry = expiry
    self.version = version
  }
}
