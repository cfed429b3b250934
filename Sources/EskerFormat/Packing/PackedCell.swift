/// The columns of a cell: each holds one field of all its records. On disk: never renumber.
enum CellColumn: Int, CaseIterable {
  /// The sequence number minus the record's index.
  case sequence = 0
  case kind = 1
  case keyspace = 2
  case expiry = 3
  case keyLength = 4
  case valueLength = 5

  /// The offset of the base that is added to all numbers in the column.
  var baseOffset: Int {
    switch self {
    case .sequence: 24
    case .kind: 23
    case .keyspace: 32
    case .expiry: 40
    case .keyLength: 48
    case .valueLength: 50
    }
  }

  /// The length in bytes of the base.
  var baseLength: Int {
    switch self {
    case .kind: 1
    case .keyLength, .valueLength: 2
    case .sequence, .keyspace, .expiry: 8
    }
  }

  static let widthsOffset = 16
}

/// The positions of a cell's parts. They lie within the cell; nothing else has been checked.
struct CellShape: Sendable {
  let start: Int
  let count: Int
  let headLength: Int
  let storedLength: Int
  let plainLength: Int
  /// The records whose values are compressed together: so many, and what is left over at the end.
  let groupCount: Int
  /// Where the groups' checksums and ends are; 0 if all values are one group.
  let groupsStart: Int
  /// Where each column starts, from the start of the cell.
  let columns: SIMD8<UInt16>
  let keysStart: Int
}

/// Values in a cell that are compressed together.
struct CellGroup {
  /// From the start of the file.
  var stored: Range<Int>
  var plainLength: Int
  /// The checksum of the plain values.
  var checksum: UInt32
  /// Where its first record is in the cell.
  var first: Int
}

/// A cell in place.
struct PackedCell {
  let view: PackedSegmentView
  let shape: CellShape

  var start: Int { shape.start }
  var count: Int { shape.count }
  var headLength: Int { shape.headLength }
  var storedLength: Int { shape.storedLength }
  var groupCount: Int { shape.groupCount }
  var groupsStart: Int { shape.groupsStart }
  var columnsStart: Int { Int(shape.columns[0]) }
  var plainLength: Int { shape.plainLength }

  /// A cell whose shape is already known.
  init(_ view: PackedSegmentView, _ shape: CellShape) {
    self.view = view
    self.shape = shape
  }

  /// The cell at `start`, which is a multiple of the cell length; nil if there is none.
  init?(_ view: PackedSegmentView, at start: Int) {
    guard start >= view.recordsStart, start <= view.end - PackedLayout.cellLength else { return nil }
    let mark = view.u8(start + 15)
    guard mark == PackedLayout.cellMark || mark == PackedLayout.wholeCellMark else { return nil }
    let headLength = Int(view.u16(start + 8))
    let storedLength = Int(view.u16(start + 10))
    let plainLength = Int(view.u16(start + 12))
    let count = Int(view.u8(start + 14))
    guard (1...PackedLayout.cellCapacity).contains(count), headLength + storedLength <= PackedLayout.cellLength,
      storedLength <= plainLength, plainLength <= storedLength * 255
    else { return nil }
    let isWhole = mark == PackedLayout.wholeCellMark
    let groupCount = isWhole ? PackedLayout.cellCapacity : Int(view.u32(start + 4))
    guard (1...PackedLayout.cellCapacity).contains(groupCount) else { return nil }
    var columns = SIMD8<UInt16>()
    var offset = PackedLayout.cellHeaderLength
    if !isWhole { offset += (count + groupCount - 1) / groupCount * PackedLayout.groupHeaderLength }
    for column in CellColumn.allCases {
      let width = Int(view.u8(start + CellColumn.widthsOffset + column.rawValue))
      guard width == 0 || width <= column.baseLength && width & (width - 1) == 0 else { return nil }
      columns[column.rawValue] = UInt16(offset)
      offset += width * count
      guard offset <= headLength else { return nil }
    }
    guard offset + Int(view.u8(start + 22)) <= headLength else { return nil }
    self.view = view
    shape = CellShape(
      start: start,
      count: count,
      headLength: headLength,
      storedLength: storedLength,
      plainLength: plainLength,
      groupCount: groupCount,
      groupsStart: isWhole ? 0 : PackedLayout.cellHeaderLength,
      columns: columns,
      keysStart: offset
    )
  }

  var keyPrefixLength: Int { Int(view.u8(start + 22)) }

  private func value(_ column: CellColumn, _ index: Int) -> UInt64 {
    let baseOffset = start + column.baseOffset
    let base: UInt64 =
      switch column.baseLength {
      case 1: UInt64(view.u8(baseOffset))
      case 2: UInt64(view.u16(baseOffset))
      default: view.u64(baseOffset)
      }
    let offset = start + Int(shape.columns[column.rawValue])
    return switch view.u8(start + CellColumn.widthsOffset + column.rawValue) {
    case 0: base
    case 1: base &+ UInt64(view.u8(offset + index))
    case 2: base &+ UInt64(view.u16(offset + 2 * index))
    case 4: base &+ UInt64(view.u32(offset + 4 * index))
    default: base &+ view.u64(offset + 8 * index)
    }
  }

