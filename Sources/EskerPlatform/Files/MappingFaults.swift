import CEskerShims

/// Pages of this process's mappings that could not be read in and were replaced by zeros.
///
/// ``FaultFlag`` tells the same of one mapping. This is for whoever reads what was read before, in any mapping: if the count is still
/// the same after the bytes have been copied, or touched, then none of them is one of those zeros.
///
/// Safety: the count is one atomic word of the process.
public enum MappingFaults {
  /// How many there were since the process began; counted before the zeros can be read. One load, after all that the caller has read
  /// and before all that it reads from then on.
  @inlinable @inline(__always)
  public static var count: UInt32 { esker_guard_faults() }

  /// Touches each page of a range of mapped bytes, at least one, so that every fault it can cause has been counted.
  ///
  /// - Complexity: a load for each 4 KiB; they do not wait for each other.
  ///
  /// Safety: the caller keeps the range mapped; nothing is written.
  @inlinable @inline(__always)
  public static func touch(_ start: UnsafeRawPointer, byteCount: Int) {
    unsafe esker_touch(start, byteCount)
  }
}
