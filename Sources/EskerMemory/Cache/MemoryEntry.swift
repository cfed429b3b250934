/// A value with its cost and expiry.
public struct MemoryEntry<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value

  /// What it counts towards the cost limit, in the caller's unit; a negative cost counts as 0.
  public var cost: Int

  /// The time from which on it is no longer returned, in milliseconds of the caller's clock; `Int64.max` for never.
  public var expiry: Int64

  /// Creates an entry.
  @inlinable
  public init(_ value: Value, cost: Int = 1, expiry: Int64 = .max) {
    self.value = value
    self.cost = max(0, cost)
    self.expiry = expiry
  }
}
