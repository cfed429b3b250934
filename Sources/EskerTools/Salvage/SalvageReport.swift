public import EskerLog

/// What a salvage brought to safety, and what it could not.
public struct SalvageReport: Sendable, Hashable {
  /// A range that could not be read, and what it held as far as that is known.
  public struct Loss: Sendable, Hashable {
    /// Where: file, segment, first byte, and the key if it is known.
    public var location: DamageLocation
    /// Bytes of the range; 0 when something is missing altogether.
    public var length: Int
    /// What is wrong with it.
    public var reason: String
    /// An older value of the key is intact and was kept in place of the one that is lost.
    public var keptOlderValue = false
  }

  /// Entries in the new store.
  public var entries = 0
  /// Entries that had expired, and were left behind.
  public var expired = 0
  /// Segment files that were read.
  public var segments = 0
  /// Bytes of them.
  public var bytes = 0
  /// Whether a copy of the manifest was whole. Without one, keys that were deleted long ago may be back, keyspaces have lost
  /// their names and default expiries, and what a crash had cut off is kept.
  public var foundManifest = true
  /// What could not be read, apart from records that were superseded; and what is missing between segments of the log.
  public var losses: [Loss] = []

  /// Whether nothing was lost.
  public var isComplete: Bool { foundManifest && losses.isEmpty }
}
