import CEskerShims

/// The page checksums of an image's section, computed from its bytes in pieces of any size.
public struct PageChecksums: Sendable {
  /// A CRC-32C for each complete page.
  public private(set) var values: [UInt32] = []
  private var checksum: UInt32 = 0
  private var filled = 0

  /// Starts a section.
  public init() {}

  /// Adds the next bytes.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // Safety: the caller keeps the bytes until this returns.
    add(unsafe bytes.bytes)
  }

  /// Ends the section; returns the number of zero bytes that fill its last page.
  public mutating func finish() -> Int {
    guard filled > 0 else { return 0 }
    let padding = [UInt8](repeating: 0, count: IndexImage.pageByteCount - filled)
    // Safety: the array outlives the closure.
    unsafe padding.withUnsafeBytes { unsafe append($0) }
    return padding.count
  }

  private mutating func add(_ bytes: RawSpan) {
    var start = 0
    while start < bytes.byteCount {
      let part = bytes.extracting(start..<min(bytes.byteCount, start + IndexImage.pageByteCount - filled))
      // Safety: the C function reads exactly the bytes of the span.
      checksum = unsafe part.withUnsafeBytes { unsafe esker_crc32c(checksum, $0.baseAddress, $0.count) }
      start += part.byteCount
      filled += part.byteCount
      if filled == IndexImage.pageByteCount {
        values.append(checksum)
        checksum = 0
        filled = 0
      }
    }
  }
}
