/// The checksum of RDB files: the polynomial of Jones, reflected, from 0.
struct CRC64 {
  private(set) var value: UInt64 = 0

  private static let table: [UInt64] = (0..<256).map { start in
    var entry = UInt64(start)
    for _ in 0..<8 { entry = entry & 1 == 1 ? entry >> 1 ^ 0x95AC_9329_AC4B_C9B5 : entry >> 1 }
    return entry
  }

  mutating func add(_ bytes: Span<UInt8>) {
    let table = Self.table
    var value = value
    for index in 0..<bytes.count { value = table[Int(UInt8(truncatingIfNeeded: value) ^ bytes[index])] ^ value >> 8 }
    self.value = value
  }
}
