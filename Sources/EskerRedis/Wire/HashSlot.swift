#if Redis
  /// The slot of a key: CRC-16 (XMODEM) of the key, or of what is between its first `{` and the `}` after it, of 16,384.
  enum HashSlot {
    static let count = 16_384

    /// A CRC that has passed over no byte is 0.
    static func crc(_ bytes: RawSpan, from crc: UInt16 = 0) -> UInt16 { update(crc, bytes, 0..<bytes.byteCount) }

    static func crc(_ bytes: some Sequence<UInt8>, from crc: UInt16 = 0) -> UInt16 {
      var crc = crc
      for byte in bytes { step(&crc, byte) }
      return crc
    }

    /// The slot of a key behind a prefix that has no braces and whose CRC is `prefix`.
    static func slot(_ key: RawSpan, behind prefix: UInt16 = 0) -> UInt16 {
      if let tag = tag(key) { return update(0, key, tag) % UInt16(count) }
      return crc(key, from: prefix) % UInt16(count)
    }

    /// A short word that is in the slot, to be put between braces.
    static func word(in slot: UInt16) -> String {
      var number = 0
      while true {
        let word = String(number, radix: 36)
        if crc(word.utf8) % UInt16(count) == slot { return word }
        number += 1
      }
    }

    /// Where the part is that counts, unless it is the whole key.
    private static func tag(_ key: RawSpan) -> Range<Int>? {
      let bytes = key.byteCount
      var start = 0
      while start < bytes, byte(key, start) != UInt8(ascii: "{") { start += 1 }
      guard start < bytes else { return nil }
      var end = start + 1
      while end < bytes, byte(key, end) != UInt8(ascii: "}") { end += 1 }
      return end < bytes && end > start + 1 ? (start + 1)..<end : nil
    }

    private static func update(_ crc: UInt16, _ bytes: RawSpan, _ range: Range<Int>) -> UInt16 {
      var crc = crc
      for index in range { step(&crc, byte(bytes, index)) }
      return crc
    }

    /// Whether a key begins with some bytes.
    static func begins(_ key: RawSpan, with bytes: [UInt8]) -> Bool {
      guard key.byteCount >= bytes.count else { return false }
      return bytes.indices.allSatisfy { byte(key, $0) == bytes[$0] }
    }

    /// Safety: the span checks the offset, and any byte makes a number.
    private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
      unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    private static func step(_ crc: inout UInt16, _ byte: UInt8) {
      crc = crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 8) ^ byte)]
    }

    private static let table: [UInt16] = (0..<256).map { index in
      var crc = UInt16(index) << 8
      for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
      return crc
    }
  }
#endif
