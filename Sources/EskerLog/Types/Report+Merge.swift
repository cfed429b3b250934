extension Report {
  /// What a merge did.
  public struct Merge: Sendable, Hashable {
    /// The number of segments removed.
    public var segmentsRemoved = 0
    /// The number of segments written.
    public var segmentsWritten = 0
    /// Bytes of records in the segments that were removed.
    public var bytesRead = 0
    /// Bytes of records that were copied.
    public var bytesWritten = 0
    /// The number of live records evicted to stay within the capacity.
    public var recordsEvicted = 0
    /// Bytes of those records.
    public var bytesEvicted = 0

    /// Bytes of records reclaimed.
    public var bytesFreed: Int { bytesRead - bytesWritten }
  }
}
