import EskerFormat

/// Puts right checksums on the records and cells of a packed segment.
enum PackedRepair {
  /// The dictionary's length according to the header.
  static func dictionaryLength(_ bytes: [UInt8]) -> Int {
    Int(bytes.number(UInt32.self, at: 80)) & 0xfff0
  }

  static func records(_ bytes: inout [UInt8]) {
    let salt = bytes.number(UInt32.self, at: 56)
    var offset = SegmentHeader.length + dictionaryLength(bytes)
    let limit = SegmentRepair.recordsLimit(bytes)
    while offset + 24 <= limit {
      if offset % 1024 == 0, bytes[offset + 15] & 0xef == 0x0f, offset + 1024 <= limit {
        seal(&bytes, cell: offset, salt)
        offset += 1024
      } else if let size = seal(&bytes, record: offset, salt) {
        offset += size
      } else {
        offset += 16
      }
    }
  }

  private static func seal(_ bytes: inout [UInt8], cell offset: Int, _ salt: UInt32) {
    let headLength = Int(bytes.number(UInt16.self, at: offset + 8))
    let storedLength = Int(bytes.number(UInt16.self, at: offset + 10))
    let plainLength = Int(bytes.number(UInt16.self, at: offset + 12))
    guard headLength >= 4, headLength + storedLength <= 1024 else { return }
    if bytes[offset + 15] == 0x1f {
      sealGroups(&bytes, cell: offset, headLength)
    } else {
      let stored = offset + headLength..<offset + headLength + storedLength
      sealValue(&bytes, stored, plainLength, at: offset + 4)
    }
    sealHead(&bytes, offset, headLength, salt)
  }

  /// The lengths of a group's values are in a column, from a base on, in numbers of at most two bytes.
  private static func sealGroups(_ bytes: inout [UInt8], cell offset: Int, _ headLength: Int) {
    let perGroup = Int(bytes.number(UInt32.self, at: offset + 4))
    let count = Int(bytes[offset + 14])
    guard (1...64).contains(perGroup), (1...64).contains(count) else { return }
    let groups = (count + perGroup - 1) / perGroup
    let widths = (0..<6).map { Int(bytes[offset + 16 + $0]) }
    let lengths = offset + 52 + 6 * groups + widths[..<5].reduce(0, +) * count
    guard widths[5] <= 2, lengths + widths[5] * count <= offset + headLength else { return }
    var begin = 0
    for group in 0..<groups {
      let place = offset + 52 + 6 * group
      let end = Int(bytes.number(UInt16.self, at: place + 4))
      guard begin <= end, headLength + end <= 1024 else { return }
      var plainLength = 0
      for index in group * perGroup..<min(count, (group + 1) * perGroup) {
        plainLength += Int(bytes.number(UInt16.self, at: offset + 50))
        if widths[5] == 1 { plainLength += Int(bytes[lengths + index]) }
        if widths[5] == 2 { plainLength += Int(bytes.number(UInt16.self, at: lengths + 2 * index)) }
      }
      sealValue(&bytes, offset + headLength + begin..<offset + headLength + end, plainLength, at: place)
      begin = end
    }
  }

  /// Returns the size of the record; nil if there can be none.
  private static func seal(_ bytes: inout [UInt8], record offset: Int, _ salt: UInt32) -> Int? {
    let flags = bytes[offset + 15] >> 4
    let lengths = bytes.number(UInt64.self, at: offset + 16)
    let kind = bytes[offset + 15] & 15
    guard kind > 0, kind <= 5 else { return nil }
    let isCompressed = flags & 8 != 0
    let storedLength = isCompressed ? Int(lengths >> 16 & 0xff_ffff) : Int(lengths >> 16)
    let headLength = 24 + 8 * (Int(flags & 1) + Int(flags >> 1 & 1)) + Int(lengths & 0xffff)
    guard headLength + storedLength <= bytes.count - offset else { return nil }
    let stored = offset + headLength..<offset + headLength + storedLength
    sealValue(&bytes, stored, isCompressed ? Int(lengths >> 40) : storedLength, at: offset + 4)
    sealHead(&bytes, offset, headLength, salt)
    return (headLength + storedLength + 15) & ~15
  }

  /// Stores a checksum at `offset`: of a value's plain bytes, which there are none of if it does not decompress.
  private static func sealValue(_ bytes: inout [UInt8], _ stored: Range<Int>, _ plainLength: Int, at offset: Int) {
    guard plainLength > stored.count else {
      bytes.store(bytes.checksum(of: stored), at: offset)
      return
    }
    guard plainLength <= 1 << 16 else { return }
    var plain = [UInt8](repeating: 0, count: plainLength)
    let dictionaryEnd = min(bytes.count, SegmentHeader.length + dictionaryLength(bytes))
    let isWhole = bytes.withUnsafeBytes { buffer in
      plain.withUnsafeMutableBytes { plain in
        LZ4.decompress(
          UnsafeRawBufferPointer(rebasing: buffer[stored]),
          into: plain,
          dictionary: UnsafeRawBufferPointer(rebasing: buffer[SegmentHeader.length..<dictionaryEnd])
        )
      }
    }
    if isWhole { bytes.store(plain.checksum(of: 0..<plainLength), at: offset) }
  }

  private static func sealHead(_ bytes: inout [UInt8], _ offset: Int, _ length: Int, _ salt: UInt32) {
    var place: [UInt8] = []
    place.append(salt)
    place.append(UInt32(offset >> 3))
    let checksum = bytes.checksum(of: offset + 4..<offset + length, continuing: place.checksum(of: 0..<8))
    bytes.store(max(1, checksum), at: offset)
  }
}
