// Little-endian integers at any offset. Reading outside the span is a mistake of the decoder, which has compared every
// length and count with what there is before; the check stays on in release builds.

extension RawSpan {
  func u64(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset <= byteCount - 8)
    // Sound: within bounds, and any eight bytes are an integer.
    return unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  func u32(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset <= byteCount - 4)
    // Sound: as above.
    return unsafe UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  func u16(at offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset <= byteCount - 2)
    // Sound: as above.
    return unsafe UInt16(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  func u8(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    // Sound: as above.
    return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  func i64(at offset: Int) -> Int64 { Int64(bitPattern: u64(at: offset)) }

  /// Where the first byte in `range` that is not zero stands.
  func firstNonzero(in range: Range<Int>) -> Int? {
    range.first { u8(at: $0) != 0 }
  }

  func checksum(of range: Range<Int>) -> UInt32 { CRC32C.checksum(of: extracting(range)) }
}
