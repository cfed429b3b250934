/// A packed segment in memory: finds records by their offset, and walks over all of them.
///
/// Whatever the bytes are, nothing outside them is read. The view borrows the memory: the maker keeps it alive and
/// unchanged.
@safe
public struct PackedSegmentView {
  let base: UnsafeRawPointer
  let end: Int
  /// The segment's salt.
  public let salt: UInt32
  let dictionaryLength: Int

  /// A view of a segment.
  ///
  /// - Parameters:
  ///   - base: The first byte of the file; aligned to eight bytes.
  ///   - end: How many bytes may be read, up to the end of the records.
  ///   - salt: The segment's salt.
  ///   - dictionaryLength: Bytes of the dictionary.
  public init(base: UnsafeRawPointer, end: Int, salt: UInt32, dictionaryLength: Int) {
    unsafe self.base = base
    self.end = end
    self.salt = salt
    self.dictionaryLength = dictionaryLength
  }

  /// Where the first record stands.
  public var recordsStart: Int { PackedLayout.recordsStart(dictionaryLength: dictionaryLength) }

  /// What the records were compressed against.
  public var dictionary: UnsafeRawBufferPointer {
    let count = recordsStart <= end ? dictionaryLength : 0
    return unsafe UnsafeRawBufferPointer(start: base + SegmentHeader.length, count: count)
  }

  /// The record that an offset leads to; nil when what stands there makes no sense.
  ///
  /// - Complexity: O(1); in a cell, O(number of its records).
  public func entry(at offset: Int) -> PackedEntry? {
    guard offset >= recordsStart, offset < end else { return nil }
    guard PackedLayout.isInCell(offset) else { return record(at: offset) }
    let start = offset & ~(PackedLayout.cellLength - 1)
    guard let cell = cell(at: start), let index = PackedLayout.index(ofPlace: offset - start, of: cell.count) else {
      return nil
    }
    return cell.entry(index)
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  func u64(_ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  func u32(_ offset: Int) -> UInt32 {
    unsafe UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  func u16(_ offset: Int) -> UInt16 {
    unsafe UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  func u8(_ offset: Int) -> UInt8 {
    unsafe base.load(fromByteOffset: offset, as: UInt8.self)
  }
}
