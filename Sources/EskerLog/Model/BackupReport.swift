/// What a backup holds, and what it cost.
public struct BackupReport: Sendable, Hashable {
  /// The last write the backup holds; it holds every one up to there.
  public var sequence: SequenceNumber
  /// Segment files of the backup.
  public var segments: Int
  /// Those of them that are second names of files that were there before, and took no space.
  public var sharedSegments: Int
  /// Bytes of all segments.
  public var bytes: Int
  /// Bytes that were copied.
  public var copiedBytes: Int
}
