extension Options {
  /// When the store merges, that is, reclaims the space of records that were replaced, removed or expired.
  ///
  /// The defaults suit most stores.
  public struct Merge: Sendable {
    /// Whether the store merges automatically, on a background thread. True by default.
    /// ``LogStore/merge(segments:progress:)`` works either way.
    public var isAutomatic = true

    /// The bytes of records per byte of live records above which the store merges. A higher value means less copying and
    /// more space. At least 1.1; 1.4 by default. With infinity, only segments without live records are merged. Opening a
    /// store with NaN fails.
    public var spaceAmplification = 1.4

    /// The most bytes that a merge copies per second; nil, the default, means no limit. Writers that outpace the limit are
    /// slowed down too. At least 1: opening a store with less fails.
    public var bytesPerSecond: Int?

    /// Decides whether a background merge may begin now, for instance to confine merging to certain hours. Nil, the
    /// default, means always. Called on one of the store's threads; it must not call the store.
    public var window: (@Sendable (WallTime) -> Bool)?

    /// Creates the default options.
    public init() {}
  }
}
