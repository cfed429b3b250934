import CZlib
import Foundation

/// Compresses a stream of bytes with gzip.
///
/// Safety: the stream stays where it was allocated, as zlib keeps its address, from `init` to `deinit`. It has pointers into
/// the piece and the buffer only during the call that lends them, with the lengths of both.
@safe
final class Gzip {
  private let stream: UnsafeMutablePointer<z_stream>
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// - Throws: When out of memory.
  init(name: String) throws(ToolError) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // 15 bits of window, and 16 for the gzip format; 8 is the usual memory.
    let code = unsafe deflateInit2_(
      stream,
      Z_DEFAULT_COMPRESSION,
      Z_DEFLATED,
      15 + 16,
      8,
      Z_DEFAULT_STRATEGY,
      ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size)
    )
    guard code == Z_OK else { throw .system(operation: "compress", path: name, errno: ENOMEM) }
  }

  deinit {
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Passes what becomes of the bytes to `write`, in pieces.
  ///
  /// - Parameter isLast: Whether the stream ends with them.
  func compress(
    _ bytes: RawSpan,
    isLast: Bool,
    _ write: (RawSpan) throws(ToolError) -> Void
  ) throws(ToolError) {
    var done = 0
    while true {
      let rest = bytes.extracting(done...)
      let available = min(rest.byteCount, 1 << 30)
      let ends = isLast && available == rest.byteCount
      let code = unsafe rest.withUnsafeBytes { input in
        unsafe buffer.withUnsafeMutableBufferPointer { output in
          // zlib does not write to it, but does not say so.
          let start = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
          unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: start)
          unsafe stream.pointee.avail_in = UInt32(available)
          unsafe stream.pointee.next_out = output.baseAddress
          unsafe stream.pointee.avail_out = UInt32(output.count)
          return unsafe deflate(stream, ends ? Z_FINISH : Z_NO_FLUSH)
        }
      }
      done += available - Int(unsafe stream.pointee.avail_in)
      let room = Int(unsafe stream.pointee.avail_out)
      if room < buffer.count {
        try buffer.lend(0..<buffer.count - room) { (piece) throws(ToolError) in try write(piece) }
      }
      if isLast ? code == Z_STREAM_END : done == bytes.byteCount && room > 0 { return }
    }
  }
}
