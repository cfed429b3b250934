/// The layout of a packed segment.
///
/// Larger records start at multiples of sixteen bytes. Tiny ones share a cell of 1 KiB, aligned to 1 KiB, in which each has
/// its own address: the addresses are spread evenly over the cell, eight bytes past a multiple of sixteen. So the address
/// alone says which of the two it is, and where the cell starts.
public enum PackedLayout {
  /// Records and dictionary take multiples of this many bytes.
  public static let alignment = 16

  /// The length and alignment of a cell in bytes.
  public static let cellLength = 1024

  /// The most records in a cell: one for each odd multiple of eight bytes.
  public static let cellCapacity = cellLength / alignment

  /// The longest dictionary in bytes: LZ4 reaches back no further.
  public static let maximumDictionaryLength = 65_536

  /// Records with at most this many bytes of key and value share cells.
  public static let tinyLength = 150

  /// The longest value to be compressed.
  static let maximumCompressedLength = 1 << 24 - 1

  /// The most records that can be in a range of a packed segment in which no cell begins before the range.
  static func mostRecords(in range: Range<Int>) -> Int {
    func cellsBefore(_ offset: Int) -> Int { (offset + cellLength - 1) / cellLength }
    let cells = cellsBefore(range.upperBound) - cellsBefore(range.lowerBound)
    return cells * cellCapacity + max(0, range.count - cells * cellLength) / roundedUp(recordHeaderLength)
  }

  /// The length in bytes of a packed record's header, without extension words.
  static let recordHeaderLength = 24

  /// The length in bytes of a cell's header, without the columns.
  static let cellHeaderLength = 52

  /// The plain bytes that a group of values in a cell is to have: a look-up decompresses a group, and longer ones compress better.
  package static let groupLength = 768

  /// The length in bytes of a group's checksum and end.
  static let groupHeaderLength = 6

  /// Stored in place of a record's kind and flags.
  static let cellMark: UInt8 = 0x1f

  /// The mark of a cell whose values are one group, as cells were written before.
  static let wholeCellMark: UInt8 = 0x0f

  /// Where the first record after a dictionary starts.
  static func recordsStart(dictionaryLength: Int) -> Int { SegmentHeader.length + dictionaryLength }

  package static func isInCell(_ offset: Int) -> Bool { offset & 8 != 0 }

  static func roundedUp(_ length: Int) -> Int { (length + alignment - 1) & ~(alignment - 1) }

  /// Where the share of record `index` of `count` begins, from the start of the cell.
  static func share(_ index: Int, of count: Int) -> Int { index * cellCapacity / count * alignment }

  /// The address of record `index` of `count`, from the start of the cell.
  static func place(_ index: Int, of count: Int) -> Int { share(index, of: count) + 8 }

  /// The index of the record with this address, out of `count`; nil if there is none.
  static func index(ofPlace place: Int, of count: Int) -> Int? {
    let slot = place / alignment
    let index = (slot * count + cellCapacity - 1) / cellCapacity
    return index < count && self.place(index, of: count) == place ? index : nil
  }
}
