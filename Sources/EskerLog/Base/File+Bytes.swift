package import EskerPlatform

// Safety: an array outlives the closure that borrows it, and the calls of `File` keep no pointer. A slice of a buffer
// traps if the buffer is shorter.

extension File {
  /// The bytes of a range, or as many of them as the file has.
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

  /// All of the file.
  func allBytes() throws(PlatformError) -> [UInt8] {
    try bytes(in: 0..<status().size)
  }

  /// Maps all that there is of the file, up to `limit` bytes, in address space for `capacity` bytes if that is more.
  ///
  /// A writer in another process gives back what it has not used when it closes: the file may get shorter meanwhile.
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

  /// Writes the bytes of a range, or as many of them as the file has, over themselves; `buffer` has room for them.
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

  /// Writes zeros over a range, in pieces that begin and end at their multiples but for the first and the last.
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

  /// Writes an array.
  func writeAll(_ bytes: [UInt8], at offset: Int) throws(PlatformError) {
    try unsafe bytes.withUnsafeBytesTyped { (buffer) throws(PlatformError) in try unsafe write(buffer, at: offset) }
  }
}

/// As long as the folios that the page cache is to have: larger ones are hardly cheaper to make, and a sync of a few stores
/// through a mapping writes whole ones.
private let zeroPiece = [UInt8](repeating: 0, count: 64 << 10)

extension [UInt8] {
  /// Lends the bytes to a body with typed throws, which the standard library's function does not pass on.
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
