/// Borrowed bytes in memory: like a span, but it can be stored.
///
/// A `RawSpan` cannot be a property of a type that is itself stored: the annotations for that are still experimental.
///
/// Safety: the maker of a run keeps its bytes, unchanged, while the run is in use. Every access stays within the count.
@safe
struct ByteRun {
  private let buffer: UnsafeRawBufferPointer

  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe self.buffer = buffer
  }

  static var empty: ByteRun { unsafe ByteRun(UnsafeRawBufferPointer(start: nil, count: 0)) }

  var count: Int { unsafe buffer.count }
  var isEmpty: Bool { count == 0 }

  /// The bytes as a pointer, valid under the same condition.
  @unsafe var pointer: UnsafeRawBufferPointer { unsafe buffer }

  subscript(range: Range<Int>) -> ByteRun {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return unsafe ByteRun(UnsafeRawBufferPointer(rebasing: buffer[range]))
  }

  var isZero: Bool { unsafe buffer.allSatisfy { $0 == 0 } }

  func u32(at offset: Int) -> UInt32 { load(at: offset) }
  func u64(at offset: Int) -> UInt64 { load(at: offset) }

  private func load<I: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> I {
    guard let base = unsafe buffer.baseAddress, offset >= 0, offset <= count - MemoryLayout<I>.size else {
      preconditionFailure("outside the bytes")
    }
    return unsafe base.littleEndian(at: offset)
  }

  func isEqual(to other: ByteRun) -> Bool {
    guard count == other.count, let base = unsafe buffer.baseAddress, let other = unsafe other.buffer.baseAddress else {
      return count == other.count
    }
    return unsafe base.equals(other, count: count)
  }

  func checksum(continuing previous: UInt32 = 0) -> UInt32 {
    unsafe CRC32C.checksum(of: buffer, continuing: previous)
  }
}

// Safety: the caller uses the run, so its bytes are there during the call.
extension [UInt8] {
  init(_ run: ByteRun) {
    self = unsafe [UInt8](run.pointer)
  }

  mutating func append(contentsOf run: ByteRun) {
    unsafe append(contentsOf: run.pointer)
  }
}
