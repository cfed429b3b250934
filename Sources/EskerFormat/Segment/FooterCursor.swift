/// Reads the entries of a footer one by one, and checks that they match the trailer.
///
/// The cursor does not keep the bytes: every step takes the same ones. Whatever they are, it ends with `nil` or an error
/// after at most as many steps as the trailer has entries.
public struct FooterCursor: Sendable {
  /// A hash and two varints.
  static let minimumEntryLength: UInt64 = 10

  /// As many entries per block as stay in the cache.
  private static let blockCount = 256

  private let footer: SegmentFooter
  private var position = 0
  private var offset: UInt64
  private let isPacked: Bool
  private var wasInCell = false
  private var sequence: UInt64
  private var remaining: UInt64
  private var neverExpiring: UInt64 = 0

  init(_ footer: SegmentFooter, _ layout: SegmentLayout) {
    self.footer = footer
    offset = UInt64(layout.recordsStart)
    isPacked = layout.isPacked
    sequence = footer.firstSequence
    remaining = footer.entryCount
  }

  /// The next entry, or `nil` after the last.
  ///
  /// - Throws: ``FormatError/damaged(reason:offset:)`` if the entries do not match the trailer.
  /// - Complexity: O(1).
  @inline(__always)
  public mutating func next(in bytes: RawSpan) throws(FormatError) -> FooterEntry? {
    guard remaining > 0 else {
      guard position == footer.streamLength, offset == footer.recordsEnd, neverExpiring == footer.neverExpiring else {
        throw .damaged(reason: "the entries do not match the trailer", offset: position)
      }
      return nil
    }
    let start = position
    let end = min(Int(footer.streamLength), bytes.byteCount)
    guard start <= end - 8 else { throw .damaged(reason: "an entry is truncated", offset: start) }
    let keyHash = bytes.u64(at: start)
    position += 8
    let word = try varint(in: bytes, end: end)
    sequence &+= try varint(in: bytes, end: end)
    let keyspace = word & 8 == 0 ? .default : try keyspace(in: bytes, end: end)
    let kind = FooterEntry.kind(code: UInt8(word & 3))
    let cellLength = UInt64(PackedLayout.cellLength)
    let isInCell = isPacked && word & 16 != 0
    // Cells follow each other without gaps; the first of them starts at the next multiple of the cell length.
    if isInCell, !wasInCell { offset = (offset + cellLength - 1) & ~(cellLength - 1) }
    let size = isPacked ? (word >> 5) << 4 : (word >> 4) << 3
    // The only fillers in a segment with a footer are marks.
    guard let kind, size >= (isPacked ? 16 : 32), kind != .filler || size == 32 && !isPacked,
      offset <= footer.recordsEnd, size <= footer.recordsEnd - offset
    else {
      throw .damaged(reason: "an entry's size or kind is impossible", offset: start)
    }
    guard sequence >= footer.firstSequence, sequence <= footer.lastSequence else {
      throw .damaged(reason: "an entry's sequence number is out of range", offset: start)
    }
    let expires = word & 4 != 0
    defer {
      offset += size
      wasInCell = isInCell
      remaining -= 1
      neverExpiring += expires ? 0 : 1
    }
    return FooterEntry(
      offset: isInCell ? offset + 8 : offset,
      size: size,
      keyHash: keyHash,
      sequence: sequence,
      keyspace: keyspace,
      kind: kind,
      expires: expires
    )
  }

  /// Reads the next entries into `block`, replacing its contents; none after the last. Saves a call per entry.
  ///
  /// - Throws: As ``next(in:)``; the contents of `block` are then meaningless.
  /// - Complexity: O(1).
  public mutating func next(into block: inout [FooterEntry], from bytes: RawSpan) throws(FormatError) {
    block.removeAll(keepingCapacity: true)
    // A copy stays in registers.
    var cursor = self
    while block.count < Self.blockCount, let entry = try cursor.next(in: bytes) { block.append(entry) }
    self = cursor
  }

  private mutating func keyspace(in bytes: RawSpan, end: Int) throws(FormatError) -> KeyspaceTag {
    let start = position
    let id = try varint(in: bytes, end: end)
    let incarnation = try varint(in: bytes, end: end)
    guard let id = UInt32(exactly: id), let incarnation = UInt32(exactly: incarnation), id | incarnation != 0 else {
      throw .damaged(reason: "an entry's keyspace is impossible", offset: start)
    }
    return KeyspaceTag(id: id, incarnation: incarnation)
  }

  @inline(__always)
  private mutating func varint(in bytes: RawSpan, end: Int) throws(FormatError) -> UInt64 {
    // Nearly all varints are one or two bytes long.
    if position < end - 1 {
      let pair = UInt64(bytes.u16(at: position))
      if pair & 0x80 == 0 {
        position += 1
        return pair & 0x7f
      }
      if pair & 0x8000 == 0 {
        position += 2
        return pair & 0x7f | (pair & 0x7f00) >> 1
      }
    }
    return try longVarint(in: bytes, end: end)
  }

  @inline(never)
  private mutating func longVarint(in bytes: RawSpan, end: Int) throws(FormatError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < end {
      let byte = bytes.u8(at: position)
      // The tenth byte has room for one bit only.
      if shift == 63, byte > 1 { break }
      position += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
    throw .damaged(reason: "a number in an entry does not end", offset: position)
  }
}
