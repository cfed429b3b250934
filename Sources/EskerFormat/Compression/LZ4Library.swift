// Where LZ4 comes from: on Apple's platforms from the copy in this package, elsewhere from the system. The manifest makes this module
// depend on one of the two; what is called has the same names in both.
#if canImport(CEskerLZ4)
  internal import CEskerLZ4
#else
  internal import CLZ4
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
  package static func bound(_ count: Int32) -> Int32 { LZ4_compressBound(count) }

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
    unsafe LZ4_decompress_safe_usingDict(
      block.assumingMemoryBound(to: CChar.self),
      target.assumingMemoryBound(to: CChar.self),
      blockLength,
      capacity,
      dictionary?.assumingMemoryBound(to: CChar.self),
      dictionaryLength
    )
  }

  /// The number of bytes of a state that compresses at this level.
  package static func stateSize(_ level: LZ4Level) -> Int {
    switch level {
    case .fast: unsafe MemoryLayout<LZ4_stream_t>.size
    case .high: unsafe MemoryLayout<LZ4_streamHC_t>.size
    }
  }

  /// Makes memory a state, with a dictionary of which only the last 64 KiB are used. The state refers to the dictionary's bytes, which
  /// must neither move nor change.
  package static func load(
    _ dictionary: UnsafeRawBufferPointer,
    _ level: LZ4Level,
    into state: UnsafeMutableRawBufferPointer
  ) {
    let start = unsafe dictionary.baseAddress?.assumingMemoryBound(to: CChar.self)
    let count = Int32(clamping: dictionary.count)
    switch level {
    case .fast:
      let stream = unsafe LZ4_initStream(state.baseAddress, state.count)
      unsafe LZ4_loadDict(stream, start, count)
    case .high(let number):
      let stream = unsafe LZ4_initStreamHC(state.baseAddress, state.count)
      unsafe LZ4_resetStreamHC_fast(stream, number)
      unsafe LZ4_loadDictHC(stream, start, count)
    }
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
    let start = unsafe source.assumingMemoryBound(to: CChar.self)
    let target = unsafe target.assumingMemoryBound(to: CChar.self)
    return switch level {
    case .fast:
      unsafe LZ4_compress_fast_continue(
        state.assumingMemoryBound(to: LZ4_stream_t.self),
        start,
        target,
        length,
        capacity,
        1
      )
    case .high:
      unsafe LZ4_compress_HC_continue(
        state.assumingMemoryBound(to: LZ4_streamHC_t.self),
        start,
        target,
        length,
        capacity
      )
    }
  }
}
