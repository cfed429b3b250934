public import EskerPlatform

// Tests hold their own locks around whatever they like.

extension Lock {
  /// A lock of a test's own.
  public init() { self.init(.unranked) }
}

extension Guarded where State: ~Copyable {
  /// A value of a test's own.
  public init(_ state: consuming sending State) { self.init(state, .unranked) }
}