  /// The sum of a column of lengths over some records. A number has at most seventeen bits, as both of its parts have sixteen.
  private func sum(_ column: CellColumn, _ records: Range<Int>) -> Int {
    let base = Int(view.u16(start + column.baseOffset))
    let offset = start + Int(shape.columns[column.rawValue])
    var sum = base * records.count
    switch view.u8(start + CellColumn.widthsOffset + column.rawValue) {
    case 0: break
    case 1: for index in records { sum &+= Int(view.u8(offset &+ index)) }
    default: for index in records { sum &+= Int(view.u16(offset &+ 2 &* index)) }
    }
    return sum
  }

  /// The values that are compressed together with that of a record; nil if its fields make no sense.
  private func group(of index: Int) -> CellGroup? {
    let number = index / shape.groupCount
    let first = number * shape.groupCount
    var stored = 0..<storedLength
    var checksumOffset = start + 4
    if shape.groupsStart > 0 {
      checksumOffset = start + shape.groupsStart + PackedLayout.groupHeaderLength * number
      let begin = number == 0 ? 0 : Int(view.u16(checksumOffset - 2))
      let end = Int(view.u16(checksumOffset + 4))
      guard begin <= end, end <= storedLength else { return nil }
      stored = begin..<end
    }
    let plainLength = sum(.valueLength, first..<min(first + shape.groupCount, count))
    guard stored.count <= plainLength, plainLength <= stored.count * 255 else { return nil }
    let valuesStart = start + headLength
    return CellGroup(
      stored: valuesStart + stored.lowerBound..<valuesStart + stored.upperBound,
      plainLength: plainLength,
      checksum: view.u32(checksumOffset),
      first: first
    )
  }

  /// The position of a record's key.
  struct Place: Sendable {
    var index = 0
    /// From the start of the keys, after the common prefix.
    var key = 0

    /// Advances to the next record.
    mutating func pass(_ entry: PackedEntry) {
      index += 1
      key += entry.keyRest.count
    }
  }

  /// The record at an index; nil if its fields make no sense.
  ///
  /// - Complexity: O(index), a fraction of a nanosecond for each record.
  func entry(_ index: Int) -> PackedEntry? {
    entry(at: Place(index: index, key: sum(.keyLength, 0..<index) - keyPrefixLength * index))
  }

  /// Like ``entry(_:)``, for a caller coming from the preceding record.
  ///
  /// - Complexity: O(records in a group).
  func entry(at place: Place) -> PackedEntry? {
    let index = place.index
    guard let group = group(of: index) else { return nil }
    let keysStart = shape.keysStart
    let prefixLength = keyPrefixLength
    let keyStart = keysStart + prefixLength + place.key
    let valueOffset = sum(.valueLength, group.first..<index)
    let keyLength = sum(.keyLength, index..<index + 1)
    let valueLength = sum(.valueLength, index..<index + 1)
    let restLength = keyLength - prefixLength
    guard let kind = UInt8(exactly: value(.kind, index)).flatMap(RecordKind.init(rawValue:)), kind != .seal,
      restLength >= 0, keyStart >= keysStart, keyStart + restLength <= headLength
    else { return nil }
    let header = RecordHeader(
      sequence: value(.sequence, index) &+ UInt64(index),
      kind: kind,
      keyHash: 0,
      keyLength: keyLength,
      valueLength: valueLength,
      expiry: Int64(bitPattern: value(.expiry, index)),
      keyspace: KeyspaceTag(rawValue: value(.keyspace, index))
    )
    guard header.isWellFormed else { return nil }
    return PackedEntry(
      sequence: header.sequence,
      kind: kind,
      expiry: header.expiry,
      keyspace: header.keyspace,
      offset: start + PackedLayout.place(index, of: count),
      size: PackedLayout.share(index + 1, of: count) - PackedLayout.share(index, of: count),
      valueLength: valueLength,
      keyPrefix: view.bytes(start + keysStart..<start + keysStart + prefixLength),
      keyRest: view.bytes(start + keyStart..<start + keyStart + restLength),
      head: view.bytes(start + 4..<start + headLength),
      headChecksum: view.u32(start),
      headOffset: start,
      stored: view.bytes(group.stored),
      plainLength: group.plainLength,
      isCompressed: group.stored.count < group.plainLength,
      plainChecksum: group.checksum,
      valueOffset: valueOffset,
      groupID: start + group.first
    )
  }
}

extension PackedSegmentView {
  func cell(at start: Int) -> PackedCell? { PackedCell(self, at: start) }
}
