// Little-endian integers at any offset. Reading outside the span is a bug in the decoder, which must first compare every
// length and count with the bytes available; the check stays on in release builds.

extension RawSpan {
  func u64(at offset: Int) -> UInt64 { load(at: offset) }
  func u32(at offset: Int) -> UInt32 { load(at: offset) }
  func u16(at offset: Int) -> UInt16 { load(at: offset) }
  func u8(at offset: Int) -> UInt8 { load(at: offset) }

  @inline(__always)
  private func load<I: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> I {
    precondition(offset >= 0 && offset <= byteCount - MemoryLayout<I>.size)
    // Safety: within bounds, and any bytes make an integer.
    return unsafe I(littleEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: I.self))
  }

  func i64(at offset: Int) -> Int64 { Int64(bitPattern: u64(at: offset)) }

  /// The offset of the first nonzero byte in `range`.
  func firstNonzero(in range: Range<Int>) -> Int? {
    range.first { u8(at: $0) != 0 }
  }

  func checksum(of range: Range<Int>) -> UInt32 { CRC32C.checksum(of: extracting(range)) }
}
