public import EskerLog

/// What a salvage has saved, and what it could not.
public struct SalvageReport: Sendable, Hashable {
  /// A range that could not be read, and what it contained, as far as known.
  public struct Loss: Sendable, Hashable {
    /// The file, the segment, the first byte, and the key if known.
    public var location: StoreError.Location
    /// The length of the range in bytes; 0 if something is missing altogether.
    public var length: Int
    /// What is wrong with the range, and with which records, as far as known.
    public var reason: String
    /// How many records were lost with it, or at most were; 0 if none was, or that is not known.
    public var records = 0
    /// Whether an older, intact value of the key was kept instead of the lost one.
    public var keptOlderValue = false
  }

  /// The number of entries in the new store.
  public var entries = 0
  /// The number of entries left out because they had expired.
  public var expired = 0
  /// The number of segment files read.
  public var segments = 0
  /// The number of bytes read in segment files.
  public var bytes = 0
  /// Whether an intact copy of the manifest was found. Without one, keys deleted long ago may reappear, keyspaces have
  /// lost their names and default expiries, and records that a crash had cut off are kept.
  public var foundManifest = true
  /// The number of bytes by which the new store exceeds its capacity. An opening for writing evicts about as much, the
  /// oldest entries first, unless it sets a larger capacity, or `.max` for none. Entries that the damaged store had packed
  /// may take much more: opened with `.max` and its compression, the new store packs them again.
  public var bytesOverCapacity = 0
  /// What could not be read, except superseded records; and what is missing between segments of the log.
  public var losses: [Loss] = []

  /// Whether nothing was lost.
  public var isComplete: Bool { foundManifest && losses.isEmpty }
}
