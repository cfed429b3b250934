/// The page table of a checkpoint: a checksum for each page of lines, so that a page is verified when it is first used.
///
/// Safety: callers keep the pages, whole ones of 4,096 bytes, during the call.
public enum CheckpointPages {
  /// The checksum of one page.
  @inlinable
  public static func checksum(ofPageAt page: UnsafeRawPointer) -> UInt32 {
    unsafe CRC32C.checksum(of: UnsafeRawBufferPointer(start: page, count: 4096))
  }

  /// Appends the checksums of whole pages to a page table.
  public static func append(checksumsOf pages: UnsafeRawBufferPointer, to table: inout [UInt8]) {
    precondition(pages.count % CheckpointHeader.pageSize == 0)
    guard let base = pages.baseAddress else { return }
    for offset in stride(from: 0, to: pages.count, by: CheckpointHeader.pageSize) {
      table.append(unsafe checksum(ofPageAt: base + offset))
    }
  }

  /// Decodes the checksums in a page table.
  ///
  /// - Throws: ``FormatError/damaged(reason:offset:)`` if the table does not match the header.
  public static func decode(_ table: RawSpan, header: CheckpointHeader) throws(FormatError) -> [UInt32] {
    guard table.byteCount == header.layout.pageTableLength else {
      throw .damaged(reason: "the page table's length does not match", offset: table.byteCount)
    }
    guard CRC32C.checksum(of: table) == header.pageTableChecksum else {
      throw .damaged(reason: "the page table's checksum does not match", offset: 0)
    }
    return (0..<(table.byteCount / 4)).map { table.u32(at: $0 * 4) }
  }
}
