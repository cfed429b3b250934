/// The checksum of MMKV's files, which is also that of gzip and zip.
struct CRC32: Equatable {
  private var register = UInt32.max

  /// The checksum of all that was added.
  var value: UInt32 { ~register }

  private static let table: [UInt32] = (0..<256).map { start in
    var entry = UInt32(start)
    for _ in 0..<8 { entry = entry & 1 == 1 ? entry >> 1 ^ 0xEDB8_8320 : entry >> 1 }
    return entry
  }

  mutating func add(_ bytes: Span<UInt8>) {
    let table = Self.table
    var register = register
    for index in 0..<bytes.count {
      register = table[Int(UInt8(truncatingIfNeeded: register) ^ bytes[index])] ^ register >> 8
    }
    self.register = register
  }
}
