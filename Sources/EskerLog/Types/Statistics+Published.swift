extension Statistics {
  /// Statistics of a store that is open for writing in another process, as last published by that process.
  ///
  /// A store publishes with ``Options/statisticsInterval``.
  public struct Published: Sendable, Hashable {
    /// The process that has the store open.
    public var processID: Int32
    /// When the process opened the store, by the wall clock.
    public var openedAt: WallTime
    /// When the statistics were gathered, by the wall clock.
    public var publishedAt: WallTime
    /// How long the store had been open then, by a monotonic clock: use differences of it to compute rates.
    public var uptime: Duration
    /// How often the process publishes. If the statistics are much older, the process hangs.
    public var interval: Duration
    /// The statistics. Segments and keyspaces are not listed, only counted in the properties below.
    public var statistics: Statistics
    /// The number of segments.
    public var segmentCount: Int
    /// How many of the segments take no more records.
    public var sealedSegmentCount: Int
    /// How many of the segments are packed.
    public var packedSegmentCount: Int
    /// The number of keyspaces, including the default one.
    public var keyspaceCount: Int
  }
}
