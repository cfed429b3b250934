public import EskerPlatform

// Tests may hold their own locks around anything.

extension Lock {
  /// Creates a test's own lock.
  public init() { self.init(.unranked) }
}

extension Guarded where State: ~Copyable {
  /// Creates a test's own guarded value.
  public init(_ state: consuming sending State) { self.init(state, .unranked) }
}
