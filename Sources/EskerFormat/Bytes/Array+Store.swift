// Little-endian integers written into bytes, in place or at the end.

extension [UInt8] {
  mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
    for index in 0..<(value.bitWidth / 8) {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }

  mutating func append(_ value: some FixedWidthInteger) {
    // Sound: the bytes of an integer are read while it stands.
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Zeros up to a multiple of eight bytes.
  mutating func pad8() {
    append(contentsOf: repeatElement(0, count: -count & 7))
  }

  // Sound: bytes have no padding to expose.
  func checksum(of range: Range<Int>) -> UInt32 { unsafe span.bytes.checksum(of: range) }
}
