import CEskerShims

/// The page checksums of an image's section, from its bytes in any pieces.
public struct PageChecksums: Sendable {
  /// A CRC-32C for each page that is complete.
  public private(set) var values: [UInt32] = []
  private var checksum: UInt32 = 0
  private var filled = 0

  /// Starts a section.
  public init() {}

  /// Adds the bytes that follow.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      let part = unsafe rest.prefix(IndexImage.pageByteCount - filled)
      unsafe add(UnsafeRawBufferPointer(rebasing: part))
      unsafe rest = rest.dropFirst(part.count)
    }
  }

  /// Ends the section, and returns how many zero bytes fill up its last page.
  public mutating func finish() -> Int {
    guard filled > 0 else { return 0 }
    let padding = [UInt8](repeating: 0, count: IndexImage.pageByteCount - filled)
    unsafe padding.withUnsafeBytes { unsafe add($0) }
    return padding.count
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    unsafe checksum = esker_crc32c(checksum, bytes.baseAddress, bytes.count)
    filled += bytes.count
    if filled == IndexImage.pageByteCount {
      values.append(checksum)
      checksum = 0
      filled = 0
    }
  }
}
