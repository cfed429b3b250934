import EskerFormat
import Foundation

// Operations on spans and arrays of bytes.
//
// Safety: a span keeps its bytes as long as it exists, an array while a closure borrows it, and no pointer leaves its
// closure. Offsets are checked against the count.

extension [UInt8] {
  init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { unsafe [UInt8]($0) }
  }

  init(copying span: RawSpan) {
    self = []
    append(contentsOf: span)
  }

  mutating func append(contentsOf span: Span<UInt8>) {
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  mutating func append(contentsOf span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  func lend<R, E: Error>(_ range: Range<Int>, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBufferPointer { (buffer) throws(E) in
      try body(unsafe UnsafeRawBufferPointer(buffer).bytes.extracting(range))
    }
  }

  /// The checksum of the bytes in a range, continuing from that of the bytes before them.
  func checksum(of range: Range<Int>, continuing previous: UInt32 = 0) -> UInt32 {
    lend(range) { CRC32C.checksum(of: $0, continuing: previous) }
  }

  /// The index of the first `byte` in a range.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return unsafe withUnsafeBytes { bytes in
      guard !range.isEmpty, let base = bytes.baseAddress,
        let hit = unsafe memchr(base + range.lowerBound, Int32(byte), range.count)
      else { return nil }
      return unsafe UnsafeRawPointer(hit) - base
    }
  }

  /// Moves the bytes in a range to the front; the bytes after their new place are unchanged.
  mutating func moveToFront(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    unsafe withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      _ = unsafe memmove(base, base + range.lowerBound, range.count)
    }
  }
}

extension Span<UInt8> {
  /// The eight bytes at an offset as a little-endian number.
  func word(at offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  var data: Data { unsafe withUnsafeBufferPointer { unsafe Data($0) } }

  /// The bytes as text; they must be valid UTF-8.
  var text: String { unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) } }
}

extension RawSpan {
  /// Calls `body` with the bytes as a typed span.
  func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
    unsafe withUnsafeBytes { unsafe body($0.assumingMemoryBound(to: UInt8.self).span) }
  }
}
