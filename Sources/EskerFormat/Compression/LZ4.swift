/// The compression level.
public enum LZ4Level: Hashable, Sendable {
  /// For data compressed while a caller waits.
  case fast
  /// For data compressed in the background; from 3 to 12. Level 4 gives most of the ratio in half the time.
  case high(Int32)
}

/// Decompression of untrusted LZ4 blocks.
///
/// Safety: the caller keeps the buffers during the call. ``LZ4Library`` never reads or writes outside the lengths it is given,
/// whatever the block says.
public enum LZ4 {
  /// The largest compressed size of `count` bytes, or `nil` if that is too long for one block.
  public static func bound(_ count: Int) -> Int? {
    guard let count = Int32(exactly: count) else { return nil }
    let bound = LZ4Library.bound(count)
    return bound > 0 ? Int(bound) : nil
  }

  /// Decompresses a block that was compressed with this dictionary; returns whether it filled `destination` exactly.
  ///
  /// Whatever the block contains, nothing outside the three buffers is touched. If the result is `false`, the contents of
  /// `destination` are unspecified.
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
    // An empty value compresses to a block with a single zero token.
    guard let target = destination.baseAddress, capacity > 0 else {
      return unsafe blockLength == 1 && block[0] == 0
    }
    // A block reaches back at most 64 KiB, and the function takes 32-bit lengths.
    let window = unsafe UnsafeRawBufferPointer(rebasing: dictionary.suffix(65_536))
    let written = unsafe LZ4Library.decompress(
      source,
      blockLength,
      into: target,
      capacity,
      dictionary: window.baseAddress,
      Int32(window.count)
    )
    return written == capacity
  }
}
