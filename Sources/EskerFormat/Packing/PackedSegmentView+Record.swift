extension PackedSegmentView {
  /// The record outside any cell at `offset`; nil if the bytes there make no sense.
  func record(at offset: Int) -> PackedEntry? {
    let room = end - offset
    guard offset % PackedLayout.alignment == 0, room >= PackedLayout.recordHeaderLength else { return nil }
    let word = u64(offset + 8)
    let lengths = u64(offset + 16)
    let flags = RecordFlags(rawValue: UInt8(truncatingIfNeeded: word >> 60))
    guard let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: word >> 56) & 15), kind != .seal,
      !flags.contains(.batchContinues)
    else { return nil }
    let isCompressed = flags.contains(.compressed)
    let keyLength = Int(lengths & 0xffff)
    let storedLength = isCompressed ? Int((lengths >> 16) & 0xff_ffff) : Int(lengths >> 16)
    let valueLength = isCompressed ? Int(lengths >> 40) : storedLength
    guard storedLength <= RecordLayout.maximumValueLength else { return nil }
    // A compressed byte expands to at most 255: a record that claims more is damaged, and must not cause an allocation.
    if isCompressed, valueLength == 0 || valueLength > storedLength * 255 { return nil }
    let keyStart = PackedLayout.recordHeaderLength + 8 * flags.extensionWords
    let storedStart = keyStart + keyLength
    let size = PackedLayout.roundedUp(storedStart + storedLength)
    guard size <= room else { return nil }
    var expiry = Int64.max
    var keyspace = KeyspaceTag.default
    var position = offset + PackedLayout.recordHeaderLength
    if flags.contains(.expires) {
      expiry = Int64(bitPattern: u64(position))
      position += 8
    }
    if flags.contains(.keyspace) { keyspace = KeyspaceTag(rawValue: u64(position)) }
    let header = RecordHeader(
      sequence: word & (1 << 56 - 1),
      kind: kind,
      keyHash: 0,
      keyLength: keyLength,
      valueLength: valueLength,
      expiry: expiry,
      keyspace: keyspace
    )
    guard header.isWellFormed, header.flags == flags.subtracting(.compressed) else { return nil }
    return PackedEntry(
      sequence: header.sequence,
      kind: kind,
      expiry: expiry,
      keyspace: keyspace,
      offset: offset,
      size: size,
      valueLength: valueLength,
      keyPrefix: .empty,
      keyRest: bytes(offset + keyStart..<offset + storedStart),
      head: bytes(offset + 4..<offset + storedStart),
      headChecksum: u32(offset),
      headOffset: offset,
      stored: bytes(offset + storedStart..<offset + storedStart + storedLength),
      plainLength: valueLength,
      isCompressed: isCompressed,
      plainChecksum: u32(offset + 4),
      valueOffset: 0,
      groupID: offset
    )
  }
}
