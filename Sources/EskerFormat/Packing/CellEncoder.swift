/// Encodes tiny records into cells.
struct CellEncoder {
  /// Values that are compressed together, as they are stored.
  private struct Group {
    var stored: [UInt8]
    var plainLength: Int
    var checksum: UInt32
  }

  private var packed = [UInt8](repeating: 0, count: PackedLayout.cellLength)
  /// The records in a group, and the groups that are full, from the first record on: each is compressed once.
  private var groupCount = 1
  private var groups: [Group] = []
  /// The number of records in the previous cell: the first guess for the next.
  private var lastCount = PackedLayout.cellCapacity / 2

  /// The cell with as many of the first records as fit, and their number; nil without records.
  ///
  /// Each attempt compresses the last group. Neighbouring cells hold about as many records, so few attempts are needed.
  mutating func encode(
    _ tiny: TinyRecords,
    _ compressor: inout LZ4Compressor
  ) -> (cell: [UInt8], count: Int)? {
    var best: (cell: [UInt8], count: Int)?
    var low = 1
    var high = min(tiny.records.count, PackedLayout.cellCapacity)
    var count = min(lastCount, high)
    groups = []
    groupCount = Self.groupCount(tiny.records.prefix(high))
    while low <= high {
      if let cell = cell(tiny, count, &compressor) {
        best = (cell, count)
        low = count + 1
        count = min(count + max(1, (high - count + 3) / 4), high)
      } else {
        high = count - 1
        count = max(low, (low + high + 1) / 2)
      }
    }
    if let best { lastCount = best.count }
    return best
  }

  /// The records in a group, so that its values have about as many bytes as a group is to have.
  private static func groupCount(_ records: ArraySlice<TinyRecords.Record>) -> Int {
    let length = records.reduce(0) { $0 + Int($1.header.valueLength) }
    return min(max(1, PackedLayout.groupLength * records.count / max(1, length)), PackedLayout.cellCapacity)
  }

  /// The cell of the first `count` records, without its header's checksum; nil if they do not fit.
  private mutating func cell(_ tiny: TinyRecords, _ count: Int, _ compressor: inout LZ4Compressor) -> [UInt8]? {
    let records = tiny.records.prefix(count)
    let groupsLength = (count + groupCount - 1) / groupCount * PackedLayout.groupHeaderLength
    var cell = [UInt8](repeating: 0, count: PackedLayout.cellHeaderLength + groupsLength)
    for column in CellColumn.allCases {
      let numbers = records.enumerated().map { column.number(of: $1.header, at: $0) }
      Self.append(column, numbers, to: &cell)
    }
    let prefix = Self.commonPrefix(records.map(tiny.key))
    cell += prefix
    for record in records { cell += tiny.key(record).dropFirst(prefix.count) }
    guard cell.count <= PackedLayout.cellLength else { return nil }

    let headLength = cell.count
    var plainLength = 0
    for number in 0..<groupsLength / PackedLayout.groupHeaderLength {
      let group = group(number, of: records, tiny, &compressor)
      guard cell.count + group.stored.count <= PackedLayout.cellLength else { return nil }
      cell += group.stored
      plainLength += group.plainLength
      let place = PackedLayout.cellHeaderLength + number * PackedLayout.groupHeaderLength
      cell.store(group.checksum, at: place)
      cell.store(UInt16(cell.count - headLength), at: place + 4)
    }
    cell.store(UInt32(groupCount), at: 4)
    cell.store(UInt16(headLength), at: 8)
    cell.store(UInt16(cell.count - headLength), at: 10)
    cell.store(UInt16(plainLength), at: 12)
    cell[14] = UInt8(count)
    cell[15] = PackedLayout.cellMark
    cell[22] = UInt8(prefix.count)
    cell += repeatElement(0, count: PackedLayout.cellLength - cell.count)
    return cell
  }

  /// A group of the first records, compressed if that makes it shorter.
  private mutating func group(
    _ number: Int,
    of records: ArraySlice<TinyRecords.Record>,
    _ tiny: TinyRecords,
    _ compressor: inout LZ4Compressor
  ) -> Group {
    let members = records.dropFirst(number * groupCount).prefix(groupCount)
    let isFull = members.count == groupCount
    if isFull, number < groups.count { return groups[number] }
    var plain: [UInt8] = []
    for record in members { plain += tiny.value(record) }
    // What takes more than a cell does not fit, compressed or not.
    let capacity = max(0, min(packed.count, plain.count - 1))
    let length = plain.lend { compressor.compress($0, into: &packed, capacity: capacity) }
    let group = Group(
      stored: length.map { Array(packed[..<$0]) } ?? plain,
      plainLength: plain.count,
      checksum: plain.checksum(of: 0..<plain.count)
    )
    if isFull { groups.append(group) }
    return group
  }

  private static func append(_ column: CellColumn, _ numbers: [UInt64], to cell: inout [UInt8]) {
    let base = numbers.min() ?? 0
    let spread = (numbers.max() ?? 0) - base
    let width =
      switch spread {
      case 0: 0
      case ..<(1 << 8): 1
      case ..<(1 << 16): 2
      case ..<(1 << 32): 4
      default: 8
      }
    cell[CellColumn.widthsOffset + column.rawValue] = UInt8(width)
    for byte in 0..<column.baseLength { cell[column.baseOffset + byte] = UInt8(truncatingIfNeeded: base >> (8 * byte)) }
    for number in numbers {
      for byte in 0..<width { cell.append(UInt8(truncatingIfNeeded: (number - base) >> (8 * byte))) }
    }
  }

  private static func commonPrefix(_ keys: [ArraySlice<UInt8>]) -> ArraySlice<UInt8> {
    guard var prefix = keys.first?.prefix(255) else { return [] }
    for key in keys.dropFirst() {
      let count = zip(prefix, key).prefix { $0 == $1 }.count
      prefix = prefix.prefix(count)
    }
    return prefix
  }
}

extension CellColumn {
  /// The column's number for the record at `index` in its cell.
  func number(of header: RecordHeader, at index: Int) -> UInt64 {
    switch self {
    case .sequence: header.sequence &- UInt64(index)
    case .kind: UInt64(header.kind.rawValue)
    case .keyspace: header.keyspace.rawValue
    case .expiry: UInt64(bitPattern: header.expiry)
    case .keyLength: UInt64(header.keyLength)
    case .valueLength: UInt64(header.valueLength)
    }
  }
}
