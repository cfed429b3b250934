public import Foundation

// What the standard library does not offer for spans of bytes, at least not on every system that Esker runs on.
//
// Safety: a span keeps its bytes as long as it exists, and no pointer leaves its closure. Any bytes make a number of the
// types that are loaded, and offsets are checked against the count.

extension RawSpan {
  /// The bytes, copied.
  @inlinable
  public func copied() -> [UInt8] {
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }

  func starts(with bytes: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { unsafe $0.starts(with: bytes) }
  }

  /// Whether two spans have the same bytes.
  @inlinable
  func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    var offset = 0
    while offset &+ 8 <= byteCount {
      if unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
        != other.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      {
        return false
      }
      offset &+= 8
    }
    while offset < byteCount {
      if unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
        != other.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
      {
        return false
      }
      offset &+= 1
    }
    return true
  }

  /// The bytes as one number, if they are as many as it has.
  @inlinable
  func load<Number: BitwiseCopyable>(as type: Number.Type) throws -> Number {
    guard byteCount == MemoryLayout<Number>.size else {
      throw TransformerError.wrongLength(expected: MemoryLayout<Number>.size, found: byteCount)
    }
    return unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: Number.self)
  }

  /// Calls `body` with each byte.
  func forEachByte(_ body: (UInt8) -> Void) {
    for offset in 0..<byteCount { body(unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)) }
  }
}

extension Data {
  /// A copy of the bytes, for what takes data: `Transformer(id: "png", encode: ..., decode: { try Image(data: Data($0)) })`.
  ///
  /// - Complexity: O(n).
  @inlinable
  public init(_ bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }
}

extension String {
  /// The bytes as text; nil when they are not UTF-8.
  ///
  /// - Complexity: O(n).
  @inlinable
  public init?(validating bytes: RawSpan) {
    guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(validating: $0, as: UTF8.self) }) else { return nil }
    self = text
  }
}

extension [UInt8] {
  mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

/// Lends the bytes of a number as they lie in memory; it has no padding.
@inlinable
func lendBytes<Number: BitwiseCopyable>(of number: Number, to body: (RawSpan) -> Void) {
  unsafe withUnsafeBytes(of: number) { body(unsafe $0.bytes) }
}
