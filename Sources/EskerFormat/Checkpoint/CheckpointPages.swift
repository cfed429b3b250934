/// The page table of a checkpoint: a checksum for each page of lines, so that a page is verified when it is first used.
public enum CheckpointPages {
  /// The checksum of one page. Safety: the caller keeps its 4,096 bytes during the call.
  @inlinable
  public static func checksum(ofPageAt page: UnsafeRawPointer) -> UInt32 {
    unsafe CRC32C.checksum(of: UnsafeRawBufferPointer(start: page, count: 4096))
  }

  /// Compares a page table, of four bytes for each page, with what the header says of it.
  ///
  /// - Throws: ``FormatError/damaged(reason:offset:)``.
  public static func verify(_ table: RawSpan, _ header: CheckpointHeader) throws(FormatError) {
    let layout = header.layout
    guard table.byteCount == layout.pageTableLength, CRC32C.checksum(of: table) == header.pageTableChecksum else {
      throw .damaged(reason: "the page table's checksum does not match", offset: Int(layout.pageTableOffset))
    }
  }
}
