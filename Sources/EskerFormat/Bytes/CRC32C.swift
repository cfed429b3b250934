public import CEskerShims

/// CRC-32C, the checksum of everything on disk.
///
/// Safety: the C function reads as many bytes as it is told to, and the caller keeps them during the call.
public enum CRC32C {
  /// The checksum of `bytes`, continuing from the checksum `previous` of the bytes before them.
  ///
  /// - Complexity: O(n); about 19 GB/s with the processor's instruction.
  @inlinable
  public static func checksum(of bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0) -> UInt32 {
    unsafe esker_crc32c(previous, bytes.baseAddress, bytes.count)
  }

  /// The checksum of `bytes`, continuing from the checksum `previous` of the bytes before them.
  ///
  /// - Complexity: O(n); about 19 GB/s with the processor's instruction.
  public static func checksum(of bytes: RawSpan, continuing previous: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe checksum(of: $0, continuing: previous) }
  }

  /// The checksum of the eight bytes of a little-endian word.
  static func checksum(ofWord word: UInt64) -> UInt32 { ~esker_crc32c_word(~0, word) }
}
