internal import CLZ4

/// How hard to compress.
public enum LZ4Level: Hashable, Sendable {
  /// For what is compressed while somebody waits.
  case fast
  /// For what is compressed in the background; from 3 to 12, of which 4 has most of the ratio in half of the time.
  case high(Int32)
}

/// LZ4 blocks, decompressed from bytes that nobody vouches for.
///
/// Safety: the caller keeps the buffers during the call. liblz4's function never reads or writes outside the lengths it is
/// given, whatever the block says.
public enum LZ4 {
  /// Bytes that suffice for a compressed block of `count` bytes, or `nil` when that is too long for one block.
  public static func bound(_ count: Int) -> Int? {
    guard let count = Int32(exactly: count) else { return nil }
    let bound = LZ4_compressBound(count)
    return bound > 0 ? Int(bound) : nil
  }

  /// Decompresses a block that was compressed with this dictionary; returns whether it filled `destination` exactly.
  ///
  /// Whatever the block is, nothing outside the three buffers is touched. `destination` has unspecified contents when
  /// the result is `false`.
  ///
  /// - Complexity: O(n); 0.05 to 0.7 microseconds for records of 50 bytes to 1 KB.
  public static func decompress(
    _ block: UnsafeRawBufferPointer,
    into destination: UnsafeMutableRawBufferPointer,
    dictionary: UnsafeRawBufferPointer
  ) -> Bool {
    guard let source = block.baseAddress, let blockLength = Int32(exactly: block.count),
      let capacity = Int32(exactly: destination.count)
    else { return false }
    // An empty value is a block of one token that stands for nothing.
    guard let target = destination.baseAddress, capacity > 0 else {
      return unsafe blockLength == 1 && block[0] == 0
    }
    // A block reaches back at most 64 KiB, and the function counts in 32 bits.
    let window = unsafe UnsafeRawBufferPointer(rebasing: dictionary.suffix(65_536))
    let written = unsafe LZ4_decompress_safe_usingDict(
      source.assumingMemoryBound(to: CChar.self),
      target.assumingMemoryBound(to: CChar.self),
      blockLength,
      capacity,
      window.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(window.count)
    )
    return written == capacity
  }
}
