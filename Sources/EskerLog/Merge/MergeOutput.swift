internal import EskerFormat

/// A segment that a merge is writing. It cannot be read before ``finish()``. Used by one thread.
protocol MergeOutput: AnyObject {
  /// Where the file is.
  var path: String { get }

  func hasRoom(for size: Int) -> Bool

  /// Writes a record, and returns a ticket for ``settle(_:)``. Keeps neither pointer.
  ///
  /// - Parameters:
  ///   - bodyChecksum: The checksum of key and value, if known.
  ///   - isWarm: Whether look-ups use the record, so that it is to stay in memory.
  func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32?,
    isWarm: Bool
  ) throws(StoreError) -> UInt64

  /// Writes the rest, syncs, and returns the segment, whose addresses resolve from now on. Its name is not durable yet.
  func finish() throws(StoreError) -> Segment

  /// Replaces the ticket in `move.to` by the record's address. The segment must be finished.
  func settle(_ move: inout MergeMove)

  /// Removes the file. The index must not point to it, or no longer.
  func discard()
}
