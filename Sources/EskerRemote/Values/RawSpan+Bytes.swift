// Numbers whose bytes are compared by servers: most significant first.
//
// Safety: offsets are checked against the count, and any byte makes a number.

extension RawSpan {
  /// The number of `count` bytes at `offset`.
  func bigEndian(at offset: Int, count: Int) -> UInt64 {
    precondition(offset >= 0 && count >= 0 && offset <= byteCount - count)
    var number: UInt64 = 0
    for index in offset..<offset + count {
      number = number << 8 | UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self))
    }
    return number
  }
}

extension [UInt8] {
  /// Appends the lowest `count` bytes of a number.
  mutating func appendBigEndian(_ number: UInt64, count: Int) {
    for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> UInt64(index * 8))) }
  }

  /// The bytes of a span.
  init(copying bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }

  /// Appends all bytes of a span.
  mutating func append(contentsOf bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// Whether these are the bytes of a span.
  @usableFromInline
  func hasBytes(_ other: RawSpan) -> Bool {
    guard count == other.byteCount else { return false }
    return unsafe other.withUnsafeBytes { other in unsafe elementsEqual(other) }
  }
}
