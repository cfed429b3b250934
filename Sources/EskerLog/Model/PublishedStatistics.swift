/// Figures about a store that is open for writing in another process, as that process last published them.
///
/// A store publishes with ``Options/statisticsInterval``.
public struct PublishedStatistics: Sendable, Hashable {
  /// The process that has the store open.
  public var processID: Int32
  /// When it opened the store, by the wall clock.
  public var openedAt: WallTime
  /// When the figures were gathered, by the wall clock.
  public var publishedAt: WallTime
  /// How long the store had been open then, by a clock that nobody sets: differences of it are what rates are made of.
  public var uptime: Duration
  /// How often the process publishes. Figures that are much older are of one that ended without closing the store, or that
  /// stands still.
  public var interval: Duration
  /// The figures. Segments and keyspaces are counted below and not listed.
  public var statistics: Statistics
  /// How many segments there are.
  public var segmentCount: Int
  /// How many of them take no more records.
  public var sealedSegmentCount: Int
  /// How many of them are packed.
  public var packedSegmentCount: Int
  /// Keyspaces, the default one included.
  public var keyspaceCount: Int
  /// ``Options/capacity`` of the store; nil: without a limit.
  public var capacity: Int?
}
