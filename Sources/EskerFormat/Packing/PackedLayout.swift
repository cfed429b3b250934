/// Where things stand in a packed segment.
///
/// Records of their own start at multiples of sixteen bytes. Tiny ones share a cell of 1 KiB, which starts at a multiple of
/// 1 KiB, and each has an address of its own in it: the cell's places are dealt out evenly, and lie eight bytes behind a
/// multiple of sixteen. So an address tells which of the two it leads to, and where the cell starts, without any table.
public enum PackedLayout {
  /// Records and dictionary take multiples of this.
  public static let alignment = 16

  /// Bytes of a cell, and what it is aligned to.
  public static let cellLength = 1024

  /// The most records in a cell: the places in it that are not multiples of sixteen.
  public static let cellCapacity = cellLength / alignment

  /// A dictionary has at most this many bytes, as far as LZ4 reaches back.
  public static let maximumDictionaryLength = 65_536

  /// Records of at most this many bytes of key and value share cells.
  public static let tinyLength = 150

  /// The longest value that is compressed; longer ones stay as they are.
  static let maximumCompressedLength = 1 << 24 - 1

  /// Bytes of a packed record's header, without extension words.
  static let recordHeaderLength = 24

  /// Bytes of a cell's header, without the columns.
  static let cellHeaderLength = 52

  /// Stands where a record has kind and flags.
  static let cellMark: UInt8 = 0x0f

  /// Where the first record behind a dictionary stands.
  static func recordsStart(dictionaryLength: Int) -> Int { SegmentHeader.length + dictionaryLength }

  /// Whether an offset lies in a cell.
  static func isInCell(_ offset: Int) -> Bool { offset & 8 != 0 }

  static func roundedUp(_ length: Int) -> Int { (length + alignment - 1) & ~(alignment - 1) }

  /// Where the place for record `index` of `count` begins, counted from the cell's start.
  static func share(_ index: Int, of count: Int) -> Int { index * cellCapacity / count * alignment }

  /// The address of record `index` of `count`, counted from the cell's start.
  static func place(_ index: Int, of count: Int) -> Int { share(index, of: count) + 8 }

  /// Which record of `count` has its place there; nil when none has.
  static func index(ofPlace place: Int, of count: Int) -> Int? {
    let slot = place / alignment
    let index = (slot * count + cellCapacity - 1) / cellCapacity
    return index < count && self.place(index, of: count) == place ? index : nil
  }
}
