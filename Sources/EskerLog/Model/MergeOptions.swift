/// When the store merges: when it gives up the space of records that were replaced, removed or expired.
///
/// The defaults need no thought.
public struct MergeOptions: Sendable {
  /// Whether the store merges by itself, on a thread of its own. True by default. ``LogStore/merge(segments:progress:)``
  /// works either way.
  public var isAutomatic = true

  /// Bytes of records that each byte of live records may take before the store merges. More means less copying and more
  /// space. At least 1.1; 1.4 by default. With infinity, only segments in which nothing is alive are merged. What is no number
  /// is refused when the store is opened.
  public var spaceAmplification = 1.4

  /// Bytes a merge copies in a second at most; nil, the default, for as fast as it can. With a limit that writers outpace,
  /// they are slowed down too. At least 1; less is refused when the store is opened.
  public var bytesPerSecond: Int?

  /// Asked before each merge in the background whether it may begin, so that merging can be left to certain hours. Nil, the
  /// default, is always. Called on the store's own thread; it must not call the store.
  public var window: (@Sendable (WallTime) -> Bool)?

  /// The default options.
  public init() {}
}
