/// Accumulates the bytes of footer entries.
///
/// Safety: before an entry is stored there is room for the longest one: a hash of 8 bytes, two varints of 64 bits with at
/// most 10 bytes each, and two of 32 bits with 5. The pointer is not used outside the closure. Single stores are not checked
/// again, because every put makes an entry.
struct EntryStream: Sendable {
  /// The longest entry in bytes: a hash and four varints, rounded up.
  private static let maximumEntryLength = 40

  private var storage: [UInt8] = []
  /// The number of bytes in use; the rest of the storage is zero.
  private(set) var count = 0

  var bytes: ArraySlice<UInt8> { storage[..<count] }

  /// Reserves memory for entries with a hash, a short size and the next sequence number.
  mutating func reserve(_ entries: Int) {
    storage.append(contentsOf: repeatElement(0, count: max(0, entries * 11 + Self.maximumEntryLength - storage.count)))
  }

  /// Adds an entry; its sequence number is stored as the difference from `previous`.
  mutating func append(_ entry: FooterEntry, after previous: UInt64, isPacked: Bool) {
    if storage.count - count < Self.maximumEntryLength {
      storage.append(contentsOf: repeatElement(0, count: storage.count + 2 * Self.maximumEntryLength))
    }
    let hasKeyspace = entry.keyspace != .default
    let flags = UInt64(entry.kindCode) | (entry.expires ? 4 : 0) | (hasKeyspace ? 8 : 0)
    // In a packed segment sizes are multiples of sixteen: the lowest bit is free to mark an address in a cell.
    let units = entry.size / 8 | (isPacked && PackedLayout.isInCell(Int(entry.offset)) ? 1 : 0)
    var position = count
    unsafe storage.withUnsafeMutableBytes { buffer in
      unsafe buffer.storeBytes(of: entry.keyHash.littleEndian, toByteOffset: position, as: UInt64.self)
      position += 8
      unsafe Self.store(units << 4 | flags, at: &position, in: buffer)
      // A record older than the one before it costs ten bytes; merges meet few of those.
      unsafe Self.store(entry.sequence &- previous, at: &position, in: buffer)
      if hasKeyspace {
        unsafe Self.store(UInt64(entry.keyspace.id), at: &position, in: buffer)
        unsafe Self.store(UInt64(entry.keyspace.incarnation), at: &position, in: buffer)
      }
    }
    count = position
  }

  /// LEB128: seven bits per byte, lowest first; the high bit means that more follow.
  @inline(__always)
  private static func store(_ varint: UInt64, at position: inout Int, in buffer: UnsafeMutableRawBufferPointer) {
    var rest = varint
    while rest >= 0x80 {
      unsafe buffer[position] = UInt8(truncatingIfNeeded: rest) | 0x80
      position += 1
      rest >>= 7
    }
    unsafe buffer[position] = UInt8(truncatingIfNeeded: rest)
    position += 1
  }
}
