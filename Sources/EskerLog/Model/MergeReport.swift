/// What a merge did.
public struct MergeReport: Sendable, Hashable {
  /// Segments that were given up.
  public var segmentsRemoved = 0
  /// Segments that were written.
  public var segmentsWritten = 0
  /// Bytes of records in the segments that were given up.
  public var bytesRead = 0
  /// Bytes of records that were copied.
  public var bytesWritten = 0
  /// Live records that were given up to keep to the capacity.
  public var recordsEvicted = 0
  /// Their bytes.
  public var bytesEvicted = 0

  /// Bytes of records that are gone.
  public var bytesFreed: Int { bytesRead - bytesWritten }
}
