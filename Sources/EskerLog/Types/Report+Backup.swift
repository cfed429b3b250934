extension Report {
  /// What a backup contains, and how much it copied.
  public struct Backup: Sendable, Hashable {
    /// The last write in the backup, which contains every write up to it.
    public var sequence: SequenceNumber
    /// The number of segment files in the backup.
    public var segments: Int
    /// How many of them are hard links to existing files, which take no space.
    public var sharedSegments: Int
    /// The size of all segments, in bytes.
    public var bytes: Int
    /// Bytes that were copied.
    public var copiedBytes: Int
  }
}
