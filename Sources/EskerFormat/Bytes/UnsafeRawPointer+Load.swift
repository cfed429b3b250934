extension UnsafeRawPointer {
  /// The little-endian integer that starts `offset` bytes from here, aligned or not.
  ///
  /// Safety: any bytes make an integer; the caller vouches that there are enough of them.
  @inlinable
  @inline(__always)
  func littleEndian<I: FixedWidthInteger & BitwiseCopyable>(_ type: I.Type = I.self, at offset: Int) -> I {
    unsafe I(littleEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
  }
}
