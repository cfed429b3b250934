import CZlib

/// The checksum of MMKV's files, which is also that of gzip and zip: zlib's.
struct CRC32: Equatable {
  /// The checksum of all that was added.
  private(set) var value: UInt32 = 0

  mutating func add(_ bytes: Span<UInt8>) {
    // Of no bytes, zlib would begin anew.
    guard !bytes.isEmpty else { return }
    // Safety: it reads as many bytes as it is told, which the span has.
    value = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe UInt32(truncatingIfNeeded: crc32_z(uLong(value), bytes.baseAddress, bytes.count))
    }
  }
}
