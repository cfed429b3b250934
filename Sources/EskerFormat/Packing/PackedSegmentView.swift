/// A packed segment in memory: finds records by offset, and iterates over all of them.
///
/// Whatever the bytes are, nothing outside them is read. The view borrows the memory: the creator keeps it alive and
/// unchanged.
///
/// Safety: the creator promises `end` bytes. Every part that is asked for has been checked against `end`, or against the
/// length of a cell that lies before it; debug builds check again.
@safe
public struct PackedSegmentView {
  let base: UnsafeRawPointer
  let end: Int
  /// The segment's salt.
  public let salt: UInt32
  let dictionaryLength: Int

  /// Creates a view of a segment.
  ///
  /// - Parameters:
  ///   - base: The first byte of the file; aligned to eight bytes.
  ///   - end: How many bytes may be read, up to the end of the records.
  ///   - salt: The segment's salt.
  ///   - dictionaryLength: The length in bytes of the dictionary.
  public init(base: UnsafeRawPointer, end: Int, salt: UInt32, dictionaryLength: Int) {
    unsafe self.base = base
    self.end = end
    self.salt = salt
    self.dictionaryLength = dictionaryLength
  }

  /// Where the first record starts.
  public var recordsStart: Int { PackedLayout.recordsStart(dictionaryLength: dictionaryLength) }

  /// The dictionary that the records were compressed against.
  public var dictionary: UnsafeRawBufferPointer {
    let count = recordsStart <= end ? dictionaryLength : 0
    return unsafe UnsafeRawBufferPointer(start: base + SegmentHeader.length, count: count)
  }

  /// The record that an offset in the index refers to; nil if the bytes there make no sense.
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

  func bytes(_ range: Range<Int>) -> ByteRun {
    assert(range.lowerBound >= 0 && range.upperBound <= end)
    return unsafe ByteRun(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
  }

  /// The offset of a part of the segment; nil for an empty part without an address.
  func offset(of run: ByteRun) -> Int? { unsafe run.pointer.baseAddress.map { unsafe $0 - base } }

  func u64(_ offset: Int) -> UInt64 { load(offset) }
  func u32(_ offset: Int) -> UInt32 { load(offset) }
  func u16(_ offset: Int) -> UInt16 { load(offset) }
  func u8(_ offset: Int) -> UInt8 { load(offset) }

  @inline(__always)
  private func load<I: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> I {
    assert(offset >= 0 && offset <= end - MemoryLayout<I>.size)
    return unsafe base.littleEndian(at: offset)
  }
}
