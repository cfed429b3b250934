import EskerFormat

// Numbers in inputs, and their checksums. Whoever asks has compared the length.

extension [UInt8] {
  func number<I: FixedWidthInteger & UnsignedInteger>(_ type: I.Type = I.self, at offset: Int) -> I {
    self[offset..<offset + MemoryLayout<I>.size].reversed().reduce(0) { $0 << 8 | I($1) }
  }

  mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
    for index in 0..<value.bitWidth / 8 { self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
  }

  mutating func append(_ value: some FixedWidthInteger) {
    for index in 0..<value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }

  func checksum(of range: Range<Int>, continuing previous: UInt32 = 0) -> UInt32 {
    CRC32C.checksum(of: span.bytes.extracting(range), continuing: previous)
  }
}
