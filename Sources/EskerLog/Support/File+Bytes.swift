package import EskerPlatform

// Safety: an array outlives the closure that borrows it, and the calls of `File` keep no pointer. A slice of a buffer
// traps if the buffer is shorter.

extension File {
  /// The bytes of a range, fewer if the file ends before its end.
  package func bytes(in range: Range<Int>) throws(PlatformError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let result = unsafe bytes.withUnsafeMutableBytes { buffer -> Result<Int, PlatformError> in
      do throws(PlatformError) {
        return .success(try unsafe read(into: buffer, at: range.lowerBound))
      } catch {
        return .failure(error)
      }
    }
    bytes.removeSubrange(try result.get()...)
    return bytes
  }

  func allBytes() throws(PlatformError) -> [UInt8] {
    try bytes(in: 0..<status().size)
  }

  /// Maps the whole file, or its first `limit` bytes, reserving address space for `capacity` bytes if that is more.
  ///
  /// A writer in another process truncates the file to what it has used when it closes, so the file may shrink meanwhile.
  package func mapWhole(
    upTo limit: Int = .max,
    capacity: Int = 0,
    writable: Bool = false
  ) throws(PlatformError) -> any Mapping {
    var length = min(try status().size, limit)
    let mapping = try map(capacity: max(capacity, length, 4096), writable: writable)
    while length > 0 {
      do throws(PlatformError) {
        try mapping.extend(to: length)
        break
      } catch {
        let rest = min(try status().size, limit)
        guard rest < length else { throw error }
        length = rest
      }
    }
    return mapping
  }

  /// Rewrites the bytes of a range in place, as many as the file has; `buffer` must hold at least as many bytes.
  func writeAgain(_ range: Range<Int>, through buffer: inout [UInt8]) throws(PlatformError) {
    let result = unsafe buffer.withUnsafeMutableBytes { buffer -> Result<Void, PlatformError> in
      do throws(PlatformError) {
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count])
        let count = try unsafe read(into: target, at: range.lowerBound)
        return .success(try unsafe write(UnsafeRawBufferPointer(rebasing: target[..<count]), at: range.lowerBound))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Writes zeros over a range, in pieces aligned to their size except for the first and the last.
  func writeZeros(_ range: Range<Int>) throws(PlatformError) {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(range.upperBound, (start / zeroPiece.count + 1) * zeroPiece.count)
      try unsafe zeroPiece.withUnsafeBytesTyped { (piece) throws(PlatformError) in
        try unsafe write(UnsafeRawBufferPointer(rebasing: piece[..<(end - start)]), at: start)
      }
      start = end
    }
  }

  func writeAll(_ bytes: [UInt8], at offset: Int) throws(PlatformError) {
    try unsafe bytes.withUnsafeBytesTyped { (buffer) throws(PlatformError) in try unsafe write(buffer, at: offset) }
  }
}

/// Sets the size of the page cache's folios: larger ones are hardly cheaper to create, and a sync after a few stores
/// through a mapping writes whole folios.
private let zeroPiece = [UInt8](repeating: 0, count: 64 << 10)

extension [UInt8] {
  /// Lends the bytes to a body with typed throws, which the standard library's function does not preserve.
  func withUnsafeBytesTyped<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = unsafe withUnsafeBytes { buffer -> Result<R, E> in
      do throws(E) {
        return .success(try unsafe body(buffer))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
