// Safety: the caller uses the run, so its bytes are there during the call.
extension LZ4Compressor {
  /// Like ``compress(_:into:)``, into the first `capacity` bytes of an array.
  mutating func compress(_ source: ByteRun, into destination: inout [UInt8], capacity: Int) -> Int? {
    precondition(capacity >= 0 && capacity <= destination.count)
    return unsafe destination.withUnsafeMutableBytes { buffer in
      unsafe compress(source.pointer, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<capacity]))
    }
  }
}
