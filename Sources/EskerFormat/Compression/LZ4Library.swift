// Tests compile this file also against the package's LZ4, on every platform. What is called has the same names there.
#if BUNDLED_LZ4
  internal import CBundledLZ4
#else
  internal import CEskerLZ4
  // Linked where esker_lz4.c includes the system's header: by the same two conditions.
  #if canImport(Glibc) && !BundledLZ4
    internal import CLZ4
  #endif
#endif

/// The calls into LZ4, which is a library of the system or the copy in this package.
///
/// Lengths are those of LZ4: it has none above `Int32.max`. A state is memory of ``stateSize(_:)`` bytes, aligned to 8 or more. Its
/// contents may differ between the libraries, so it is never stored.
///
/// Safety: LZ4's functions never read or write outside the lengths that they are given, whatever the bytes say. The caller gives the
/// true lengths, keeps the buffers during the call, and uses a state only after ``load(_:_:into:)`` for the same level.
package enum LZ4Library {
  /// What one block can take.
  package static let longestSource: Int32 = 0x7e00_0000

  /// The largest compressed size of `count` bytes, or 0 if that is too long for one block.
  package static func bound(_ count: Int32) -> Int32 { esker_lz4_bound(count) }

  /// Decompresses a block into `target`; returns the number of bytes there, negative if the block is damaged or has more than
  /// `capacity` bytes.
  package static func decompress(
    _ block: UnsafeRawPointer,
    _ blockLength: Int32,
    into target: UnsafeMutableRawPointer,
    _ capacity: Int32,
    dictionary: UnsafeRawPointer?,
    _ dictionaryLength: Int32
  ) -> Int32 {
    unsafe esker_lz4_decompress(block, blockLength, target, capacity, dictionary, dictionaryLength)
  }

  /// The number of bytes of a state that compresses at this level.
  package static func stateSize(_ level: LZ4Level) -> Int { esker_lz4_state_size(number(level)) }

  /// Makes memory a state, with a dictionary of which only the last 64 KiB are used. The state refers to the dictionary's bytes, which
  /// must neither move nor change.
  package static func load(
    _ dictionary: UnsafeRawBufferPointer,
    _ level: LZ4Level,
    into state: UnsafeMutableRawBufferPointer
  ) {
    unsafe esker_lz4_load(state.baseAddress, number(level), dictionary.baseAddress, Int32(clamping: dictionary.count))
  }

  /// Compresses a block with a loaded state, which is used up; returns the block's length, or 0 if it is above `capacity`.
  package static func compress(
    _ source: UnsafeRawPointer,
    _ length: Int32,
    into target: UnsafeMutableRawPointer,
    _ capacity: Int32,
    _ level: LZ4Level,
    _ state: UnsafeMutableRawPointer
  ) -> Int32 {
    unsafe esker_lz4_compress(state, number(level), source, length, target, capacity)
  }

  private static func number(_ level: LZ4Level) -> Int32 {
    switch level {
    case .fast: 0
    case .high(let number): number
    }
  }
}
