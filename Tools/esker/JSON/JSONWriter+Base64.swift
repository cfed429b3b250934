extension JSONWriter {
  /// A string of bytes of any kind, in base 64 (RFC 4648, padded).
  mutating func value(base64 bytes: Span<UInt8>) {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var position = 0
    while position < bytes.count {
      let count = min(3, bytes.count - position)
      var group: UInt32 = 0
      for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[position + index]) : 0) }
      for digit in 0..<4 {
        text.append(digit <= count ? alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)] : UInt8(ascii: "="))
      }
      position += count
    }
    value(utf8: text.span)
  }
}
