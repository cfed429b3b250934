internal import EskerFormat

/// A segment that a merge writes, until it is whole. Nobody reads it before. Used by one thread.
protocol MergeOutput: AnyObject {
  func hasRoom(for size: Int) -> Bool

  /// Writes a record, and returns what it is known by until ``settle(_:)``.
  ///
  /// - Parameter bodyChecksum: that of key and value, if it is known.
  func append(
    _ header: RecordHeader,
    key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    bodyChecksum: UInt32?
  ) throws(StoreError) -> UInt64

  /// Writes the rest, syncs, and returns the segment, whose addresses lead to its records from now on. Its name is not
  /// durable yet.
  func finish() throws(StoreError) -> Segment

  /// Says where a record came to lie that `append` returned `move.to` for. The segment is finished.
  func settle(_ move: inout MergeMove)

  /// Gives the file up. The index leads nobody to it, or no more.
  func discard()
}
