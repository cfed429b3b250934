// Safety: memory is made by malloc, so that the caller can free it; what is copied into it was counted before.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Memory for a result, which the caller frees; not null for no bytes.
func allocate(_ count: Int) throws -> UnsafeMutableRawPointer {
  guard let memory = unsafe malloc(max(count, 1)) else { throw CallFailure.noMemory }
  return unsafe memory
}

/// Gives back memory for a result that the caller does not get.
func giveBack(_ memory: UnsafeMutableRawPointer?) {
  unsafe free(memory)
}

extension UnsafeMutableRawPointer {
  /// Copies bytes here, of which there is room for all.
  func copyBytes(of bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { unsafe copyMemory(from: start, byteCount: bytes.count) }
    }
  }
}

/// Bytes one behind the other in memory that malloc has made, which grows. It moves as it grows: places are offsets.
///
/// Safety: it is freed with its only owner, or handed to the caller, and is as long as `capacity` says.
@safe
struct GrowingBytes: ~Copyable {
  private(set) var start: UnsafeMutableRawPointer?
  private(set) var count = 0
  private var capacity = 0

  init() {
    unsafe start = nil
  }

  deinit { unsafe free(start) }

  /// Forgets the bytes, and keeps the memory.
  mutating func removeAll() { count = 0 }

  /// Adds bytes, and returns where they are; nil without memory for them.
  mutating func append(_ bytes: RawSpan) -> Int? {
    let place = count
    let needed = place + bytes.byteCount
    let isEmpty = unsafe start == nil
    if needed > capacity || isEmpty {
      let larger = max(needed, capacity * 2, 512)
      guard let moved = unsafe realloc(start, larger) else { return nil }
      unsafe start = unsafe moved
      capacity = larger
    }
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = unsafe start, let source = bytes.baseAddress else { return }
      unsafe (start + place).copyMemory(from: source, byteCount: bytes.count)
    }
    count = needed
    return place
  }

  /// The bytes, which the caller frees from now on.
  mutating func handOver() -> UnsafeMutableRawPointer? {
    let memory = unsafe start
    unsafe start = nil
    count = 0
    capacity = 0
    return unsafe memory
  }
}
