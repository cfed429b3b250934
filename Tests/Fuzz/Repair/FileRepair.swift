import EskerFormat

/// Puts right checksums on the other files of a store, and on streams.
enum FileRepair {
  static func manifest(_ bytes: inout [UInt8]) {
    guard bytes.count >= 40 else { return }
    let room = UInt64(bytes.count - 40)
    if bytes.number(UInt64.self, at: 24) > room { bytes.store(room, at: 24) }
    let end = 40 + Int(bytes.number(UInt64.self, at: 24))
    bytes.store(bytes.checksum(of: 40..<end), at: 32)
    bytes.store(bytes.checksum(of: 0..<36), at: 36)
    // The history is behind the payload, which has its length.
    guard end >= 144, case let length = Int(bytes.number(UInt32.self, at: 140)), length >= 4,
      length <= bytes.count - end
    else { return }
    bytes.store(bytes.checksum(of: end..<end + length - 4), at: end + length - 4)
  }

  /// The pages, their table, the rest, and the header over all of these.
  static func checkpoint(_ bytes: inout [UInt8]) {
    guard bytes.count >= 4096 else { return }
    func place(_ offset: Int) -> Int { Int(min(bytes.number(UInt64.self, at: offset), UInt64(bytes.count))) }
    let (main, overflow, table, meta) = (place(120), place(128), place(136), place(144))
    func pages(_ count: Int) -> Int { (place(count) * 64 + 4095) / 4096 }
    var sums: [UInt8] = []
    for (start, count) in [(main, pages(64)), (overflow, pages(72))] {
      for page in 0..<count where start + (page + 1) * 4096 <= bytes.count {
        sums.append(bytes.checksum(of: start + page * 4096..<start + (page + 1) * 4096))
      }
    }
    if table + sums.count <= bytes.count {
      bytes.replaceSubrange(table..<table + sums.count, with: sums)
      bytes.store(bytes.checksum(of: table..<table + sums.count), at: 116)
    }
    let metaEnd = min(bytes.count, meta + place(104))
    let checksum = bytes.checksum(of: meta..<metaEnd)
    bytes.store(checksum, at: 112)
    bytes.store(bytes.checksum(of: 0..<4092), at: 4092)
    let rows = try? CheckpointMeta(
      decoding: Array(bytes[meta..<metaEnd]).span.bytes,
      checksum: checksum,
      hasOrders: bytes[12] & 1 != 0
    )
    for row in rows?.orders ?? [] where row.isWithin(UInt64(bytes.count)) { orderedKeys(row, in: &bytes) }
  }

  /// The pages of keys in order, one behind the other.
  private static func orderedKeys(_ row: CheckpointMeta.Order, in bytes: inout [UInt8]) {
    let (start, length) = (Int(row.offset), Int(row.byteCount))
    var place = 0
    while place < length {
      let capacity = Int(bytes.number(UInt32.self, at: start + place))
      guard capacity >= 4096, capacity <= length - place else { break }
      let page = Array(bytes[start + place..<start + place + capacity])
      let front = CRC32C.checksum(of: Array(page[..<32]).span.bytes, continuing: UInt32(place / 4096))
      bytes.store(CRC32C.checksum(of: Array(page[36...]).span.bytes, continuing: front), at: start + place + 32)
      place += (capacity + 4095) / 4096 * 4096
    }
  }

  /// A structure that ends with the checksum of all before it.
  static func ending(at length: Int) -> @Sendable (inout [UInt8]) -> Void {
    { bytes in
      guard bytes.count >= length else { return }
      bytes.store(bytes.checksum(of: 0..<length - 4), at: length - 4)
    }
  }

  /// An export stream: each frame goes on with the checksum of the one before it.
  static func stream(_ bytes: inout [UInt8]) {
    guard bytes.count >= ExportHeader.length else { return }
    bytes.store(bytes.checksum(of: 0..<60), at: 60)
    var chain = bytes.number(UInt32.self, at: 60)
    var offset = ExportHeader.length
    while offset + ExportFrame.length <= bytes.count {
      chain = bytes.checksum(of: offset + 4..<offset + ExportFrame.length, continuing: chain)
      bytes.store(chain, at: offset)
      let isEnd = bytes[offset + 4] == ExportFrameKind.end.rawValue
      let start = offset + ExportFrame.length
      let end = start + Int(bytes.number(UInt16.self, at: offset + 6)) + Int(bytes.number(UInt32.self, at: offset + 8))
      guard !isEnd, end + ExportFrame.trailerLength <= bytes.count else { return }
      bytes.store(bytes.checksum(of: start..<end), at: end)
      offset = end + ExportFrame.trailerLength
    }
  }
}
