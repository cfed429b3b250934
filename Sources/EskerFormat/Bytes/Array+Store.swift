// Little-endian integers written into bytes, in place or at the end.

extension [UInt8] {
  mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
    for index in 0..<(value.bitWidth / 8) {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }

  mutating func append(_ value: some FixedWidthInteger) {
    // Safety: the bytes are only read inside the closure.
    unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Appends zeros up to a multiple of eight bytes.
  mutating func pad8() {
    append(contentsOf: repeatElement(0, count: -count & 7))
  }

  /// Calls `body` with the bytes.
  ///
  /// Not through `span`, which arrays do not have on every system that Esker supports.
  @inline(__always)
  func lend<R>(_ body: (ByteRun) -> R) -> R {
    // Safety: the array outlives the closure, and `body` keeps nothing of it.
    unsafe withUnsafeBytes { unsafe body(ByteRun($0)) }
  }

  func checksum(of range: Range<Int>, continuing previous: UInt32 = 0) -> UInt32 {
    lend { $0[range].checksum(continuing: previous) }
  }

  func u32(at offset: Int) -> UInt32 { lend { $0.u32(at: offset) } }
  func u64(at offset: Int) -> UInt64 { lend { $0.u64(at: offset) } }
}
