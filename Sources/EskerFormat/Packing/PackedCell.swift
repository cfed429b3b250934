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
  /// Where each column starts, from the start of the cell.
  let columns: SIMD8<UInt16>
  let keysStart: Int
}

/// A cell in place.
struct PackedCell {
  let view: PackedSegmentView
  let shape: CellShape

  var start: Int { shape.start }
  var count: Int { shape.count }
  var headLength: Int { shape.headLength }
  var storedLength: Int { shape.storedLength }
  var plainLength: Int { shape.plainLength }

  /// A cell whose shape is already known.
  init(_ view: PackedSegmentView, _ shape: CellShape) {
    self.view = view
    self.shape = shape
  }

  /// The cell at `start`, which is a multiple of the cell length; nil if there is none.
  init?(_ view: PackedSegmentView, at start: Int) {
    guard start >= view.recordsStart, start <= view.end - PackedLayout.cellLength,
      view.u8(start + 15) == PackedLayout.cellMark
    else { return nil }
    let headLength = Int(view.u16(start + 8))
    let storedLength = Int(view.u16(start + 10))
    let plainLength = Int(view.u16(start + 12))
    let count = Int(view.u8(start + 14))
    guard (1...PackedLayout.cellCapacity).contains(count), headLength + storedLength <= PackedLayout.cellLength,
      storedLength <= plainLength, plainLength <= storedLength * 255
    else { return nil }
    var columns = SIMD8<UInt16>()
    var offset = PackedLayout.cellHeaderLength
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

  /// The position of a record's key and value.
  struct Place: Sendable {
    var index = 0
    /// From the start of the keys, after the common prefix.
    var key = 0
    /// From the start of the uncompressed values.
    var value = 0

    /// Advances to the next record.
    mutating func pass(_ entry: PackedEntry) {
      index += 1
      key += entry.keyRest.count
      value += entry.valueLength
    }
  }

  /// The record at an index; nil if its fields make no sense.
  ///
  /// - Complexity: O(index).
  func entry(_ index: Int) -> PackedEntry? {
    var place = Place(index: index)
    let prefixLength = keyPrefixLength
    for before in 0..<index {
      place.key += Int(truncatingIfNeeded: value(.keyLength, before) & 0x1ffff) - prefixLength
      place.value += Int(truncatingIfNeeded: value(.valueLength, before) & 0x1ffff)
    }
    return entry(at: place)
  }

  /// Like ``entry(_:)``, in constant time, for a caller coming from the preceding record.
  func entry(at place: Place) -> PackedEntry? {
    let index = place.index
    let keysStart = shape.keysStart
    let prefixLength = keyPrefixLength
    let keyStart = keysStart + prefixLength + place.key
    let valueOffset = place.value
    let keyLength = Int(truncatingIfNeeded: value(.keyLength, index) & 0x1ffff)
    let valueLength = Int(truncatingIfNeeded: value(.valueLength, index) & 0x1ffff)
    let restLength = keyLength - prefixLength
    guard let kind = UInt8(exactly: value(.kind, index)).flatMap(RecordKind.init(rawValue:)), kind != .seal,
      restLength >= 0, keyStart >= keysStart, keyStart + restLength <= headLength,
      valueOffset + valueLength <= plainLength
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
      stored: view.bytes(start + headLength..<start + headLength + storedLength),
      plainLength: plainLength,
      isCompressed: storedLength < plainLength,
      plainChecksum: view.u32(start + 4),
      valueOffset: valueOffset
    )
  }
}

extension PackedSegmentView {
  func cell(at start: Int) -> PackedCell? { PackedCell(self, at: start) }
}
